/*
  What it does: searches depth first for a closed choice, assuming that states on the stack are
  safe. A state whose chosen action depends on nobody below it on the stack is the root of a closed
  set: that set is safe. States found safe under an assumption stay on the stack until the action
  that needs them fails, or the root is closed.
  Guarantee: terminates on finite tasks with the right verdict.
  Cost: at best the smallest safe policy; exponential at worst, as states are forgotten and searched
  again whenever an action fails. Linear where no action fails.
  When to use it: for comparison with the paper.
  Paper: Jain et al. 2025, alg. 2 and Schmalz & Jain 2026, alg. 1, in the form of the authors'
  program; the printed form is TarjanSafePrinted.
*/
#pragma once

#include "oracle/graph_oracle.h"

namespace surefoot {

class TarjanSafe : public GraphOracle {
public:
    using GraphOracle::GraphOracle;

protected:
    StopReason search(StateId root) override;
    std::uint64_t search_bytes() const override;

private:
    struct Frame {
        StateId state;
        std::uint32_t position;  // on the stack
        std::uint32_t low;       // the least position that the action at hand depends on
        std::uint32_t choice = 0;
        std::uint32_t outcome = 0;
    };

    void enter(StateId state);
    void step();
    void leave_unsafe();
    void leave_safe();
    void drop_action();
    void clear();

    std::vector<Frame> frames_;
    std::vector<StateId> stack_;      // assumed to be safe
    StateMap<std::uint32_t> place_;   // one more than the position on the stack; 0: not there
    StateMap<std::uint32_t> chosen_;  // of states on the stack that were left
};

}  // namespace surefoot
