#include "oracle/graph_oracle.h"

namespace surefoot {

Answer GraphOracle::decide(const Word* state, Budget& budget) {
    counts_ = Answer{};
    budget_ = &budget;
    if (is_slow_) budget.look_always();
    first_new_ = graph_.num_states();
    const StateId root = graph_.insert(state);
    StopReason stopped = StopReason::none;
    if (verdict(root) == Verdict::unknown && visit(root) == Verdict::unknown) {
        --counts_.expanded;  // the search visits it itself
        stopped = search(root);
    }
    Answer answer = counts_;
    answer.verdict = verdict(root);
    if (answer.verdict == Verdict::unknown) answer.stopped = stopped;
    answer.seconds = budget.seconds();
    return answer;
}

Verdict GraphOracle::visit(StateId state) {
    graph_.expand(state);
    counts_.expanded += !graph_.is_fail(state);
    if (graph_.is_fail(state)) {
        mark_unsafe(state);
    } else if (graph_.is_terminal(state)) {
        mark(state).verdict = Verdict::safe;
    }
    return verdict(state);
}

StopReason GraphOracle::poll() {
    const StopReason stopped =
        budget_->poll({graph_.num_states(), counts_.expanded, 0, bytes(), 0});
    const bool has_too_many = graph_.num_states() - first_new_ > budget_->max_states();
    return stopped == StopReason::none && has_too_many ? StopReason::states : stopped;
}

GraphOracle::Mark& GraphOracle::mark(StateId state) {
    if (index(state) >= marks_.size()) marks_.resize(graph_.num_states());
    return marks_[index(state)];
}

void GraphOracle::mark_unsafe(StateId state) {
    if (is_unsafe(state)) return;
    mark(state) = {Verdict::unsafe, Known::kNoAction, next_rank_++};
}

void GraphOracle::mark_safe(StateId state, std::uint32_t choice) {
    mark(state) = {Verdict::safe, graph_.choices(state)[choice].action, 0};
}

std::uint32_t GraphOracle::next_choice(StateId state, std::uint32_t choice) {
    const auto choices = graph_.choices(state);
    for (; choice < choices.size(); ++choice) {
        ++counts_.pairs;
        bool is_lost = false;
        for (StateId outcome : graph_.outcomes(choices[choice])) {
            ++counts_.outcomes;
            if (is_unsafe(outcome)) {
                is_lost = true;
                break;
            }
        }
        if (!is_lost) break;
    }
    return choice;
}

StopReason GraphOracle::explore(StateId root, std::vector<StateId>& found) {
    found.assign(1, root);
    is_found_.assign(graph_.num_states(), false);
    is_found_[index(root)] = true;
    StopReason stopped = StopReason::none;
    std::size_t kept = 0;
    for (std::size_t next = 0; next < found.size() && stopped == StopReason::none; ++next) {
        const StateId state = found[next];
        if (visit(state) != Verdict::unknown) continue;
        found[kept++] = state;
        is_found_.resize(graph_.num_states(), false);
        for (const Graph::Choice& choice : graph_.choices(state)) {
            ++counts_.pairs;
            for (StateId outcome : graph_.outcomes(choice)) {
                ++counts_.outcomes;
                if (is_found_[index(outcome)] || is_settled(outcome)) continue;
                is_found_[index(outcome)] = true;
                found.push_back(outcome);
            }
        }
        stopped = poll();
    }
    found.resize(kept);
    return stopped;
}

Known GraphOracle::known(const Word* state) const {
    const auto id = graph_.store().find(state);
    if (!id || index(*id) >= marks_.size()) return {};
    const Mark& mark = marks_[index(*id)];
    return {mark.verdict, mark.action, mark.rank, graph_.store()[*id]};
}

std::uint64_t GraphOracle::bytes() const {
    return graph_.bytes() + marks_.capacity() * sizeof(Mark) + is_found_.capacity() / 8 +
           search_bytes();
}

}  // namespace surefoot
