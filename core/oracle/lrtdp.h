/*
  What it does: follows random runs of the greedy policy (trials) and backs up values (0: safe so
  far, 1: unsafe) along them; behind each trial, states whose whole greedy envelope has residual 0
  are labelled solved. Guarantee: terminates on finite tasks with the right verdict; solved states
  are safe, as values began at 0 and zero-cost cycles are labelled together or not at all. The same
  seed, the same trials. Cost: at best the smallest safe policy; at worst as many envelopes as
  states. When to use it: for comparison with the papers. Paper: Jain et al. 2025, section 6.1;
  Bonet & Geffner 2003 (labelled RTDP). With differences, the radius, as part of the state: so the
  values need no cap. A trial ends when it meets a state twice.
*/
#pragma once

#include "oracle/graph_oracle.h"

namespace surefoot {

class Lrtdp : public GraphOracle {
public:
    Lrtdp(const Task& task, const Graph::Ordering& ordering)
        : GraphOracle(task, ordering), seed_(ordering.seed) {}

protected:
    StopReason search(StateId root) override;
    std::uint64_t search_bytes() const override;

private:
    struct Progress {
        std::uint32_t trial = 0;   // in which the state was met last
        std::uint32_t check = 0;   // in which it was met last
        std::uint32_t choice = 0;  // the greedy one
    };

    StopReason run_trial(StateId root, Random& random);
    StopReason solve_trial();
    bool check_solved(StateId state, StopReason& stopped);
    bool back_up(StateId state);

    std::uint64_t seed_;
    std::uint32_t trial_ = 0;
    std::uint32_t check_ = 0;
    std::vector<StateId> run_;       // of the trial
    std::vector<StateId> envelope_;  // of the check
    StateMap<Progress> progress_;
};

}  // namespace surefoot
