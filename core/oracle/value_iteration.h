/*
  What it does: explores everything reachable and backs up values (0: safe so far, 1: unsafe),
  component by component of the graph, those that depend on nobody else first, each until nothing
  changes.
  Guarantee: terminates on finite tasks with the right verdict for every reachable state: values
  begin at 0 and only rise where they must, which gives the least fixed point.
  Cost: everything reachable is seen; within a component of n states up to n sweeps.
  When to use it: for comparison with the papers.
  Paper: Jain et al. 2025, section 6.1 (with differences, the radius, as part of the state: so the
  values need no cap).
*/
#pragma once

#include "oracle/graph_oracle.h"

namespace surefoot {

class ValueIteration : public GraphOracle {
public:
    using GraphOracle::GraphOracle;

protected:
    StopReason search(StateId root) override;
    std::uint64_t search_bytes() const override;

private:
    struct Node {
        std::uint32_t number = 0;  // in which the search for components met it; 0: not yet
        std::uint32_t low = 0;
        std::uint32_t choice = 0;  // the first that is not known to be lost
    };

    struct Frame {
        StateId state;
        std::uint32_t choice = 0;
        std::uint32_t outcome = 0;
    };

    void enter(StateId state);
    StopReason step();
    StopReason leave();
    StopReason back_up(std::size_t begin);
    bool sweep(std::size_t begin, StopReason& stopped);

    std::vector<StateId> found_;
    StateMap<Node> nodes_;
    std::uint32_t next_number_ = 1;
    std::vector<Frame> frames_;
    std::vector<StateId> stack_;  // met, component not finished
};

}  // namespace surefoot
