#include "task/guard_index.h"

#include <algorithm>
#include <set>

namespace surefoot {

namespace {

constexpr std::size_t kGroupBytes = std::size_t{1}
                                    << 14;  // tables of joined variables stay in the fastest cache
constexpr std::size_t kSharedBytes = std::size_t{1} << 17;  // of variables that a conjunct compares
constexpr std::size_t kMaxShared = 4;                       // variables of such a conjunct
constexpr std::size_t kAllBytes = std::size_t{1} << 26;     // of all tables together
constexpr std::size_t kMaxVariables = 64;                   // of a conjunct that may be tabulated
constexpr std::size_t kSingleBytes =
    std::size_t{1} << 22;  // a variable with more values than this is not tabulated

std::size_t table_bytes(std::uint32_t bits, std::size_t row_words) {
    return bits >= 32 ? ~std::size_t{0} : (std::size_t{1} << bits) * row_words * sizeof(Word);
}

// Evaluates one Boolean node on states made up for the purpose.
class Evaluator {
public:
    Evaluator(const Pool& pool, NodeId node)
        : program_(pool, std::span(&node, 1), constants_),
          registers_(constants_, program_.num_registers()),
          state_(pool.layout().words()),
          scratch_(pool.layout().num_scratch()) {}

    Word* state() { return state_.data(); }

    bool holds() {
        program_.run(state_.data(), scratch_.data(), registers_.base());
        return registers_.base()[program_.result(0)] != 0;
    }

private:
    Constants constants_;
    Program program_;
    Registers registers_;
    std::vector<Word> state_;
    std::vector<std::int64_t> scratch_;
};

}  // namespace

GuardIndex::GuardIndex(Pool& pool, std::span<const NodeId> conditions, Constants& constants)
    : row_words_((conditions.size() + 63) / 64),
      always_(row_words_, ~Word{0}),
      residual_of_(conditions.size(), -1) {
    make_groups(pool, conditions);
    split(pool, conditions, constants);
}

// Join the variables that have conjuncts of their own to groups of neighbouring bits.
void GuardIndex::make_groups(const Pool& pool, std::span<const NodeId> conditions) {
    const Layout& layout = pool.layout();
    std::vector<bool> wanted(layout.num_all(), false);
    std::set<std::pair<std::uint32_t, std::uint32_t>> shared;  // variables in one conjunct
    for (NodeId condition : conditions) {
        if (condition == kNoNode) continue;
        for (NodeId conjunct : pool.conjuncts_of(condition)) {
            const auto variables = pool.variables_of(conjunct, kMaxVariables);
            if (pool.range(conjunct).raises) continue;
            if (variables.size() == 1) wanted[variables[0]] = true;
            if (variables.size() > kMaxShared) continue;
            for (std::uint32_t a : variables) {
                for (std::uint32_t b : variables) shared.emplace(a, b);
            }
        }
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t v = 0; v < layout.num_variables(); ++v) {
        if (wanted[v] && table_bytes(layout.field(v).bits, row_words_) <= kSingleBytes)
            order.push_back(v);
    }
    // Fields without bits come first in their word and share its first group.
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        const Field& x = layout.field(a);
        const Field& y = layout.field(b);
        return std::pair(x.word, x.shift) < std::pair(y.word, y.shift);
    });
    group_of_variable_.assign(layout.num_all(), -1);
    std::size_t bytes_left = kAllBytes;
    for (std::uint32_t v : order) {
        const Field& field = layout.field(v);
        const std::uint32_t end = field.shift + field.bits;
        const bool is_shared = !groups_.empty() && !groups_.back().variables.empty() &&
                               shared.contains({groups_.back().variables.back(), v});
        const bool joins = !groups_.empty() && groups_.back().word == field.word &&
                           table_bytes(end - groups_.back().shift, row_words_) <=
                               (is_shared ? kSharedBytes : kGroupBytes);
        const std::size_t bytes = table_bytes(field.bits, row_words_);
        if (!joins && bytes > bytes_left) continue;
        if (!joins) bytes_left -= bytes;
        if (!joins) groups_.push_back({field.word, field.shift, 0, 0, {}, {}});
        Group& group = groups_.back();
        group.bits = std::max(group.bits, end - group.shift);
        group.mask = (Word{1} << group.bits) - 1;
        group.variables.push_back(v);
        group_of_variable_[v] = static_cast<std::int32_t>(groups_.size() - 1);
    }
}

std::optional<std::size_t> GuardIndex::group_of(const std::vector<std::uint32_t>& variables) const {
    const std::int32_t group = group_of_variable_[variables[0]];
    for (std::uint32_t v : variables) {
        if (group_of_variable_[v] != group) return std::nullopt;
    }
    if (group < 0) return std::nullopt;
    return static_cast<std::size_t>(group);
}

void GuardIndex::split(Pool& pool, std::span<const NodeId> conditions, Constants& constants) {
    std::vector<std::vector<Conjunct>> tabulated(groups_.size());
    for (std::uint32_t i = 0; i < conditions.size(); ++i) {
        if (conditions[i] == kNoNode) continue;
        std::vector<NodeId> left;
        bool may_have_raised = false;
        for (NodeId node : pool.conjuncts_of(conditions[i])) {
            may_have_raised |= pool.range(node).raises;
            const auto variables = pool.variables_of(node, kMaxVariables);
            if (may_have_raised || variables.size() > kMaxVariables) {
                left.push_back(node);
            } else if (variables.empty()) {
                if (!Evaluator(pool, node).holds()) always_[i / 64] &= ~(Word{1} << (i % 64));
            } else if (const auto group = group_of(variables);
                       group && affords_table(pool, node, groups_[*group])) {
                tabulated[*group].push_back({i, node});
            } else {
                left.push_back(node);
            }
        }
        if (left.empty()) continue;
        NodeId residual = left[0];
        for (std::size_t k = 1; k < left.size(); ++k) {
            residual = pool.add({Op::logical_and, Type::boolean, residual, left[k], kNoNode, 0});
        }
        residual_of_[i] = static_cast<std::int32_t>(residuals_.size());
        residuals_.emplace_back(pool, std::span(&residual, 1), constants);
        max_registers_ = std::max(max_registers_, residuals_.back().num_registers());
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (!tabulated[g].empty()) tabulate(pool, groups_[g], tabulated[g]);
    }
    std::erase_if(groups_, [](const Group& group) { return group.rows.empty(); });
}

// Tabulating evaluates the conjunct for every value; whether there is work left for that.
bool GuardIndex::affords_table(const Pool& pool, NodeId node, const Group& group) {
    Constants constants;
    const std::size_t size = Program(pool, std::span(&node, 1), constants).size() + 1;
    const auto variables = pool.variables_of(node);
    const std::uint64_t values =
        variables.size() == 1 ? pool.layout().field(variables[0]).span + 1 : group.mask + 1;
    if (values > work_left_ / size) return false;
    work_left_ -= values * size;
    return true;
}

void GuardIndex::tabulate(const Pool& pool, Group& group, const std::vector<Conjunct>& conjuncts) {
    group.rows.assign((std::size_t{1} << group.bits) * row_words_, ~Word{0});
    for (const Conjunct& conjunct : conjuncts) rule_out(pool, group, conjunct);
}

void GuardIndex::rule_out(const Pool& pool, Group& group, const Conjunct& conjunct) {
    const Layout& layout = pool.layout();
    Evaluator evaluator(pool, conjunct.node);
    const auto variables = pool.variables_of(conjunct.node);
    const Word clear = ~(Word{1} << (conjunct.condition % 64));
    Word* const column = group.rows.data() + conjunct.condition / 64;
    const Field& first = layout.field(variables[0]);
    std::vector<bool> truth;  // of a conjunct over one variable, by stored value
    if (variables.size() == 1) {
        for (std::uint64_t stored = 0; stored <= first.span; ++stored) {
            first.store(evaluator.state(), stored);
            truth.push_back(evaluator.holds());
        }
    }
    for (Word pattern = 0; pattern <= group.mask; ++pattern) {
        const Word in_place = pattern << group.shift;
        const bool is_state = std::all_of(variables.begin(), variables.end(), [&](std::uint32_t v) {
            const Field& field = layout.field(v);
            return ((in_place >> field.shift) & field.mask) <= field.span;
        });
        if (!is_state) continue;
        bool holds = false;
        if (variables.size() == 1) {
            holds = truth[(in_place >> first.shift) & first.mask];
        } else {
            evaluator.state()[group.word] = in_place;
            holds = evaluator.holds();
        }
        if (!holds) column[pattern * row_words_] &= clear;
    }
}

template <std::size_t words>
void GuardIndex::find_fixed(const Word* state, Word* candidates) const {
    Word bits[words];
    for (std::size_t w = 0; w < words; ++w) bits[w] = always_[w];
    for (const Group& group : groups_) {
        const Word* row =
            group.rows.data() + ((state[group.word] >> group.shift) & group.mask) * words;
        for (std::size_t w = 0; w < words; ++w) bits[w] &= row[w];
    }
    for (std::size_t w = 0; w < words; ++w) candidates[w] = bits[w];
}

Word GuardIndex::find_first(const Word* state) const {
    Word bits = always_[0];
    for (const Group& group : groups_)
        bits &= group.rows[((state[group.word] >> group.shift) & group.mask) * row_words_];
    return bits;
}

void GuardIndex::find(const Word* state, Word* candidates) const {
    switch (row_words_) {
        case 1: return find_fixed<1>(state, candidates);
        case 2: return find_fixed<2>(state, candidates);
        case 3: return find_fixed<3>(state, candidates);
        case 4: return find_fixed<4>(state, candidates);
        default: break;
    }
    std::copy(always_.begin(), always_.end(), candidates);
    for (const Group& group : groups_) {
        const Word* row =
            group.rows.data() + ((state[group.word] >> group.shift) & group.mask) * row_words_;
        for (std::size_t w = 0; w < row_words_; ++w) candidates[w] &= row[w];
    }
}

}  // namespace surefoot
