#include "task/effect.h"

#include <algorithm>
#include <map>
#include <set>

namespace surefoot {

namespace {

constexpr std::size_t kMaxOutcomes = 1'000'000;
constexpr std::size_t kMaxBytes = std::size_t{1} << 28;  // of the branches of one step

bool is_plain(const Layout& layout, const AssignmentSpec& spec) {
    return spec.length == 0 && spec.value != kNoNode && spec.variable < layout.num_variables();
}

// Whether the fast way means the same as the definition: one group of plain assignments to
// different variables.
bool is_simple(const Layout& layout, const std::vector<AssignmentSpec>& assignments) {
    std::set<std::uint32_t> assigned;
    for (const AssignmentSpec& spec : assignments) {
        if (!is_plain(layout, spec) || spec.group != assignments[0].group) return false;
        if (!assigned.insert(spec.variable).second) return false;
    }
    return true;
}

}  // namespace

const char* name_of(EvalError error) {
    switch (error) {
        case EvalError::overflow: return "overflow";
        case EvalError::division_by_zero: return "division-by-zero";
        case EvalError::not_finite: return "not-finite";
        case EvalError::negative_exponent: return "negative-exponent";
        case EvalError::bad_log: return "bad-log";
        case EvalError::index_out_of_bounds: return "index-out-of-bounds";
        case EvalError::out_of_range: return "out-of-range";
        case EvalError::none: break;
    }
    return nullptr;
}

Effect::Effect(const Pool& pool, const std::vector<AssignmentSpec>& assignments,
               Constants& constants, EditTable& table)
    : layout_(&pool.layout()),
      table_(&table),
      is_simple_(is_simple(pool.layout(), assignments)),
      edits_(table.empty_range()) {
    if (!is_simple_) {
        make_general(pool, assignments, constants);
        return;
    }
    std::vector<NodeId> values;
    for (const AssignmentSpec& spec : assignments) {
        if (table.add(pool, spec.variable, spec.value, edits_)) continue;
        values.push_back(spec.value);
        program_variables_.push_back(spec.variable);
    }
    program_ = Program(pool, values, constants);
    num_registers_ = program_.num_registers();
}

EffectError out_of_range(const Layout& layout, const EditTable::Failure& failure) {
    const auto lower = static_cast<std::uint64_t>(layout.field(failure.edit->variable).lower);
    return {"out-of-range", failure.edit->variable,
            static_cast<std::int64_t>(failure.stored + lower), true};
}

EffectError Effect::out_of_range(std::uint32_t variable, std::int64_t bits) const {
    return {"out-of-range", variable, bits, true};
}

EffectError Effect::apply_simple(const Word* state, Workspace& workspace, WordBuffer& to) const {
    const std::size_t width = layout_->words();
    Word* const next = to.extend(width);
    for (std::size_t w = 0; w < width; ++w) next[w] = state[w];
    const EditTable::Failure failure = table_->apply(edits_, state, next);
    if (failure.edit != nullptr) return surefoot::out_of_range(*layout_, failure);
    if (program_variables_.empty()) return {};
    std::int64_t* const registers = workspace.registers.base();
    const EvalError error = program_.run(state, workspace.scratch.data(), registers);
    if (error != EvalError::none) return {name_of(error)};
    for (std::size_t i = 0; i < program_variables_.size(); ++i) {
        const std::int64_t bits = registers[program_.result(i)];
        if (!layout_->fits(program_variables_[i], bits))
            return out_of_range(program_variables_[i], bits);
        layout_->set(next, program_variables_[i], bits);
    }
    return {};
}

void Effect::make_general(const Pool& pool, const std::vector<AssignmentSpec>& assignments,
                          Constants& constants) {
    std::map<std::int64_t, std::vector<AssignmentSpec>> by_group;
    for (const AssignmentSpec& spec : assignments) by_group[spec.group].push_back(spec);
    for (const auto& [_, specs] : by_group) {
        std::vector<NodeId> roots;
        GeneralGroup group;
        for (const AssignmentSpec& spec : specs) {
            group.stores.push_back({spec, roots.size()});
            if (spec.length > 0) roots.push_back(spec.position);
            if (spec.value != kNoNode) {
                roots.push_back(spec.value);
            } else {
                roots.push_back(spec.lower);
                roots.push_back(spec.upper);
            }
        }
        group.program = Program(pool, roots, constants);
        num_registers_ = std::max(num_registers_, group.program.num_registers());
        groups_.push_back(std::move(group));
    }
}

EffectError Effect::apply_general(const Word* state, Workspace& workspace, WordBuffer& to) const {
    std::vector<Branch> branches;
    branches.push_back({std::vector<Word>(state, state + layout_->words()), workspace.scratch});
    std::vector<Branch> next;
    std::vector<Write> writes;
    for (const GeneralGroup& group : groups_) {
        next.clear();
        for (const Branch& branch : branches) {
            writes.clear();
            const EffectError error =
                collect_writes(group, branch, workspace.registers.base(), writes);
            if (error.kind != nullptr) return error;
            if (!write_all(branch, writes, next)) return {"too-many-outcomes"};
        }
        branches.swap(next);
    }
    for (const Branch& branch : branches) to.append(branch.state.data(), branch.state.size());
    return {};
}

// Evaluate all values of a group before any is stored.
EffectError Effect::collect_writes(const GeneralGroup& group, const Branch& branch,
                                   std::int64_t* registers, std::vector<Write>& writes) const {
    const EvalError error =
        group.program.run(branch.state.data(), branch.scratch.data(), registers);
    if (error != EvalError::none) return {name_of(error)};
    for (const GeneralStore& store : group.stores) {
        const EffectError failed = add_write(store, group.program, registers, writes);
        if (failed.kind != nullptr) return failed;
    }
    return {};
}

EffectError Effect::add_write(const GeneralStore& store, const Program& program,
                              const std::int64_t* registers, std::vector<Write>& writes) const {
    std::size_t result = store.first_result;
    const auto take = [&] { return registers[program.result(result++)]; };
    Write write{store.spec.variable, 0, 0};
    if (store.spec.length > 0) {
        const std::int64_t position = take();
        if (position < 0 || position >= static_cast<std::int64_t>(store.spec.length))
            return {"index-out-of-bounds"};
        write.variable += static_cast<std::uint32_t>(position);
    }
    write.lower = take();
    if (store.spec.value != kNoNode) {
        if (!layout_->fits(write.variable, write.lower))
            return out_of_range(write.variable, write.lower);
        // -0.0 is 0.0, also when two assignments are compared.
        const bool is_real = layout_->variable(write.variable).type == Type::real;
        if (is_real && as_real(write.lower) == 0.0) write.lower = 0;
        write.upper = write.lower;
    } else {
        write.lower = std::max(write.lower, layout_->variable(write.variable).lower);
        write.upper = std::min(take(), layout_->variable(write.variable).upper);
        if (write.lower > write.upper) return {"empty-interval", write.variable};
    }
    for (const Write& other : writes) {
        if (other.variable != write.variable) continue;
        const bool is_same_value =
            other.lower == other.upper && other.lower == write.lower && write.lower == write.upper;
        return is_same_value ? EffectError{}
                             : EffectError{"conflicting-assignments", write.variable};
    }
    writes.push_back(write);
    return {};
}

void Effect::write(Branch& branch, std::uint32_t variable, std::int64_t bits) const {
    if (variable < layout_->num_variables()) {
        layout_->set(branch.state.data(), variable, bits);
    } else {
        branch.scratch[variable - layout_->num_variables()] = bits;
    }
}

// Append one branch per combination of the intervals' values; false if they are too many.
bool Effect::write_all(const Branch& from, const std::vector<Write>& writes,
                       std::vector<Branch>& to) const {
    const std::size_t begin = to.size();
    const std::size_t branch_bytes = 64 + 8 * (from.state.size() + from.scratch.size());
    const std::size_t max_branches = std::min(kMaxOutcomes, kMaxBytes / branch_bytes);
    if (begin >= max_branches) return false;
    to.push_back(from);
    for (const Write& w : writes) {
        const std::size_t count = to.size();
        const auto values =
            static_cast<std::uint64_t>(w.upper) - static_cast<std::uint64_t>(w.lower) + 1;
        if (values > max_branches || begin + (count - begin) * values > max_branches) return false;
        for (std::size_t i = begin; i < count; ++i) {
            for (std::uint64_t k = 1; k < values; ++k) {
                Branch branch = to[i];
                write(branch, w.variable,
                      static_cast<std::int64_t>(static_cast<std::uint64_t>(w.lower) + k));
                to.push_back(std::move(branch));
            }
            write(to[i], w.variable, w.lower);
        }
    }
    return true;
}

}  // namespace surefoot
