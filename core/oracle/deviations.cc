#include "oracle/deviations.h"

namespace surefoot {

Answer Deviations::decide(const Word* state, Budget& budget) {
    Answer answer = GraphOracle::decide(state, budget);
    const Node node = nodes_.get(*graph_.store().find(state));
    if (node.is_done) {
        answer.verdict = node.level == kNone ? Verdict::unsafe : Verdict::safe;
        answer.stopped = StopReason::none;
    }
    return answer;
}

std::uint32_t Deviations::deviations(const Word* state) const {
    const auto id = graph_.store().find(state);
    if (!id || is_unsafe(*id)) return kNone;
    return is_safe(*id) ? 0 : nodes_.get(*id).level;
}

Known Deviations::known(const Word* state) const {
    const auto id = graph_.store().find(state);
    if (!id || is_safe(*id)) return GraphOracle::known(state);
    if (is_unsafe(*id)) return {Verdict::unsafe, Known::kNoAction, 0, graph_.store()[*id]};
    const Node node = nodes_.get(*id);
    if (!node.is_done || node.level != kNone) return {};
    return {Verdict::unsafe, Known::kNoAction, node.rank, graph_.store()[*id]};
}

bool Deviations::is_settled(StateId state) const {
    return verdict(state) != Verdict::unknown || nodes_.get(state).is_done;
}

// A level that nobody leaves is the last one, unless what was done before changes above it.
StopReason Deviations::search(StateId root) {
    if (nodes_[root].is_done) return StopReason::none;
    StopReason stopped = explore(root, found_);
    if (stopped != StopReason::none) return stopped;
    for (std::uint32_t i = 0; i < found_.size(); ++i)
        nodes_[found_[i]] = {false, true, false, kNone, 0, i};
    collect_policy_edges();
    find_last_change();
    members_ = found_;
    for (std::uint32_t level = 0; !members_.empty(); ++level) {
        stopped = lose_at_level(level);
        if (stopped != StopReason::none) return stopped;
        if (!leave(level) && level > last_change_) break;
    }
    for (StateId state : found_) nodes_[state].is_done = true;
    ranks_given_ += static_cast<std::uint32_t>(members_.size());
    return StopReason::none;
}

// By counting sort, as the policy's decision is the first choice of every state.
void Deviations::collect_policy_edges() {
    into_begin_.assign(found_.size() + 1, 0);
    const auto for_each = [&](auto visit) {
        for (StateId state : found_) {
            for (StateId outcome : graph_.outcomes(graph_.choices(state).front())) {
                if (!is_settled(outcome)) visit(state, nodes_[outcome].place);
            }
        }
    };
    for_each([&](StateId, std::uint32_t place) { ++into_begin_[place + 1]; });
    for (std::size_t i = 1; i < into_begin_.size(); ++i) into_begin_[i] += into_begin_[i - 1];
    into_.resize(into_begin_.back());
    std::vector<std::uint32_t> next(into_begin_.begin(), into_begin_.end() - 1);
    for_each([&](StateId state, std::uint32_t place) { into_[next[place]++] = state; });
}

// Terminal outcomes have the number 0.
void Deviations::find_last_change() {
    last_change_ = 0;
    for (StateId state : found_) {
        for (const Graph::Choice& choice : graph_.choices(state)) {
            for (StateId outcome : graph_.outcomes(choice)) {
                const Node node = nodes_.get(outcome);
                if (node.is_done && node.level != kNone)
                    last_change_ = std::max(last_change_, node.level);
            }
        }
    }
}

// Of the members, find those that are not safe with `level` differences.
StopReason Deviations::lose_at_level(std::uint32_t level) {
    lost_.clear();
    for (StateId state : members_) nodes_[state].rank = 0;
    for (StateId state : members_) {
        if (loses_decision(state, level) && loses_others(state, level)) lose(state);
    }
    for (std::size_t next = 0; next < lost_.size(); ++next) {
        const std::uint32_t place = nodes_[lost_[next]].place;
        for (std::uint32_t i = into_begin_[place]; i < into_begin_[place + 1]; ++i) {
            const Node& node = nodes_[into_[i]];
            if (node.is_member && node.rank == 0 && loses_others(into_[i], level)) lose(into_[i]);
        }
        const StopReason stopped = poll();
        if (stopped != StopReason::none) return stopped;
    }
    return StopReason::none;
}

void Deviations::lose(StateId state) {
    lost_.push_back(state);
    nodes_[state].rank = ranks_given_ + static_cast<std::uint32_t>(lost_.size());
}

// Whether the policy's decision may lead to somebody who was lost before.
bool Deviations::loses_decision(StateId state, std::uint32_t level) const {
    for (StateId outcome : graph_.outcomes(graph_.choices(state).front())) {
        const Node node = nodes_.get(outcome);
        if (is_unsafe(outcome) || (node.is_done && node.level > level)) return true;
    }
    return false;
}

// Whether every action but the policy's may lead to somebody who is not safe at the level before.
// Looks at them once: the decision may have thousands of outcomes that are lost.
bool Deviations::loses_others(StateId state, std::uint32_t level) {
    if (level == 0) return true;
    if (nodes_[state].has_way_out) return false;
    for (const Graph::Choice& choice : graph_.choices(state).subspan(1)) {
        ++counts_.pairs;
        bool is_lost = false;
        for (StateId outcome : graph_.outcomes(choice)) {
            ++counts_.outcomes;
            const Node node = nodes_.get(outcome);
            is_lost |= is_unsafe(outcome) || (node.is_done ? node.level >= level : node.is_member);
        }
        if (!is_lost) {
            nodes_[state].has_way_out = true;
            return false;
        }
    }
    return true;
}

// Members that were not lost are safe with `level` differences; return whether there is one.
bool Deviations::leave(std::uint32_t level) {
    std::size_t kept = 0;
    for (StateId state : members_) {
        Node& node = nodes_[state];
        if (node.rank != 0) {
            members_[kept++] = state;
        } else {
            node.level = level;
            node.is_member = false;
        }
    }
    const bool has_left = kept < members_.size();
    members_.resize(kept);
    return has_left;
}

std::uint64_t Deviations::search_bytes() const {
    const std::size_t numbers = found_.capacity() + members_.capacity() + into_begin_.capacity() +
                                into_.capacity() + lost_.capacity();
    return numbers * sizeof(std::uint32_t) + nodes_.bytes();
}

}  // namespace surefoot
