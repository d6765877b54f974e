/*
  Runs of a policy, with the environment's choices at random.

  What it does: follows one run from a state until it ends, with an outcome drawn uniformly at every
  step. Guarantee: run `k` depends on the task, the policy, the seed and `k` only. Cost: one
  expansion of one action per step. When to use it: to look at a task. Fuzzing finds failing runs
  much faster. Paper: none needed.
*/
#pragma once

#include <optional>

#include "base/budget.h"
#include "base/random.h"
#include "base/run_end.h"
#include "policy/policy.h"
#include "task/task.h"

namespace surefoot {

struct Run {
    std::vector<Word> states;  // one more than actions
    std::vector<std::uint32_t> actions;
    RunEnd end = RunEnd::cut;
    std::optional<std::uint32_t> inapplicable;  // what was decided for, if not applicable
    StopReason stopped = StopReason::none;
};

Run simulate(const Task& task, const Word* start, const Policy& policy, std::uint64_t max_steps,
             Random& random, Budget& budget);

}  // namespace surefoot
