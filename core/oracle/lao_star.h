/*
  What it does: grows the greedy solution graph of the question's state. A pass walks it depth
  first, expands whatever was not expanded before and backs up values (0: safe so far, 1: unsafe) on
  the way back; passes repeat until one changes nothing. Guarantee: terminates on finite tasks with
  the right verdict. It stops only when the whole greedy envelope has residual 0; values began at 0,
  so that is the least fixed point. Cost: at best the smallest safe policy; at worst as many passes
  as states. When to use it: for comparison with the papers. Paper: Jain et al. 2025, section 6.1;
  Hansen & Zilberstein 2001 (LAO*). With differences, the radius, as part of the state: so the
  values need no cap.
*/
#pragma once

#include "oracle/graph_oracle.h"

namespace surefoot {

class LaoStar : public GraphOracle {
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
        std::uint32_t pass = 0;    // in which the state was met last
        std::uint32_t choice = 0;  // the greedy one
    };

    StopReason pass(StateId root);
    void meet(StateId state);
    void step();
    void back_up(StateId state);

    std::uint32_t pass_ = 0;
    bool has_changed_ = false;
    std::vector<Frame> frames_;
    std::vector<StateId> met_;
    StateMap<Progress> progress_;
};

}  // namespace surefoot
