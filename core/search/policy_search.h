/*
  Searches of a policy's graph.

  can_fail: from which of many states may a run of the policy fail?
  What it does: expands all that is reachable from the states, then spreads from the fail states
  backwards. Guarantee: exact; where the budget ends, states that reach something not expanded and
  no fail state are unknown. Cost: linear in the graph, which all states share. When to use it: to
  evaluate a policy on a finite task. Paper: none needed.

  nearest_fail: a shortest run of the policy from one of some states to fail. What it does:
  breadth-first search. Guarantee: no run is shorter. Cost: linear. When to use it: to make a run
  small. Paper: none needed.
*/
#pragma once

#include "base/budget.h"
#include "base/failing_run.h"
#include "search/policy_graph.h"

namespace surefoot {

enum class CanFail : std::uint8_t { no, yes, unknown };

struct CanFailResult {
    std::vector<CanFail> answers;  // one for each state asked about
    std::uint64_t states = 0;      // of the graph, and its memory
    std::uint64_t bytes = 0;
    StopReason stopped = StopReason::none;
};

CanFailResult can_fail(PolicyGraph& graph, const std::vector<Word>& states, Budget& budget);

struct NearestFail {
    std::optional<FailingRun> run;  // none: no run fails, or the budget ended
    StopReason stopped = StopReason::none;
};

NearestFail nearest_fail(PolicyGraph& graph, const std::vector<Word>& states, Budget& budget);

}  // namespace surefoot
