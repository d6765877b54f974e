#include "fault/fault_analysis.h"

#include <algorithm>

namespace surefoot {

namespace {

class RunChecker {
public:
    explicit RunChecker(const Task& task) : task_(task), stepper_(task.stepper()) {}

    bool is_step(const Word* state, ActionId action, const Word* next) {
        if (stepper_->kind(state) != StateKind::open) return false;
        stepper_->applicable(state, applicable_);
        if (!std::binary_search(applicable_.begin(), applicable_.end(), action)) return false;
        if (is_silent(action) && !is_silent(applicable_.front())) return false;
        stepper_->outcomes(state, action, expansion_);
        const std::size_t width = task_.words();
        for (std::size_t at = 0; at < expansion_.words.size(); at += width) {
            if (std::equal(next, next + width, expansion_.words.data() + at)) return true;
        }
        return false;
    }

private:
    bool is_silent(ActionId action) const { return index(action) >= task_.first_silent(); }

    const Task& task_;
    std::unique_ptr<Stepper> stepper_;
    std::vector<ActionId> applicable_;
    Expansion expansion_;
};

}  // namespace

std::optional<std::uint64_t> broken_step(const Task& task, const std::vector<Word>& states,
                                         const std::vector<ActionId>& actions) {
    RunChecker checker(task);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const Word* const state = states.data() + i * task.words();
        if (!checker.is_step(state, actions[i], state + task.words())) return i;
    }
    return std::nullopt;
}

FaultAnalysis::FaultAnalysis(const Task& task, Ask ask, std::optional<std::uint64_t> radius)
    : task_(task),
      ask_(std::move(ask)),
      radius_(radius),
      stepper_(task.stepper()),
      given_up_(task.words() + 1) {}

RunFaults FaultAnalysis::analyse(const std::vector<Word>& states,
                                 const std::vector<ActionId>& actions, bool bugs_only,
                                 const FaultBudget& limits, Budget& total) {
    const std::size_t width = task_.words();
    RunFaults found;
    found.states.resize(actions.size() + 1);
    found.decisions.resize(actions.size());
    Question question{limits, total};
    for (std::size_t i = actions.size() + 1; i-- > 0;) {
        const Word* const state = states.data() + i * width;
        found.states[i] = ask(state, 0, question);
        const bool is_decision = i < actions.size() && index(actions[i]) < task_.first_silent();
        if (bugs_only || !is_decision || found.states[i].verdict != Verdict::safe) continue;
        look_at(found, i, state, actions[i], state + width, question);
    }
    std::reverse(found.faults.begin(), found.faults.end());
    found.stopped = question.stopped;
    return found;
}

FoundVerdict FaultAnalysis::ask(const Word* state, std::uint64_t spent, Question& question) {
    if (question.stopped != StopReason::none) return {Verdict::unknown, question.stopped};
    key_.assign(state, state + task_.words());
    key_.push_back(spent);
    if (const auto known = given_up_.find(key_.data()))
        return {Verdict::unknown, reasons_[index(*known)]};
    const FaultBudget& limits = question.limits;
    const auto tick = [&](const Progress& progress) {
        question.stopped = question.total.look(progress);
        return question.stopped == StopReason::none;
    };
    Budget budget(limits.state_seconds, limits.max_bytes, limits.max_states, tick);
    FoundVerdict found{Verdict::unknown, StopReason::model_error};
    try {
        found = ask_(state, spent, budget);
    } catch (const ModelError&) {
        if (!limits.skips_errors) throw;
    }
    if (question.stopped == StopReason::none) question.stopped = question.total.poll({});
    if (found.verdict != Verdict::unknown) return found;
    if (found.stopped == StopReason::interrupted) found.stopped = question.stopped;
    if (question.stopped == StopReason::none) {
        given_up_.insert(key_.data());
        reasons_.push_back(found.stopped);
    }
    return found;
}

// Look at the decision of a safe state.
void FaultAnalysis::look_at(RunFaults& found, std::uint64_t step, const Word* state,
                            ActionId action, const Word* next, Question& question) {
    const std::size_t width = task_.words();
    stepper_->outcomes(state, action, expansion_);
    std::vector<Word> outcomes(expansion_.words.data(),
                               expansion_.words.data() + expansion_.words.size());
    FoundVerdict& decision = found.decisions[step];
    decision.verdict = Verdict::safe;
    const Word* unsafe = nullptr;
    for (std::size_t at = 0; at < outcomes.size(); at += width) {
        const Word* const outcome = outcomes.data() + at;
        const FoundVerdict one = ask(outcome, 0, question);
        if (one.verdict == Verdict::unknown && decision.verdict == Verdict::safe) decision = one;
        if (one.verdict != Verdict::unsafe) continue;
        decision = one;
        if (unsafe == nullptr || std::equal(next, next + width, outcome)) unsafe = outcome;
    }
    if (unsafe == nullptr) return;
    Fault fault{step, {unsafe, unsafe + width}, {}, false};
    find_alternatives(fault, state, action, question);
    found.faults.push_back(std::move(fault));
}

void FaultAnalysis::find_alternatives(Fault& fault, const Word* state, ActionId action,
                                      Question& question) {
    const std::uint64_t spent = radius_ ? 1 : 0;
    if (radius_ && *radius_ < spent) return;
    stepper_->applicable(state, applicable_);
    const std::vector<ActionId> applicable = applicable_;
    for (ActionId other : applicable) {
        if (other == action || index(other) >= task_.first_silent()) continue;
        const Verdict verdict = of_all(state, other, spent, question).verdict;
        if (verdict == Verdict::safe) fault.alternatives.push_back(other);
        fault.has_unknown_alternatives |= verdict == Verdict::unknown;
    }
}

// Whether all outcomes of an action are safe.
FoundVerdict FaultAnalysis::of_all(const Word* state, ActionId action, std::uint64_t spent,
                                   Question& question) {
    const std::size_t width = task_.words();
    stepper_->outcomes(state, action, expansion_);
    const std::vector<Word> outcomes(expansion_.words.data(),
                                     expansion_.words.data() + expansion_.words.size());
    FoundVerdict all{Verdict::safe, StopReason::none};
    for (std::size_t at = 0; at < outcomes.size(); at += width) {
        const FoundVerdict one = ask(outcomes.data() + at, spent, question);
        if (one.verdict == Verdict::unsafe) return one;
        if (one.verdict == Verdict::unknown) all = one;
    }
    return all;
}

}  // namespace surefoot
