/*
  What a policy is fed: the values of a state as numbers.

  An input is the value of a variable (a Boolean as 0 and 1), a constant, or 1 where variables have
  certain values and else 0 (one-hot), less a mean and divided by a scale. For variables with few
  values the quotients stand in a table.
*/
#pragma once

#include <utility>
#include <vector>

#include "task/layout.h"

namespace surefoot {

struct InputSpec {
    std::int64_t variable = -1;  // -1: a constant, or one-hot
    double constant = 0;
    double mean = 0;
    double scale = 1;
    // One-hot, unless empty: variables, which are not reals, and the value that each must have.
    std::vector<std::pair<std::uint32_t, std::int64_t>> one_hot = {};
};

class Inputs {
public:
    // Throws std::invalid_argument if a variable is not there, or a one-hot one is a real.
    Inputs(const Layout& layout, const std::vector<InputSpec>& specs);

    std::size_t size() const { return inputs_.size(); }

    // Write one number per input.
    template <typename Number>
    void read(const Word* state, Number* numbers) const {
        for (const Input& input : inputs_) *numbers++ = static_cast<Number>(value(input, state));
    }

private:
    struct Hot {
        Field field;
        std::uint64_t stored;
    };

    struct Input {
        Field field;
        Type type;
        bool is_constant;
        double constant;  // scaled
        double mean;
        double scale;
        std::vector<double> table;  // by what is stored; empty if there are many values
        std::vector<Hot> one_hot;   // then the table has what is fed for 0 and for 1
    };

    static double value(const Input& input, const Word* state) {
        if (input.is_constant) return input.constant;
        if (!input.one_hot.empty()) return input.table[is_hot(input, state) ? 1 : 0];
        const std::uint64_t stored = input.field.stored(state);
        return input.table.empty() ? scaled(input, stored) : input.table[stored];
    }

    static bool is_hot(const Input& input, const Word* state) {
        for (const Hot& hot : input.one_hot) {
            if (hot.field.stored(state) != hot.stored) return false;
        }
        return true;
    }

    static double scaled(const Input& input, std::uint64_t stored) {
        const double plain = input.type == Type::real
                                 ? std::bit_cast<double>(stored)
                                 : static_cast<double>(static_cast<std::int64_t>(
                                       stored + static_cast<std::uint64_t>(input.field.lower)));
        return (plain - input.mean) / input.scale;
    }

    void add_one_hot(const Layout& layout, const InputSpec& from);

    std::vector<Input> inputs_;
};

}  // namespace surefoot
