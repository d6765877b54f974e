#include "oracle/lrtdp.h"

namespace surefoot {

StopReason Lrtdp::search(StateId root) {
    Random random(seed_, index(root));
    StopReason stopped = StopReason::none;
    while (verdict(root) == Verdict::unknown && stopped == StopReason::none) {
        stopped = run_trial(root, random);
        if (stopped == StopReason::none) stopped = solve_trial();
    }
    return stopped;
}

// Follow the greedy policy until the run ends, is settled or comes round.
StopReason Lrtdp::run_trial(StateId root, Random& random) {
    ++trial_;
    run_.clear();
    StateId state = root;
    StopReason stopped = StopReason::none;
    while (stopped == StopReason::none && verdict(state) == Verdict::unknown &&
           progress_[state].trial != trial_ && visit(state) == Verdict::unknown) {
        progress_[state].trial = trial_;
        run_.push_back(state);
        if (!back_up(state)) break;
        const auto outcomes = graph_.outcomes(graph_.choices(state)[progress_[state].choice]);
        state = outcomes[random.below(outcomes.size())];
        stopped = poll();
    }
    return stopped;
}

// From the end of the trial, settle what can be: label what is solved, mark what is lost. Stop at
// the first state that is neither.
StopReason Lrtdp::solve_trial() {
    StopReason stopped = StopReason::none;
    for (; !run_.empty() && stopped == StopReason::none; run_.pop_back()) {
        if (verdict(run_.back()) != Verdict::unknown) continue;
        if (!check_solved(run_.back(), stopped) && !is_unsafe(run_.back())) break;
    }
    return stopped;
}

// Walk the greedy envelope. If no value in it changes it is safe, else back up what was walked.
bool Lrtdp::check_solved(StateId root, StopReason& stopped) {
    ++check_;
    envelope_.assign(1, root);
    progress_[root].check = check_;
    bool is_solved = true;
    for (std::size_t next = 0; next < envelope_.size(); ++next) {
        const StateId state = envelope_[next];
        if (visit(state) == Verdict::unknown && back_up(state)) {
            const Graph::Choice choice = graph_.choices(state)[progress_[state].choice];
            for (StateId outcome : graph_.outcomes(choice)) {
                if (verdict(outcome) != Verdict::unknown) continue;
                if (progress_[outcome].check == check_) continue;
                progress_[outcome].check = check_;
                envelope_.push_back(outcome);
            }
        }
        is_solved &= !is_unsafe(state);
        stopped = poll();
        if (stopped != StopReason::none) return false;
    }
    for (auto at = envelope_.rbegin(); at != envelope_.rend(); ++at) {
        if (verdict(*at) != Verdict::unknown) continue;
        if (is_solved) {
            mark_safe(*at, progress_[*at].choice);
        } else {
            back_up(*at);
        }
    }
    return is_solved;
}

// Find the greedy action; return whether the value stays 0.
bool Lrtdp::back_up(StateId state) {
    std::uint32_t& choice = progress_[state].choice;
    choice = next_choice(state, choice);
    const bool is_lost = choice == graph_.choices(state).size();
    if (is_lost) mark_unsafe(state);
    return !is_lost;
}

std::uint64_t Lrtdp::search_bytes() const {
    return (run_.capacity() + envelope_.capacity()) * sizeof(StateId) + progress_.bytes();
}

}  // namespace surefoot
