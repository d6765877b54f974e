#include "search/simulate.h"

#include <algorithm>

namespace surefoot {

namespace {

class Walker {
public:
    Walker(const Task& task, const Policy& policy, Random& random)
        : task_(task),
          is_unfiltered_(policy.is_unfiltered()),
          decider_(policy.decider()),
          random_(random),
          stepper_(task.stepper()) {}

    // Take one step from the last state of `run`; false if the run has ended, or has to because it
    // `is_last`.
    bool step(Run& run, bool is_last) {
        state_.assign(run.states.end() - static_cast<std::ptrdiff_t>(task_.words()),
                      run.states.end());
        const StateKind kind = stepper_->look(state_.data(), actions_);
        if (kind != StateKind::open) {
            run.end = kind == StateKind::fail ? RunEnd::fail : RunEnd::goal;
            return false;
        }
        if (actions_.empty()) {
            run.end = RunEnd::dead_end;
            return false;
        }
        if (is_last) return false;
        const ActionId action = decide();
        if (!std::binary_search(actions_.begin(), actions_.end(), action)) {
            run.end = RunEnd::inapplicable;
            run.inapplicable = index(action);
            return false;
        }
        stepper_->outcomes(state_.data(), action, expansion_);
        const std::size_t width = task_.words();
        if (expansion_.words.size() == 0)
            throw std::runtime_error("an applicable action has no outcome");
        const Word* const from =
            expansion_.words.data() + random_.below(expansion_.words.size() / width) * width;
        run.states.insert(run.states.end(), from, from + width);
        run.actions.push_back(index(action));
        return true;
    }

private:
    // Silent actions are only taken where nothing else is applicable; the environment then picks
    // one.
    ActionId decide() {
        std::size_t count = 0;
        while (count < actions_.size() && index(actions_[count]) < task_.first_silent()) ++count;
        if (count == 0) return actions_[random_.below(actions_.size())];
        const auto choices = std::span(actions_).first(count);
        const ActionId action = decider_->decide(state_.data(), task_.words(), choices);
        if (!is_unfiltered_) check_decision(action, state_.data(), task_.words(), choices);
        return action;
    }

    const Task& task_;
    bool is_unfiltered_;
    std::unique_ptr<Decider> decider_;
    Random& random_;
    std::unique_ptr<Stepper> stepper_;
    std::vector<Word> state_;
    std::vector<ActionId> actions_;
    Expansion expansion_;
};

}  // namespace

Run simulate(const Task& task, const Word* start, const Policy& policy, std::uint64_t max_steps,
             Random& random, Budget& budget) {
    Run run;
    run.states.assign(start, start + task.words());
    Walker walker(task, policy, random);
    run.stopped = budget.look({});
    if (run.stopped != StopReason::none) return run;
    while (walker.step(run, run.actions.size() >= max_steps)) {
        const std::uint64_t bytes = run.states.size() * sizeof(Word) + run.actions.size() * 4;
        run.stopped = budget.poll({run.actions.size(), run.actions.size(), 0, bytes, 0});
        if (run.stopped != StopReason::none) return run;
    }
    return run;
}

}  // namespace surefoot
