#include "oracle/tarjan_safe_printed.h"

namespace surefoot {

StopReason TarjanSafePrinted::search(StateId root) {
    clear();
    enter(root);
    StopReason stopped = StopReason::none;
    while (!frames_.empty() && stopped == StopReason::none) {
        step();
        stopped = poll();
    }
    return stopped;
}

// What an interrupted search, or one that threw, left behind.
void TarjanSafePrinted::clear() {
    take_back(0);
    for (const Frame& frame : frames_) assumed_[frame.state].place = 0;
    frames_.clear();
}

void TarjanSafePrinted::take_back(std::size_t length) {
    for (; trail_.size() > length; trail_.pop_back())
        assumed_[trail_.back().state].choice = trail_.back().before;
}

void TarjanSafePrinted::enter(StateId state) {
    switch (visit(state)) {
        case Verdict::unsafe: return drop_action();
        case Verdict::safe: return;  // terminal: the outcome is looked at again, and passes
        case Verdict::unknown: break;
    }
    const auto position = static_cast<std::uint32_t>(frames_.size());
    assumed_[state].place = position + 1;
    frames_.push_back({state, position, position, trail_.size()});
}

void TarjanSafePrinted::step() {
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
        const std::uint32_t place = assumed_[outcome].place;
        if (place == 0) return enter(outcome);
        frame.low = std::min(frame.low, place - 1);
    }
    ++frame.outcome;
}

void TarjanSafePrinted::drop_action() {
    Frame& frame = frames_.back();
    take_back(frame.trail);
    ++frame.choice;
    frame.outcome = 0;
    frame.low = frame.position;
}

void TarjanSafePrinted::leave_unsafe() {
    const StateId state = frames_.back().state;
    mark_unsafe(state);
    assumed_[state].place = 0;
    frames_.pop_back();
    if (!frames_.empty()) drop_action();
}

void TarjanSafePrinted::leave_safe() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    Assumed& assumed = assumed_[frame.state];
    assumed.place = 0;
    if (assumed.choice != frame.choice) {
        trail_.push_back({frame.state, assumed.choice});
        assumed.choice = frame.choice;
    }
    if (frame.low < frame.position) {
        frames_.back().low = std::min(frames_.back().low, frame.low);
        ++frames_.back().outcome;
        return;
    }
    close(frame.state);
    take_back(frame.trail);
}

// Nothing that the state depends on is assumed any more.
void TarjanSafePrinted::close(StateId root) {
    closing_.assign(1, root);
    while (!closing_.empty()) {
        const StateId state = closing_.back();
        closing_.pop_back();
        if (is_safe(state)) continue;
        const std::uint32_t choice = assumed_[state].choice;
        mark_safe(state, choice);
        for (StateId outcome : graph_.outcomes(graph_.choices(state)[choice]))
            closing_.push_back(outcome);
    }
}

std::uint64_t TarjanSafePrinted::search_bytes() const {
    return frames_.capacity() * sizeof(Frame) + trail_.capacity() * sizeof(Change) +
           assumed_.bytes();
}

}  // namespace surefoot
