#include "oracle/npi.h"

namespace surefoot {

StopReason Npi::search(StateId root) {
    do {
        const StopReason stopped = walk(root);
        if (stopped != StopReason::none) return stopped;
    } while (improve() && !is_unsafe(root));
    if (is_unsafe(root)) return StopReason::none;
    for (StateId state : met_) mark_safe(state, progress_[state].choice);
    return StopReason::none;
}

// Meet every state that the current actions reach.
StopReason Npi::walk(StateId root) {
    ++round_;
    met_.clear();
    meet(root);
    for (std::size_t next = 0; next < met_.size(); ++next) {
        const StateId state = met_[next];
        const Graph::Choice choice = graph_.choices(state)[progress_[state].choice];
        ++counts_.pairs;
        for (std::uint32_t i = choice.begin; i < choice.end; ++i) {
            ++counts_.outcomes;
            meet(graph_.outcome(i));
        }
        const StopReason stopped = poll();
        if (stopped != StopReason::none) return stopped;
    }
    return StopReason::none;
}

void Npi::meet(StateId state) {
    if (verdict(state) != Verdict::unknown || progress_[state].round == round_) return;
    progress_[state].round = round_;
    if (visit(state) == Verdict::unknown) met_.push_back(state);
}

// Replace actions that are lost; return whether there was one. Backwards, so that what is lost far
// away reaches the root in few rounds.
bool Npi::improve() {
    bool has_changed = false;
    for (auto at = met_.rbegin(); at != met_.rend(); ++at) {
        std::uint32_t& choice = progress_[*at].choice;
        const std::uint32_t next = next_choice(*at, choice);
        has_changed |= next != choice;
        choice = next;
        if (choice == graph_.choices(*at).size()) mark_unsafe(*at);
    }
    return has_changed;
}

std::uint64_t Npi::search_bytes() const {
    return met_.capacity() * sizeof(StateId) + progress_.bytes();
}

}  // namespace surefoot
