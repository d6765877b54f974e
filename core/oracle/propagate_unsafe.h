/*
  What it does: explores everything reachable and spreads unsafety backwards from the fail states.
  An action is lost once one of its outcomes is unsafe; a state is unsafe once all its actions are
  lost. Guarantee: terminates on finite tasks with the right verdict for every reachable state.
  Cost: linear in the reachable transitions, all of which it must see.
  When to use it: when the verdicts of all reachable states are wanted.
  Paper: Schmalz & Jain 2026, alg. 2 (Prop-U).
*/
#pragma once

#include "oracle/graph_oracle.h"

namespace surefoot {

class PropagateUnsafe : public GraphOracle {
public:
    using GraphOracle::GraphOracle;

protected:
    StopReason search(StateId root) override;
    std::uint64_t search_bytes() const override;

private:
    // A choice of a state of found_, numbered through.
    struct Entry {
        std::uint32_t state;  // in found_
        bool is_lost = false;
    };

    void collect_choices();
    void collect_entries_into_states();
    void lose(std::uint32_t entry);
    StopReason propagate();
    void settle();

    std::vector<StateId> found_;
    StateMap<std::uint32_t> place_;  // in found_, of states that are there
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> choices_left_;  // by place in found_
    std::vector<std::uint32_t> into_begin_;    // by place: where its part of into_ begins
    std::vector<std::uint32_t> into_;          // entries with that state as outcome
    std::vector<std::uint32_t> lost_;          // places of states found unsafe, a queue
};

}  // namespace surefoot
