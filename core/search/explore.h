/*
  Breadth-first exploration: count what is reachable.

  What it does: stores every state reachable from the given ones and counts states, state-action
  pairs, outcomes, fail and goal states, dead ends and the depth. Guarantee: if `stopped` is none
  the counts are exact; else they are of the part seen so far. Cost: every stored state is expanded
  once; memory as in StateStore. When to use it: to learn how large a task is. Paper: none needed.
*/
#pragma once

#include <functional>

#include "base/budget.h"
#include "search/state_store.h"
#include "task/task.h"

namespace surefoot {

struct ExploreCounts {
    std::uint64_t states = 0;
    std::uint64_t starts = 0;
    std::uint64_t expanded = 0;
    std::uint64_t pairs = 0;
    std::uint64_t outcomes = 0;
    std::uint64_t fail = 0;
    std::uint64_t goal = 0;
    std::uint64_t dead_ends = 0;
    std::uint64_t depth = 0;  // of the deepest state stored
    std::uint64_t bytes = 0;
    double seconds = 0;
    StopReason stopped = StopReason::none;
    bool starts_complete = true;
};

// Calls its argument with each start state until that returns false; returns why it stopped early,
// or none.
using StartSource = std::function<StopReason(const std::function<bool(const Word*)>&)>;

ExploreCounts explore(const Task& task, const StartSource& starts, Budget& budget,
                      StateStore& store);

}  // namespace surefoot
