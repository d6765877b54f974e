/*
  Which decisions on a failing run are to blame?

  FaultAnalysis looks at the states of a run backwards and asks an oracle about each of them and
  about the outcomes of the decision taken there. A safe state on a failing run is a bug; its
  decision is a fault if one of the outcomes is unsafe, whether or not the run came through it. The
  alternatives are the actions all of whose outcomes are safe.

  What it does: that, for one run after the other, with one oracle that keeps what it learned.
  Guarantee: exact up to what the oracle does not know; that is listed with its reason. On a run
  that fails from a safe state there is a fault, unless something is unknown.
  Cost: the oracle's; a state that it gave up on is not asked about again.
  When to use it: after fuzzing. Paper: Jain et al. 2025, definitions 4 and 5.

  With a radius `safe` means: safe within that many differences from the policy. The policy's own
  decision costs none of them, an alternative costs one.
*/
#pragma once

#include <functional>
#include <optional>

#include "oracle/oracle.h"
#include "search/state_store.h"

namespace surefoot {

struct FoundVerdict {
    Verdict verdict = Verdict::unknown;
    StopReason stopped = StopReason::none;  // why it is unknown
};

struct Fault {
    std::uint64_t step;         // which decision of the run
    std::vector<Word> outcome;  // an unsafe one: where the run went, if that is one
    std::vector<ActionId> alternatives;
    bool has_unknown_alternatives;
};

struct RunFaults {
    std::vector<FoundVerdict> states;     // of the states of the run
    std::vector<FoundVerdict> decisions;  // unsafe: a fault; unknown where that is all one can say
    std::vector<Fault> faults;            // by step
    StopReason stopped = StopReason::none;  // of the whole analysis
};

struct FaultBudget {
    double state_seconds;  // for one question
    std::uint64_t max_states;
    std::uint64_t max_bytes;
    bool skips_errors;  // what meets an error of the model stays unknown, instead of throwing it
};

// The first step that no run takes: from a state where runs end, by an action that is not
// applicable, or silent beside others, or to what is not an outcome; none if this is a run.
std::optional<std::uint64_t> broken_step(const Task& task, const std::vector<Word>& states,
                                         const std::vector<ActionId>& actions);

class FaultAnalysis {
public:
    // Is the state safe, if so many differences are spent already?
    using Ask = std::function<FoundVerdict(const Word* state, std::uint64_t spent, Budget& budget)>;

    // `radius` is that of the oracle behind `ask`.
    FaultAnalysis(const Task& task, Ask ask, std::optional<std::uint64_t> radius);

    // Analyse a run of `actions.size()` steps. With `bugs_only` decisions are not looked at.
    RunFaults analyse(const std::vector<Word>& states, const std::vector<ActionId>& actions,
                      bool bugs_only, const FaultBudget& limits, Budget& total);

private:
    struct Question {
        const FaultBudget& limits;
        Budget& total;
        StopReason stopped = StopReason::none;
    };

    FoundVerdict ask(const Word* state, std::uint64_t spent, Question& question);
    void look_at(RunFaults& found, std::uint64_t step, const Word* state, ActionId action,
                 const Word* next, Question& question);
    void find_alternatives(Fault& fault, const Word* state, ActionId action, Question& question);
    FoundVerdict of_all(const Word* state, ActionId action, std::uint64_t spent,
                        Question& question);

    const Task& task_;
    Ask ask_;
    std::optional<std::uint64_t> radius_;
    std::unique_ptr<Stepper> stepper_;
    StateStore given_up_;  // states, and the differences spent
    std::vector<StopReason> reasons_;
    std::vector<Word> key_;
    std::vector<ActionId> applicable_;
    Expansion expansion_;
};

}  // namespace surefoot
