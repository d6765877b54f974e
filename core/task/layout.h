/*
  How a state is packed.

  Layout gives every state variable a Field: some bits of one word. Integers are stored as the
  distance from their lower bound, Booleans as one bit, reals as the 64 bits of the double (never
  -0.0). No field crosses a word. Variables beyond the state (scratch: transient variables) have no
  bits; while a step is computed they live in an array beside the state.
*/
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace surefoot {

enum class Type : std::uint8_t { boolean, integer, real };

struct VariableSpec {
    Type type = Type::integer;
    std::int64_t lower = 0;  // integers
    std::int64_t upper = 0;
    double real_lower = 0;  // reals
    double real_upper = 0;
    bool is_scratch = false;
};

struct Field {
    std::uint32_t word = 0;
    std::uint32_t shift = 0;
    std::uint32_t bits = 0;
    Word mask = 0;           // not shifted
    std::int64_t lower = 0;  // what a stored 0 means
    std::uint64_t span = 0;  // the largest stored value

    std::uint64_t stored(const Word* state) const { return (state[word] >> shift) & mask; }

    void store(Word* state, std::uint64_t value) const {
        state[word] = (state[word] & ~(mask << shift)) | (value << shift);
    }
};

class Layout {
public:
    // Scratch variables must come after all others. Throws std::invalid_argument on bounds the
    // wrong way round.
    explicit Layout(std::vector<VariableSpec> variables);

    std::size_t words() const { return words_; }
    std::size_t bits() const { return bits_; }
    std::size_t num_variables() const { return num_state_variables_; }
    std::size_t num_scratch() const { return variables_.size() - num_state_variables_; }
    std::size_t num_all() const { return variables_.size(); }

    const VariableSpec& variable(std::size_t v) const { return variables_[v]; }
    const Field& field(std::size_t v) const { return fields_[v]; }

    // The value of state variable `v`; a real as its bit pattern.
    std::int64_t value(const Word* state, std::size_t v) const {
        const Field& field = fields_[v];
        return static_cast<std::int64_t>(field.stored(state) +
                                         static_cast<std::uint64_t>(field.lower));
    }

    // Whether `bits` is a value of variable `v`; false for NaN.
    bool fits(std::size_t v, std::int64_t bits) const {
        const VariableSpec& spec = variables_[v];
        if (spec.type != Type::real) return spec.lower <= bits && bits <= spec.upper;
        const double value = std::bit_cast<double>(bits);
        return spec.real_lower <= value && value <= spec.real_upper;
    }

    // Store a value that fits.
    void set(Word* state, std::size_t v, std::int64_t bits) const {
        if (variables_[v].type == Type::real && std::bit_cast<double>(bits) == 0.0) bits = 0;
        const Field& field = fields_[v];
        field.store(state,
                    static_cast<std::uint64_t>(bits) - static_cast<std::uint64_t>(field.lower));
    }

    // Whether every field holds a value of its variable and all other bits are 0.
    bool is_state(const Word* state) const;

private:
    void place_fields();

    std::vector<VariableSpec> variables_;
    std::vector<Field> fields_;
    std::size_t num_state_variables_ = 0;
    std::size_t words_ = 0;
    std::size_t bits_ = 0;
};

}  // namespace surefoot
