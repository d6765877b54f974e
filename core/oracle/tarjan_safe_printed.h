/*
  What it does: as TarjanSafe, but a state that was found safe under an assumption leaves the stack
  at once and is searched again by whoever meets it next.
  Guarantee: terminates on finite tasks with the right verdict.
  Cost: exponential wherever many paths lead to states of a cycle that is not closed yet, even if no
  action ever fails (2^(n+1) + 2^n - 1 expansions on the layered family).
  When to use it: for comparison with the paper.
  Paper: Schmalz & Jain 2026, alg. 1. As printed it is wrong: it never passes a child's low value up
  to its parent and keeps that of an action that was dropped. Both are mended here.

  The choices found under an assumption are kept on a trail, and taken back when the action that
  needed them fails; a state that is closed turns those it depends on into a certificate.
*/
#pragma once

#include "oracle/graph_oracle.h"

namespace surefoot {

class TarjanSafePrinted : public GraphOracle {
public:
    using GraphOracle::GraphOracle;

protected:
    StopReason search(StateId root) override;
    std::uint64_t search_bytes() const override;

private:
    static constexpr std::uint32_t kNoChoice = 0xffffffffU;

    struct Frame {
        StateId state;
        std::uint32_t position;
        std::uint32_t low;
        std::size_t trail;  // its length when the state was entered
        std::uint32_t choice = 0;
        std::uint32_t outcome = 0;
    };

    struct Change {
        StateId state;
        std::uint32_t before;
    };

    struct Assumed {
        std::uint32_t place = 0;           // one more than the position on the stack
        std::uint32_t choice = kNoChoice;  // found under the assumption
    };

    void enter(StateId state);
    void step();
    void leave_unsafe();
    void leave_safe();
    void drop_action();
    void take_back(std::size_t length);
    void close(StateId root);
    void clear();

    std::vector<Frame> frames_;
    std::vector<Change> trail_;
    StateMap<Assumed> assumed_;
    std::vector<StateId> closing_;
};

}  // namespace surefoot
