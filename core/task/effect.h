/*
  What an outcome does to a state.

  Effect applies the assignments of one outcome. Most are Edits; others run a Program. Effects with
  several assignment groups, array cells, intervals, transient variables or two assignments to one
  variable take the general way, which follows the definition step by step.

  Workspace is the memory for that; every Stepper has one.
*/
#pragma once

#include <vector>

#include "base/word_buffer.h"
#include "task/edits.h"
#include "task/program.h"

namespace surefoot {

struct AssignmentSpec {
    std::uint32_t variable = 0;  // the variable, or the first cell of an array
    std::uint32_t length = 0;    // of the array; 0 for a plain variable
    NodeId position = kNoNode;   // of the cell
    NodeId value = kNoNode;      // or, for an interval:
    NodeId lower = kNoNode;
    NodeId upper = kNoNode;
    std::int64_t group = 0;
};

struct Workspace {
    Workspace(const Constants& constants, std::size_t num_registers,
              std::vector<std::int64_t> scratch_start)
        : registers(constants, num_registers), scratch(std::move(scratch_start)) {}

    Registers registers;
    std::vector<std::int64_t> scratch;  // transient variables at their initial values
};

// Why an effect could not be applied.
struct EffectError {
    const char* kind = nullptr;  // null: no error
    std::int64_t variable = -1;
    std::int64_t bits = 0;  // the value that did not fit
    bool has_value = false;
};

const char* name_of(EvalError error);
EffectError out_of_range(const Layout& layout, const EditTable::Failure& failure);

class Effect {
public:
    // `table` keeps the edits; the effect refers to it.
    Effect(const Pool& pool, const std::vector<AssignmentSpec>& assignments, Constants& constants,
           EditTable& table);

    // Append the states that `state` may become to `to`.
    EffectError apply(const Word* state, Workspace& workspace, WordBuffer& to) const {
        return is_simple_ ? apply_simple(state, workspace, to)
                          : apply_general(state, workspace, to);
    }

    std::size_t num_registers() const { return num_registers_; }

    // The edits that are all of this effect; none if there is more to it.
    std::optional<EditRange> edits() const {
        return is_simple_ && program_variables_.empty() ? std::optional(edits_) : std::nullopt;
    }

private:
    struct GeneralStore {
        AssignmentSpec spec;
        std::size_t first_result;  // of the group's program: position (if a cell), then value or
                                   // lower and upper
    };

    struct GeneralGroup {
        Program program;
        std::vector<GeneralStore> stores;
    };

    struct Write {
        std::uint32_t variable;
        std::int64_t lower;  // of the values to write; lower == upper unless an interval
        std::int64_t upper;
    };

    struct Branch {
        std::vector<Word> state;
        std::vector<std::int64_t> scratch;
    };

    void make_general(const Pool& pool, const std::vector<AssignmentSpec>& assignments,
                      Constants& constants);
    EffectError apply_simple(const Word* state, Workspace& workspace, WordBuffer& to) const;
    EffectError apply_general(const Word* state, Workspace& workspace, WordBuffer& to) const;
    EffectError collect_writes(const GeneralGroup& group, const Branch& branch,
                               std::int64_t* registers, std::vector<Write>& writes) const;
    EffectError add_write(const GeneralStore& store, const Program& program,
                          const std::int64_t* registers, std::vector<Write>& writes) const;
    bool write_all(const Branch& from, const std::vector<Write>& writes,
                   std::vector<Branch>& to) const;
    void write(Branch& branch, std::uint32_t variable, std::int64_t bits) const;
    EffectError out_of_range(std::uint32_t variable, std::int64_t bits) const;

    const Layout* layout_;
    const EditTable* table_;
    bool is_simple_ = true;
    EditRange edits_;
    Program program_;
    std::vector<std::uint32_t> program_variables_;
    std::vector<GeneralGroup> groups_;
    std::size_t num_registers_ = 0;
};

}  // namespace surefoot
