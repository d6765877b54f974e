/*
  What a policy is fed, as a function of keys: the same numbers that Inputs computes.
*/
#pragma once

#include "policy/inputs.h"
#include "verify/box.h"

namespace surefoot {

class BoxInputs {
public:
    BoxInputs(const Layout& layout, const std::vector<InputSpec>& specs) : specs_(specs) {
        for (const InputSpec& spec : specs) {
            const auto v = static_cast<std::size_t>(std::max<std::int64_t>(spec.variable, 0));
            types_.push_back(spec.variable < 0 ? Type::real : layout.variable(v).type);
            const bool is_real = types_.back() == Type::real;
            const VariableSpec bounds = spec.variable < 0 ? VariableSpec{} : layout.variable(v);
            const bool is_boolean = types_.back() == Type::boolean;
            lo_.push_back(is_real ? key_of_real(bounds.real_lower) : is_boolean ? 0 : bounds.lower);
            hi_.push_back(is_real ? key_of_real(bounds.real_upper) : is_boolean ? 1 : bounds.upper);
        }
    }

    std::size_t size() const { return specs_.size(); }
    bool is_constant(std::size_t input) const { return specs_[input].variable < 0; }
    std::uint32_t variable(std::size_t input) const {
        return static_cast<std::uint32_t>(specs_[input].variable);
    }
    bool is_falling(std::size_t input) const { return specs_[input].scale < 0; }
    Key lo(std::size_t input) const { return lo_[input]; }
    Key hi(std::size_t input) const { return hi_[input]; }

    double value(std::size_t input, Key key) const {
        const InputSpec& spec = specs_[input];
        if (spec.variable < 0) return (spec.constant - spec.mean) / spec.scale;
        const double plain =
            types_[input] == Type::real ? real_of_key(key) : static_cast<double>(key);
        return (plain - spec.mean) / spec.scale;
    }

    // The bounds of an input over a box.
    void range(std::size_t input, const Box& box, double& lo, double& hi) const {
        if (is_constant(input)) {
            lo = hi = value(input, 0);
            return;
        }
        lo = value(input, box.lo[variable(input)]);
        hi = value(input, box.hi[variable(input)]);
        if (is_falling(input)) std::swap(lo, hi);
    }

private:
    std::vector<InputSpec> specs_;
    std::vector<Type> types_;
    std::vector<Key> lo_;
    std::vector<Key> hi_;
};

}  // namespace surefoot
