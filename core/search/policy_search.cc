#include "search/policy_search.h"

#include <algorithm>

namespace surefoot {

namespace {

constexpr std::size_t kPart = 1024;  // states that are expanded at once

// Expand everything reachable from states that are in the graph, nearest first. `visit` sees each
// part after it was expanded and returns whether to go on.
template <typename Visit>
StopReason expand_reachable(PolicyGraph& graph, std::vector<StateId>& queue,
                            std::vector<bool>& is_queued, Budget& budget, Visit& visit) {
    for (std::size_t at = 0; at < queue.size();) {
        const std::size_t end = std::min(at + kPart, queue.size());
        graph.expand(std::span(queue).subspan(at, end - at));
        is_queued.resize(graph.size());
        for (std::size_t i = at; i < end; ++i) {
            for (StateId outcome : graph.outcomes(queue[i])) {
                if (is_queued[index(outcome)]) continue;
                is_queued[index(outcome)] = true;
                queue.push_back(outcome);
                visit.link(i);
            }
        }
        if (visit.is_done(at, end)) return StopReason::none;
        at = end;
        const std::uint64_t bytes = graph.bytes() + queue.capacity() * 2 * sizeof(StateId);
        const Progress progress{graph.size(), at, 0, bytes, 0};
        if (graph.size() > budget.max_states()) return StopReason::states;
        const StopReason reason =
            bytes > budget.max_bytes() ? StopReason::memory : budget.look(progress);
        if (reason != StopReason::none) return reason;
    }
    return StopReason::none;
}

void add_all(PolicyGraph& graph, const std::vector<Word>& states, std::vector<StateId>& queue,
             std::vector<bool>& is_queued) {
    const std::size_t width = graph.task().words();
    for (std::size_t at = 0; at < states.size(); at += width) {
        const StateId id = graph.add(states.data() + at);
        is_queued.resize(graph.size());
        if (!is_queued[index(id)]) queue.push_back(id);
        is_queued[index(id)] = true;
    }
}

// Who leads to whom, backwards.
class Predecessors {
public:
    explicit Predecessors(const PolicyGraph& graph) : begins_(graph.size() + 1, 0) {
        for_each_edge(graph, [&](StateId, StateId to) { ++begins_[index(to) + 1]; });
        for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
        from_.resize(begins_.back());
        std::vector<std::uint64_t> at(begins_.begin(), begins_.end() - 1);
        for_each_edge(graph, [&](StateId from, StateId to) { from_[at[index(to)]++] = from; });
    }

    // Mark everything that leads to something marked.
    void spread(std::vector<bool>& marked) const {
        std::vector<StateId> open;
        for (std::uint32_t i = 0; i < marked.size(); ++i) {
            if (marked[i]) open.push_back(StateId{i});
        }
        while (!open.empty()) {
            const std::uint32_t to = index(open.back());
            open.pop_back();
            for (std::uint64_t i = begins_[to]; i < begins_[to + 1]; ++i) {
                if (marked[index(from_[i])]) continue;
                marked[index(from_[i])] = true;
                open.push_back(from_[i]);
            }
        }
    }

private:
    template <typename Visit>
    static void for_each_edge(const PolicyGraph& graph, Visit visit) {
        for (std::uint32_t i = 0; i < graph.size(); ++i) {
            for (StateId to : graph.outcomes(StateId{i})) visit(StateId{i}, to);
        }
    }

    std::vector<std::uint64_t> begins_;
    std::vector<StateId> from_;
};

struct Everything {
    void link(std::size_t) {}
    bool is_done(std::size_t, std::size_t) { return false; }
};

struct FirstFail {
    const PolicyGraph& graph;
    const std::vector<StateId>& queue;
    std::vector<std::size_t>& parents;
    std::size_t found = 0;

    void link(std::size_t parent) { parents.push_back(parent); }
    bool is_done(std::size_t begin, std::size_t end) {
        for (found = begin; found < end; ++found) {
            if (graph.kind(queue[found]) == StateKind::fail) return true;
        }
        return false;
    }
};

// The run that goes through these states of the graph.
FailingRun run_through(PolicyGraph& graph, const std::vector<StateId>& path) {
    FailingRun run;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const Word* const state = graph.state(path[i]);
        run.states.insert(run.states.end(), state, state + graph.task().words());
        if (i + 1 < path.size()) run.actions.push_back(graph.action_to(path[i], path[i + 1]));
    }
    return run;
}

}  // namespace

CanFailResult can_fail(PolicyGraph& graph, const std::vector<Word>& states, Budget& budget) {
    CanFailResult result;
    std::vector<StateId> queue;
    std::vector<bool> is_queued;
    add_all(graph, states, queue, is_queued);
    Everything visit;
    result.stopped = expand_reachable(graph, queue, is_queued, budget, visit);
    std::vector<bool> fails(graph.size());
    std::vector<bool> is_open(graph.size());
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        fails[i] = graph.kind(StateId{i}) == StateKind::fail;
        is_open[i] = !graph.is_expanded(StateId{i}) && graph.kind(StateId{i}) == StateKind::open;
    }
    const Predecessors predecessors(graph);
    predecessors.spread(fails);
    predecessors.spread(is_open);
    const std::size_t width = graph.task().words();
    for (std::size_t at = 0; at < states.size(); at += width) {
        const std::uint32_t id = index(*graph.find(states.data() + at));
        result.answers.push_back(fails[id]     ? CanFail::yes
                                 : is_open[id] ? CanFail::unknown
                                               : CanFail::no);
    }
    result.states = graph.size();
    result.bytes = graph.bytes();
    return result;
}

NearestFail nearest_fail(PolicyGraph& graph, const std::vector<Word>& states, Budget& budget) {
    NearestFail result;
    std::vector<StateId> queue;
    std::vector<bool> is_queued;
    add_all(graph, states, queue, is_queued);
    const std::size_t starts = queue.size();
    std::vector<std::size_t> parents(starts);
    FirstFail visit{graph, queue, parents};
    result.stopped = expand_reachable(graph, queue, is_queued, budget, visit);
    if (result.stopped != StopReason::none || visit.found >= queue.size() ||
        graph.kind(queue[visit.found]) != StateKind::fail)
        return result;
    std::vector<StateId> path;
    for (std::size_t at = visit.found;; at = parents[at]) {
        path.push_back(queue[at]);
        if (at < starts) break;
    }
    std::reverse(path.begin(), path.end());
    result.run = run_through(graph, path);
    return result;
}

}  // namespace surefoot
