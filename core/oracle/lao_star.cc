#include "oracle/lao_star.h"

namespace surefoot {

StopReason LaoStar::search(StateId root) {
    do {
        const StopReason stopped = pass(root);
        if (stopped != StopReason::none) return stopped;
        if (is_unsafe(root)) return StopReason::none;
    } while (has_changed_);
    for (StateId state : met_) mark_safe(state, progress_[state].choice);
    return StopReason::none;
}

StopReason LaoStar::pass(StateId root) {
    ++pass_;
    has_changed_ = false;
    frames_.clear();
    met_.clear();
    meet(root);
    while (!frames_.empty()) {
        step();
        const StopReason stopped = poll();
        if (stopped != StopReason::none) return stopped;
    }
    return StopReason::none;
}

void LaoStar::meet(StateId state) {
    if (verdict(state) != Verdict::unknown || progress_[state].pass == pass_) return;
    progress_[state].pass = pass_;
    if (visit(state) != Verdict::unknown) return;
    met_.push_back(state);
    frames_.push_back({state});
}

// Go on to the next outcome of the greedy action; behind the last one, back up.
void LaoStar::step() {
    Frame& frame = frames_.back();
    const auto choices = graph_.choices(frame.state);
    const auto outcomes = graph_.outcomes(choices[progress_[frame.state].choice]);
    if (frame.outcome < outcomes.size()) return meet(outcomes[frame.outcome++]);
    back_up(frame.state);
    frames_.pop_back();
}

void LaoStar::back_up(StateId state) {
    std::uint32_t& choice = progress_[state].choice;
    const std::uint32_t greedy = next_choice(state, choice);
    if (greedy == choice) return;
    has_changed_ = true;
    choice = greedy;
    if (choice == graph_.choices(state).size()) mark_unsafe(state);
}

std::uint64_t LaoStar::search_bytes() const {
    return frames_.capacity() * sizeof(Frame) + met_.capacity() * sizeof(StateId) +
           progress_.bytes();
}

}  // namespace surefoot
