/*
  What it does: computes J, the least number of differences from a policy with which a safe policy
  exists, for every state reachable from the question's. Level after level: which states are not
  k-safe? Those that fail, and those whose every other action may lead to a state that is not
  (k-1)-safe while the policy's own decision may lead to one that is not k-safe, or already is lost.
  Guarantee: terminates on finite tasks with the right number, or none: a difference inside a cycle
  counts infinitely often, so that even a safe state may have none.
  Cost: everything reachable is seen; linear for each level, and there is one level more than the
  largest finite number.
  When to use it: to grade a bug. Where few differences suffice, asking LazyAttractor on pairs for
  0, 1, 2, ... differences sees much less of the task.
  Paper: J is from Jain et al. 2025, section 6.1; the algorithm is ours.
*/
#pragma once

#include "oracle/graph_oracle.h"

namespace surefoot {

class Deviations : public GraphOracle {
public:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    Deviations(const Task& task, const Policy& policy)
        : GraphOracle(task, {Order::learn, 0, &policy}) {}

    // The verdict is `safe` if the number is finite, else `unsafe`.
    Answer decide(const Word* state, Budget& budget) override;

    // The number, or kNone if there is none. Only of states that decide() gave a verdict on.
    std::uint32_t deviations(const Word* state) const;

    // Known for states without number: the policy's decision there has an outcome of smaller rank,
    // and every other action an outcome of any rank.
    Known known(const Word* state) const override;

protected:
    StopReason search(StateId root) override;
    bool is_settled(StateId state) const override;
    std::uint64_t search_bytes() const override;

private:
    struct Node {
        bool is_done = false;
        bool is_member = false;       // of members_
        bool has_way_out = false;     // another action is safe at the level before: it will leave
        std::uint32_t level = kNone;  // the number
        std::uint32_t rank = 0;       // at the level at hand; 0: not lost there
        std::uint32_t place = 0;      // in found_
    };

    void collect_policy_edges();
    void find_last_change();
    StopReason lose_at_level(std::uint32_t level);
    void lose(StateId state);
    bool loses_decision(StateId state, std::uint32_t level) const;
    bool loses_others(StateId state, std::uint32_t level);
    bool leave(std::uint32_t level);

    std::vector<StateId> found_;
    std::vector<StateId> members_;  // those of found_ that are not safe at the level before
    StateMap<Node> nodes_;
    std::vector<std::uint32_t> into_begin_;  // by place: where its part of into_ begins
    std::vector<StateId> into_;              // whose policy decision has that state as outcome
    std::vector<StateId> lost_;              // at the level at hand, in order
    std::uint32_t last_change_ = 0;  // the largest number of an outcome that was done before
    std::uint32_t ranks_given_ = 0;  // to states that are done
};

}  // namespace surefoot
