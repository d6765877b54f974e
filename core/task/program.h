/*
  The register machine.

  Program is straight-line code for one or several expressions, with jumps only where lazy
  evaluation is needed to keep an evaluation error from being raised. It reads variables straight
  from packed states (and from the scratch array for transient variables).

  Constants collects the constants of all programs of a task, so that running a program never loads
  one: registers at negative positions hold them. Registers is the memory to run programs in; every
  thread has its own.
*/
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "task/expression.h"

namespace surefoot {

enum class EvalError : std::uint8_t {
    none,
    overflow,
    division_by_zero,
    not_finite,
    negative_exponent,
    bad_log,
    index_out_of_bounds,
    out_of_range,
};

class Constants {
public:
    // The (negative) register that holds `bits`.
    std::int32_t register_of(std::int64_t bits);
    const std::vector<std::int64_t>& values() const { return values_; }

private:
    std::vector<std::int64_t> values_;
    std::unordered_map<std::int64_t, std::int32_t> registers_;
};

class Registers {
public:
    Registers(const Constants& constants, std::size_t count);
    std::int64_t* base() { return cells_.data() + num_constants_; }

private:
    std::size_t num_constants_;
    std::vector<std::int64_t> cells_;
};

enum class MachineOp : std::uint8_t;

struct Instruction {
    MachineOp op;
    std::int32_t to;
    std::int32_t a;
    std::int32_t b;
    std::int32_t c;  // third operand, or where to jump
};

class Program {
public:
    Program() = default;

    // Code that evaluates `roots` from left to right.
    Program(const Pool& pool, std::span<const NodeId> roots, Constants& constants);

    std::size_t size() const { return code_.size(); }
    std::size_t num_registers() const { return num_registers_; }
    std::size_t num_results() const { return results_.size(); }

    // Evaluate; on success the result of root `i` is in register result(i).
    EvalError run(const Word* state, const std::int64_t* scratch, std::int64_t* registers) const;
    std::int32_t result(std::size_t i) const { return results_[i]; }

private:
    friend class Emitter;

    // Where to go on, and where in case of an error (-1: nowhere).
    struct Position {
        std::int32_t at = 0;
        std::int32_t handler = -1;
    };
    EvalError run_from(Position& position, const Word* state, const std::int64_t* scratch,
                       std::int64_t* registers) const;

    const Layout* layout_ = nullptr;
    std::vector<Instruction> code_;
    std::vector<std::int32_t> results_;
    std::size_t num_registers_ = 0;
};

}  // namespace surefoot
