/*
  What it does: policy iteration in rounds. A round walks depth first from the question's state, in
  each state along the first action that is not known to lead to an unsafe state, and goes on to the
  next action as soon as an outcome turns out to be unsafe. A state without action left is unsafe.
  States met before in the same round are taken to be fine.
  Guarantee: terminates on finite tasks with the right verdict. A round that finds no unsafe state
  walked along a closed safe choice.
  Cost: at best the smallest safe policy; every round but the last finds an unsafe state, so at
  worst states times transitions (quadratic on the staircase family). When to use it: for comparison
  with the paper, or with a policy that is nearly safe (order learn). Paper: Schmalz & Jain 2026,
  alg. 4. As printed it does not terminate on a safe state whose first action leads to a state
  already known to be unsafe; it must stop when a round finds no *new* one.
*/
#pragma once

#include "oracle/graph_oracle.h"

namespace surefoot {

class Ipi : public GraphOracle {
public:
    using GraphOracle::GraphOracle;

protected:
    StopReason search(StateId root) override;
    std::uint64_t search_bytes() const override;

private:
    struct Frame {
        StateId state;
        std::uint32_t outcome = 0;
    };

    struct Progress {
        std::uint32_t round = 0;   // in which the state was met last
        std::uint32_t choice = 0;  // the first that is not known to be lost
    };

    StopReason walk(StateId root);
    void enter(StateId state);
    void step();

    std::uint32_t round_ = 0;
    bool found_unsafe_ = false;
    std::vector<Frame> frames_;
    std::vector<StateId> met_;  // in this round
    StateMap<Progress> progress_;
};

}  // namespace surefoot
