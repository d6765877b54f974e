/*
  What it does: policy iteration in its plain form. A round walks everything that the current
  actions reach from the question's state, and then improves: each state met whose current action
  has an outcome known to be unsafe takes its next action, and is unsafe if there is none.
  Guarantee: terminates on finite tasks with the right verdict. A round that changes nothing walked
  along a closed safe choice.
  Cost: at best the smallest safe policy; a round may lose a single action, so at worst actions
  times transitions.
  When to use it: for comparison with the paper.
  Paper: Schmalz & Jain 2026, alg. 3.
*/
#pragma once

#include "oracle/graph_oracle.h"

namespace surefoot {

class Npi : public GraphOracle {
public:
    using GraphOracle::GraphOracle;

protected:
    StopReason search(StateId root) override;
    std::uint64_t search_bytes() const override;

private:
    struct Progress {
        std::uint32_t round = 0;   // in which the state was met last
        std::uint32_t choice = 0;  // the current one
    };

    StopReason walk(StateId root);
    bool improve();
    void meet(StateId state);

    std::uint32_t round_ = 0;
    std::vector<StateId> met_;
    StateMap<Progress> progress_;
};

}  // namespace surefoot
