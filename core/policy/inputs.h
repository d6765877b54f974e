/*
  What a policy is fed: the values of a state as numbers.

  An input is the value of a variable (a Boolean as 0 and 1) or a constant, less a mean and divided
  by a scale. For variables with few values the quotients stand in a table.
*/
#pragma once

#include "task/layout.h"

namespace surefoot {

struct InputSpec {
    std::int64_t variable = -1;  // -1: a constant
    double constant = 0;
    double mean = 0;
    double scale = 1;
};

class Inputs {
public:
    // Throws std::invalid_argument if a variable is not there.
    Inputs(const Layout& layout, const std::vector<InputSpec>& specs);

    std::size_t size() const { return inputs_.size(); }

    // Write one number per input.
    template <typename Number>
    void read(const Word* state, Number* numbers) const {
        for (const Input& input : inputs_) *numbers++ = static_cast<Number>(value(input, state));
    }

private:
    struct Input {
        Field field;
        Type type;
        bool is_constant;
        double constant;  // scaled
        double mean;
        double scale;
        std::vector<double> table;  // by what is stored; empty if there are many values
    };

    static double value(const Input& input, const Word* state) {
        if (input.is_constant) return input.constant;
        const std::uint64_t stored = input.field.stored(state);
        return input.table.empty() ? scaled(input, stored) : input.table[stored];
    }

    static double scaled(const Input& input, std::uint64_t stored) {
        const double plain = input.type == Type::real
                                 ? std::bit_cast<double>(stored)
                                 : static_cast<double>(static_cast<std::int64_t>(
                                       stored + static_cast<std::uint64_t>(input.field.lower)));
        return (plain - input.mean) / input.scale;
    }

    std::vector<Input> inputs_;
};

}  // namespace surefoot
