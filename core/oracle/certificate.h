/*
  The evidence for an answer.

  Certificate holds states of the task and entries about them: of a safe answer the chosen action,
  of an unsafe one the rank. Only what the claim needs is in it: states that the choice reaches, or
  for every action of a ranked state one outcome of smaller rank.

  View says how the oracle sees the task: which action is the forced step, and which is the task of
  pairs, if it looks at those.
*/
#pragma once

#include <optional>

#include "oracle/oracle.h"
#include "oracle/radius_task.h"

namespace surefoot {

struct Certificate {
    static constexpr std::int64_t kNothing = -1;  // the forced step; no decision

    Verdict claim = Verdict::unknown;
    StopReason stopped = StopReason::none;  // why it is not there
    std::vector<Word> states;               // distinct; the first is the one the claim is about
    std::vector<std::uint32_t> entry_states;
    std::vector<std::uint64_t> entries_left;  // on pairs: differences left
    std::vector<std::int64_t> entry_values;   // actions (or kNothing), or ranks
    std::vector<std::int64_t> decisions;      // with a policy: by state
};

struct View {
    const Task& task;                // what the oracle runs on: with its last word, on pairs
    std::optional<ActionId> forced;  // the action of `states` that stands for silent steps
    const RadiusTask* pairs = nullptr;
    const RadiusTask* decisions = nullptr;  // to put the policy's decisions in; also without pairs
};

// `root` is a state of view.task on which the oracle has a verdict. If `first` is given, the choice
// in the root, which is safe, is that action instead of the oracle's; its outcomes must be known to
// be safe.
Certificate certify(const Oracle& oracle, const View& view, const Word* root, Budget& budget,
                    std::optional<ActionId> first = std::nullopt);

}  // namespace surefoot
