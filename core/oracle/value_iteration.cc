#include "oracle/value_iteration.h"

namespace surefoot {

// Components (Tarjan 1972) come out in an order in which each depends on earlier ones only.
StopReason ValueIteration::search(StateId root) {
    StopReason stopped = explore(root, found_);
    for (StateId state : found_) nodes_[state].number = 0;
    next_number_ = 1;
    stack_.clear();
    frames_.clear();
    if (stopped == StopReason::none) enter(root);
    while (!frames_.empty() && stopped == StopReason::none) {
        stopped = step();
        if (stopped == StopReason::none) stopped = poll();
    }
    return stopped;
}

void ValueIteration::enter(StateId state) {
    const std::uint32_t number = next_number_++;
    nodes_[state].number = number;
    nodes_[state].low = number;
    stack_.push_back(state);
    frames_.push_back({state});
}

// Look at the next outcome of the state at hand.
StopReason ValueIteration::step() {
    Frame& frame = frames_.back();
    const auto choices = graph_.choices(frame.state);
    if (frame.choice == choices.size()) return leave();
    const auto outcomes = graph_.outcomes(choices[frame.choice]);
    if (frame.outcome == outcomes.size()) {
        ++frame.choice;
        frame.outcome = 0;
        return StopReason::none;
    }
    const StateId outcome = outcomes[frame.outcome++];
    if (verdict(outcome) != Verdict::unknown) return StopReason::none;
    const std::uint32_t number = nodes_[outcome].number;
    if (number == 0) {
        enter(outcome);
    } else {
        nodes_[frame.state].low = std::min(nodes_[frame.state].low, number);
    }
    return StopReason::none;
}

StopReason ValueIteration::leave() {
    const StateId state = frames_.back().state;
    const std::uint32_t low = nodes_[state].low;
    if (low == nodes_[state].number) {
        std::size_t begin = stack_.size() - 1;
        while (stack_[begin] != state) --begin;
        const StopReason stopped = back_up(begin);
        if (stopped != StopReason::none) return stopped;
        stack_.resize(begin);
    }
    frames_.pop_back();
    if (!frames_.empty()) {
        std::uint32_t& above = nodes_[frames_.back().state].low;
        above = std::min(above, low);
    }
    return StopReason::none;
}

// Sweep over the component that stands on the stack from `begin` on until nothing changes.
StopReason ValueIteration::back_up(std::size_t begin) {
    StopReason stopped = StopReason::none;
    while (sweep(begin, stopped)) {
    }
    if (stopped != StopReason::none) return stopped;
    for (std::size_t i = begin; i < stack_.size(); ++i) {
        if (!is_unsafe(stack_[i])) mark_safe(stack_[i], nodes_[stack_[i]].choice);
    }
    return StopReason::none;
}

// Those met last first. Returns whether a value changed.
bool ValueIteration::sweep(std::size_t begin, StopReason& stopped) {
    bool has_changed = false;
    for (std::size_t i = stack_.size(); i-- > begin && stopped == StopReason::none;) {
        const StateId state = stack_[i];
        if (is_unsafe(state)) continue;
        std::uint32_t& choice = nodes_[state].choice;
        choice = next_choice(state, choice);
        if (choice == graph_.choices(state).size()) {
            mark_unsafe(state);
            has_changed = true;
        }
        stopped = poll();
    }
    return has_changed && stopped == StopReason::none;
}

std::uint64_t ValueIteration::search_bytes() const {
    return frames_.capacity() * sizeof(Frame) +
           (stack_.capacity() + found_.capacity()) * sizeof(StateId) + nodes_.bytes();
}

}  // namespace surefoot
