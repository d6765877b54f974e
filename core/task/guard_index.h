/*
  Which conditions hold in a state, found without evaluating most of them.

  GuardIndex takes the conditions of a task (fail, goal, the guards of all edges) and splits each
  into conjuncts. A conjunct over the variables of one Group (a few neighbouring bits of one word)
  is tabulated: for every pattern of these bits a row of bits says which conditions the pattern does
  not rule out. The AND of one row per group leaves the candidates; only they have to pass what is
  left of their condition, the residual.

  What can raise an evaluation error is never tabulated, nor is anything that stands behind it:
  conjunctions are lazy from left to right.
*/
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "task/program.h"

namespace surefoot {

class GuardIndex {
public:
    // `conditions` are Boolean nodes; kNoNode is always true. Adds nodes for the residuals to the
    // pool.
    GuardIndex(Pool& pool, std::span<const NodeId> conditions, Constants& constants);

    // How many words a row has: one bit per condition.
    std::size_t row_words() const { return row_words_; }

    // Set bit `i` of `candidates` for every condition that may hold in `state`.
    void find(const Word* state, Word* candidates) const;

    // The first word of that: conditions 0 to 63.
    Word find_first(const Word* state) const;

    // What a candidate still has to pass; null if nothing.
    const Program* residual(std::size_t condition) const {
        const std::int32_t at = residual_of_[condition];
        return at < 0 ? nullptr : &residuals_[static_cast<std::size_t>(at)];
    }

    std::size_t max_registers() const { return max_registers_; }
    std::size_t num_residuals() const { return residuals_.size(); }

private:
    struct Group {
        std::uint32_t word;
        std::uint32_t shift;
        std::uint32_t bits;
        Word mask;
        std::vector<std::uint32_t> variables;
        std::vector<Word> rows;
    };

    struct Conjunct {
        std::uint32_t condition;
        NodeId node;
    };

    template <std::size_t words>
    void find_fixed(const Word* state, Word* candidates) const;

    void make_groups(const Pool& pool, std::span<const NodeId> conditions);
    void split(Pool& pool, std::span<const NodeId> conditions, Constants& constants);
    std::optional<std::size_t> group_of(const std::vector<std::uint32_t>& variables) const;
    bool affords_table(const Pool& pool, NodeId node, const Group& group);
    void tabulate(const Pool& pool, Group& group, const std::vector<Conjunct>& conjuncts);
    void rule_out(const Pool& pool, Group& group, const Conjunct& conjunct);

    std::size_t row_words_ = 0;
    std::uint64_t work_left_ = std::uint64_t{1}
                               << 27;  // instructions to run for tables, about half a second
    std::vector<Word> always_;         // conditions that no constant conjunct rules out
    std::vector<Group> groups_;
    std::vector<std::int32_t> residual_of_;
    std::vector<Program> residuals_;
    std::size_t max_registers_ = 0;
    std::vector<std::int32_t> group_of_variable_;
};

}  // namespace surefoot
