/*
  Is there a policy that surely avoids fail from this state?

  An Oracle answers that for many states of one task. It keeps what it learned: what it once called
  safe or unsafe stays so, and a question that ran out of budget leaves nothing wrong behind, only
  work done. Answer is what a question cost and how it ended.

  Known is what an oracle knows for good about a state, which is what certificates are made of. A
  safe state that is not terminal has the action of a closed choice; an unsafe one has a rank, and
  each of its actions has an outcome of smaller rank (or it fails).
*/
#pragma once

#include "base/budget.h"
#include "task/task.h"

namespace surefoot {

enum class Verdict : std::uint8_t { unknown, safe, unsafe };

struct Answer {
    Verdict verdict = Verdict::unknown;
    StopReason stopped = StopReason::none;  // why the verdict is unknown
    std::uint64_t expanded = 0;             // how often a state was expanded
    std::uint64_t pairs = 0;                // how many of its actions were looked at
    std::uint64_t outcomes = 0;             // and how many of their outcomes
    double seconds = 0;
};

struct Known {
    static constexpr ActionId kNoAction{0xffffffffU};  // of terminal states

    Verdict verdict = Verdict::unknown;
    ActionId action = kNoAction;
    std::uint64_t rank = 0;
    const Word* state = nullptr;  // of whom this is known; may be a pair that dominates the asked
};

class Oracle {
public:
    virtual ~Oracle() = default;

    // The budget's states are those stored for this question; its bytes are all that the oracle
    // keeps. Throws ModelError or PolicyError; the oracle can still be asked.
    virtual Answer decide(const Word* state, Budget& budget) = 0;

    virtual Known known(const Word* state) const = 0;

    virtual std::uint64_t num_states() const = 0;
    virtual std::uint64_t bytes() const = 0;
};

}  // namespace surefoot
