/*
  Verification with boxes: predicate abstraction with unary predicates, without a solver.

  What it does: explores the policy from boxes of start states. States with the same values of the
  control variables, in the same cell of a partition by cuts, share a few hulls. Where the policy's
  decision is not the same in all of a box, and its outcomes are not all in what is reached already,
  the box is split. A box that meets fail is followed back: if that arrives at a start state, the
  run is replayed and real; else cuts are added where the hulls had joined too much, and exploration
  begins again. Guarantee: without a failing run and without a reason to stop, the union of `boxes`
  contains all start states, no fail, and what the policy leads to; so no run fails. A run is real.
  Cost: in the number of boxes, not of states; hopeless for policies whose decisions change from
  state to state. When to use it: first. Paper: P-TREE's policy predicate abstraction; here lazily
  and with intervals instead of a solver.
*/
#pragma once

#include <string>

#include "base/budget.h"
#include "policy/scored_policy.h"
#include "verify/box_scores.h"
#include "verify/box_task.h"
#include "verify/explicit.h"

namespace surefoot {

struct BoxOptions {
    std::vector<Cut> cuts;              // everywhere, from the beginning
    std::uint32_t max_splits = 0;       // of a hull before steps may be coarse
    std::uint32_t max_growth = 0;       // how often a hull grows before steps into it may be coarse
    std::uint64_t max_steps = ~0ULL;    // from the start; more are not looked at
    std::uint64_t max_visited = ~0ULL;  // boxes to look at
    std::size_t max_bad_states = 0;     // to draw if nothing is proved
};

struct BoxResult {
    std::optional<FailingRun> run;
    std::optional<Box> failing_starts;
    std::vector<Box> boxes;
    std::vector<Word> bad_states;  // states from which runs fail, if runs come there at all
    std::uint64_t reached = 0;     // boxes, when the search ended
    std::uint64_t depth = 0;       // the most steps to one of them
    std::uint64_t refinements = 0;
    std::uint64_t visited = 0;   // boxes looked at
    std::uint64_t rounding = 0;  // decided boxes in which exact sums could decide otherwise
    StopReason stopped = StopReason::none;
    bool is_stuck = false;  // an abstract run could be neither replayed nor ruled out
    bool is_cut = false;    // there was more behind max_steps
};

// Throws ModelError and PolicyError if a run comes to one.
BoxResult verify_boxes(BoxTask& task, const ScoredPolicy& policy, BoxScores& scores,
                       const BoxOptions& options, Budget& budget);

}  // namespace surefoot
