#include "oracle/propagate_unsafe.h"

namespace surefoot {

StopReason PropagateUnsafe::search(StateId root) {
    StopReason stopped = explore(root, found_);
    if (stopped != StopReason::none) return stopped;
    for (std::uint32_t i = 0; i < found_.size(); ++i) place_[found_[i]] = i;
    collect_choices();
    collect_entries_into_states();
    stopped = propagate();
    if (stopped == StopReason::none) settle();
    return stopped;
}

void PropagateUnsafe::collect_choices() {
    entries_.clear();
    choices_left_.clear();
    for (std::uint32_t i = 0; i < found_.size(); ++i) {
        const auto count = static_cast<std::uint32_t>(graph_.choices(found_[i]).size());
        choices_left_.push_back(count);
        entries_.insert(entries_.end(), count, Entry{i});
    }
}

// By counting sort: first how many, then where. Outcomes that are settled have no place.
void PropagateUnsafe::collect_entries_into_states() {
    into_begin_.assign(found_.size() + 1, 0);
    const auto for_each = [&](auto visit) {
        std::uint32_t entry = 0;
        for (StateId state : found_) {
            for (const Graph::Choice& choice : graph_.choices(state)) {
                for (StateId outcome : graph_.outcomes(choice)) visit(entry, outcome);
                ++entry;
            }
        }
    };
    for_each([&](std::uint32_t, StateId outcome) {
        if (verdict(outcome) == Verdict::unknown) ++into_begin_[place_[outcome] + 1];
    });
    for (std::size_t i = 1; i < into_begin_.size(); ++i) into_begin_[i] += into_begin_[i - 1];
    into_.resize(into_begin_.back());
    std::vector<std::uint32_t> next(into_begin_.begin(), into_begin_.end() - 1);
    for_each([&](std::uint32_t entry, StateId outcome) {
        if (verdict(outcome) == Verdict::unknown) into_[next[place_[outcome]]++] = entry;
    });
    lost_.clear();
    for_each([&](std::uint32_t entry, StateId outcome) {
        if (is_unsafe(outcome)) lose(entry);
    });
}

void PropagateUnsafe::lose(std::uint32_t entry) {
    if (entries_[entry].is_lost) return;
    entries_[entry].is_lost = true;
    const std::uint32_t state = entries_[entry].state;
    if (--choices_left_[state] > 0) return;
    mark_unsafe(found_[state]);
    lost_.push_back(state);
}

StopReason PropagateUnsafe::propagate() {
    for (std::size_t next = 0; next < lost_.size(); ++next) {
        const std::uint32_t state = lost_[next];
        for (std::uint32_t i = into_begin_[state]; i < into_begin_[state + 1]; ++i) lose(into_[i]);
        const StopReason stopped = poll();
        if (stopped != StopReason::none) return stopped;
    }
    return StopReason::none;
}

// Whoever kept an action is safe with it.
void PropagateUnsafe::settle() {
    std::uint32_t entry = 0;
    for (StateId state : found_) {
        const auto count = static_cast<std::uint32_t>(graph_.choices(state).size());
        for (std::uint32_t choice = 0; choice < count && !is_unsafe(state); ++choice) {
            if (entries_[entry + choice].is_lost) continue;
            mark_safe(state, choice);
            break;
        }
        entry += count;
    }
}

std::uint64_t PropagateUnsafe::search_bytes() const {
    const std::size_t numbers = choices_left_.capacity() + into_begin_.capacity() +
                                into_.capacity() + lost_.capacity() + found_.capacity();
    return numbers * sizeof(std::uint32_t) + entries_.capacity() * sizeof(Entry) + place_.bytes();
}

}  // namespace surefoot
