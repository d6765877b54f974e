#include "oracle/ipi.h"

namespace surefoot {

StopReason Ipi::search(StateId root) {
    do {
        const StopReason stopped = walk(root);
        if (stopped != StopReason::none) return stopped;
        if (is_unsafe(root)) return StopReason::none;
    } while (found_unsafe_);
    for (StateId state : met_) mark_safe(state, progress_[state].choice);
    return StopReason::none;
}

StopReason Ipi::walk(StateId root) {
    ++round_;
    found_unsafe_ = false;
    frames_.clear();
    met_.clear();
    enter(root);
    while (!frames_.empty()) {
        step();
        const StopReason stopped = poll();
        if (stopped != StopReason::none) return stopped;
    }
    return StopReason::none;
}

void Ipi::enter(StateId state) {
    const Verdict verdict = visit(state);
    if (verdict == Verdict::unsafe) found_unsafe_ = true;
    if (verdict != Verdict::unknown) return;  // the outcome is looked at again
    progress_[state].round = round_;
    met_.push_back(state);
    frames_.push_back({state});
}

// Look at the next outcome of the action at hand.
void Ipi::step() {
    Frame& frame = frames_.back();
    const auto choices = graph_.choices(frame.state);
    const std::uint32_t choice = progress_[frame.state].choice;
    if (choice == choices.size()) {
        mark_unsafe(frame.state);
        found_unsafe_ = true;
        frames_.pop_back();
        return;
    }
    counts_.pairs += frame.outcome == 0;
    const auto outcomes = graph_.outcomes(choices[choice]);
    if (frame.outcome == outcomes.size()) return frames_.pop_back();
    const StateId outcome = outcomes[frame.outcome];
    ++counts_.outcomes;
    if (is_unsafe(outcome)) {
        ++progress_[frame.state].choice;
        frame.outcome = 0;
    } else if (is_safe(outcome) || progress_[outcome].round == round_) {
        ++frame.outcome;
    } else {
        enter(outcome);
    }
}

std::uint64_t Ipi::search_bytes() const {
    return frames_.capacity() * sizeof(Frame) + met_.capacity() * sizeof(StateId) +
           progress_.bytes();
}

}  // namespace surefoot
