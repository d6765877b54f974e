#include "task/edits.h"

#include "task/linear.h"

namespace surefoot {

namespace {

constexpr std::size_t kMaxSumNodes = 64;
constexpr std::int64_t kFar = std::int64_t{1} << 61;

bool is_far_from_overflow(std::int64_t x) { return -kFar < x && x < kFar; }

}  // namespace

bool EditTable::add(const Pool& pool, std::uint32_t variable, NodeId value, EditRange& range) {
    const Node& node = pool[value];
    const bool is_added = node.op == Op::constant
                              ? add_constant(pool.layout(), variable, node.bits, range)
                              : add_sum(pool, variable, value);
    range.end = static_cast<std::uint32_t>(edits_.size());
    return is_added;
}

Edit EditTable::edit_of(const Layout& layout, std::uint32_t variable, Edit::Kind kind) const {
    const Field& field = layout.field(variable);
    const auto terms = static_cast<std::uint32_t>(terms_.size());
    return {kind,       static_cast<std::uint8_t>(field.shift),
            field.word, variable,
            terms,      terms,
            field.mask, field.span,
            0};
}

// Constants for one word are set together.
bool EditTable::add_constant(const Layout& layout, std::uint32_t variable, std::int64_t bits,
                             EditRange& range) {
    if (!layout.fits(variable, bits)) return false;
    const Field& field = layout.field(variable);
    std::vector<Word> packed(layout.words(), 0);
    layout.set(packed.data(), variable, bits);
    for (std::size_t i = range.begin; i < edits_.size(); ++i) {
        Edit& edit = edits_[i];
        if (edit.kind != Edit::Kind::set || edit.word != field.word) continue;
        edit.mask |= field.mask << field.shift;
        edit.value |= packed[field.word];
        return true;
    }
    Edit edit = edit_of(layout, variable, Edit::Kind::set);
    edit.mask = field.mask << field.shift;
    edit.value = packed[field.word];
    edits_.push_back(edit);
    return true;
}

// A sum is computed modulo 2^64 on stored values; that is exact as the value is far from the edge
// of 64 bits on both sides.
bool EditTable::add_sum(const Pool& pool, std::uint32_t variable, NodeId value) {
    const Layout& layout = pool.layout();
    const Range& range = pool.range(value);
    const VariableSpec& target = layout.variable(variable);
    if (target.type != Type::integer || range.raises || !is_far_from_overflow(range.lo) ||
        !is_far_from_overflow(range.hi) || !is_far_from_overflow(target.lower) ||
        !is_far_from_overflow(target.upper)) {
        return false;
    }
    const std::optional<LinearSum> sum = as_linear_sum(pool, value, kMaxSumNodes);
    if (!sum) return false;
    const auto& factors = sum->factors;
    const bool is_step =
        factors.size() == 1 && factors.begin()->first == variable && factors.begin()->second == 1;
    Edit edit = edit_of(layout, variable, is_step ? Edit::Kind::step : Edit::Kind::sum);
    edit.value = static_cast<std::uint64_t>(sum->constant);
    if (!is_step) {
        edit.value -= static_cast<std::uint64_t>(target.lower);
        for (const auto& [read, factor] : factors) {
            const Field& field = layout.field(read);
            terms_.push_back(
                {field.word, field.shift, field.mask, static_cast<std::uint64_t>(factor)});
            edit.value +=
                static_cast<std::uint64_t>(factor) * static_cast<std::uint64_t>(field.lower);
        }
        edit.end_term = static_cast<std::uint32_t>(terms_.size());
    }
    edits_.push_back(edit);
    return true;
}

}  // namespace surefoot
