#include "oracle/tarjan_safe.h"

namespace surefoot {

StopReason TarjanSafe::search(StateId root) {
    clear();
    enter(root);
    StopReason stopped = StopReason::none;
    while (!frames_.empty() && stopped == StopReason::none) {
        step();
        stopped = poll();
    }
    return stopped;
}

// What an interrupted search, or one that threw, left on the stack.
void TarjanSafe::clear() {
    for (StateId state : stack_) place_[state] = 0;
    stack_.clear();
    frames_.clear();
}

void TarjanSafe::enter(StateId state) {
    switch (visit(state)) {
        case Verdict::unsafe: return drop_action();
        case Verdict::safe: return;  // terminal: the outcome is looked at again, and passes
        case Verdict::unknown: break;
    }
    const auto position = static_cast<std::uint32_t>(stack_.size());
    stack_.push_back(state);
    place_[state] = position + 1;
    frames_.push_back({state, position, position});
}

// Look at the next outcome of the action at hand.
void TarjanSafe::step() {
    Frame& frame = frames_.back();
    const auto choices = graph_.choices(frame.state);
    if (frame.choice == choices.size()) return leave_unsafe();
    counts_.pairs += frame.outcome == 0;
    const auto outcomes = graph_.outcomes(choices[frame.choice]);
    if (frame.outcome == outcomes.size()) return leave_safe();
    const StateId outcome = outcomes[frame.outcome];
    ++counts_.outcomes;
    if (is_unsafe(outcome)) return drop_action();
    if (!is_safe(outcome)) {
        const std::uint32_t place = place_[outcome];
        if (place == 0) return enter(outcome);
        frame.low = std::min(frame.low, place - 1);
    }
    ++frame.outcome;
}

// The action at hand fails: what was found safe on its behalf is forgotten.
void TarjanSafe::drop_action() {
    Frame& frame = frames_.back();
    while (stack_.size() > frame.position + 1) {
        place_[stack_.back()] = 0;
        stack_.pop_back();
    }
    ++frame.choice;
    frame.outcome = 0;
    frame.low = frame.position;
}

// Unsafe even though everything on the stack was assumed to be safe: unsafe for good.
void TarjanSafe::leave_unsafe() {
    const StateId state = frames_.back().state;
    mark_unsafe(state);
    place_[state] = 0;
    stack_.pop_back();
    frames_.pop_back();
    if (!frames_.empty()) drop_action();
}

void TarjanSafe::leave_safe() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    chosen_[frame.state] = frame.choice;
    if (frame.low < frame.position) {
        frames_.back().low = std::min(frames_.back().low, frame.low);
        ++frames_.back().outcome;
        return;
    }
    while (stack_.size() > frame.position) {
        const StateId state = stack_.back();
        mark_safe(state, chosen_[state]);
        place_[state] = 0;
        stack_.pop_back();
    }
}

std::uint64_t TarjanSafe::search_bytes() const {
    return frames_.capacity() * sizeof(Frame) + stack_.capacity() * sizeof(StateId) +
           place_.bytes() + chosen_.bytes();
}

}  // namespace surefoot
