#include "verify/box_steps.h"

namespace surefoot {

BoxSteps::BoxSteps(BoxTask& task, const ScoredPolicy& policy, BoxScores& scores)
    : task_(task),
      policy_(policy),
      decider_(policy.decider()),
      scores_(scores),
      num_variables_(task.layout().num_variables()),
      first_silent_(static_cast<std::uint32_t>(task.task().first_silent())),
      forced_task_(task.task()),
      stepper_(forced_task_.stepper()),
      status_(task.task().num_actions()) {}

void BoxSteps::look(const Box& box, std::span<const std::uint32_t> edges, bool raises) {
    box_ = &box;
    edges_ = edges;
    raises_ = raises;
    is_goal_ = task_.is_goal(box, raises_);
    find_applicable();
    find_candidates();
}

// -- which actions ------------------------------------------------------------------------------

void BoxSteps::find_applicable() {
    std::fill(status_.begin(), status_.end(), Truth::no);
    truths_.clear();
    for (std::uint32_t e : edges_) {
        const BoxEdge& edge = task_.edges()[e];
        const Truth truth = task_.formulas().evaluate(edge.guard, *box_, raises_);
        truths_.push_back(truth);
        Truth& status = status_[index(edge.action)];
        status = std::max(status, std::min(truth, has_outcome(edge, truth)));
    }
    for (std::uint32_t action = 0; action < status_.size(); ++action) {
        if (status_[action] == Truth::maybe && leaves_nothing_out(action))
            status_[action] = Truth::yes;
    }
}

// Whether an edge, if it is enabled, has a possible outcome: without one it does not count.
Truth BoxSteps::has_outcome(const BoxEdge& edge, Truth is_enabled) {
    if (!edge.has_chances || is_enabled == Truth::no) return Truth::yes;
    Truth found = Truth::no;
    for (const BoxOutcome& outcome : edge.outcomes)
        found = std::max(found, task_.is_possible(outcome, *box_, raises_));
    return found;
}

// Whether several edges together are enabled everywhere.
bool BoxSteps::leaves_nothing_out(std::uint32_t action) {
    Box rest = *box_;
    std::size_t count = 0;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        const BoxEdge& edge = task_.edges()[edges_[i]];
        if (index(edge.action) != action || truths_[i] == Truth::no || edge.has_chances) continue;
        ++count;
        if (!task_.formulas().assume(edge.not_guard, rest)) return count > 1;
    }
    return false;
}

void BoxSteps::find_candidates() {
    candidates_.clear();
    may_be_undecided_ = is_forced_ = is_alone_ = has_scores_ = false;
    std::uint32_t sure = 0;
    std::uint32_t possible = 0;
    for (std::uint32_t a = 0; a < first_silent_; ++a) {
        sure += status_[a] == Truth::yes;
        possible += status_[a] != Truth::no;
    }
    if (sure == 0) {
        for (std::uint32_t a = first_silent_; a < status_.size(); ++a) {
            if (status_[a] != Truth::no) candidates_.push_back(ActionId{a});
        }
        is_forced_ = possible == 0;
        if (is_forced_) return;
        may_be_undecided_ = !candidates_.empty();
    }
    if (!policy_.is_unfiltered() && possible == 1) {
        is_alone_ = true;
        for (std::uint32_t a = 0; a < first_silent_; ++a) {
            if (status_[a] != Truth::no) candidates_.push_back(ActionId{a});
        }
        return;
    }
    scores_.set_box(*box_);
    has_scores_ = true;
    if (policy_.is_unfiltered())
        add_best_of_all();
    else
        add_best(sure);
    may_be_undecided_ |= scores_.may_be_no_number();
}

void BoxSteps::add_best(std::uint32_t sure) {
    const auto& output_of = policy_.output_of();
    bool has_output = false;
    for (std::uint32_t a = 0; a < first_silent_; ++a) {
        if (status_[a] == Truth::no) continue;
        const std::uint32_t output = output_of[a];
        if (output != ScoredPolicy::kNoOutput) {
            has_output |= status_[a] == Truth::yes;
            if (!is_beaten(a, output)) candidates_.push_back(ActionId{a});
            continue;
        }
        // It is taken where nothing else is applicable.
        if (sure == 0 || (sure == 1 && status_[a] == Truth::yes)) {
            candidates_.push_back(ActionId{a});
            may_be_undecided_ = true;
        }
    }
    may_be_undecided_ |= !has_output && sure != 0;
}

bool BoxSteps::is_beaten(std::uint32_t action, std::uint32_t output) {
    const auto& output_of = policy_.output_of();
    for (std::uint32_t b = 0; b < first_silent_; ++b) {
        const std::uint32_t other = output_of[b];
        if (b == action || status_[b] != Truth::yes || other == ScoredPolicy::kNoOutput) continue;
        if (scores_.is_better(other, output, other < output)) return true;
    }
    return false;
}

void BoxSteps::add_best_of_all() {
    const auto& outputs = policy_.outputs();
    for (std::uint32_t o = 0; o < outputs.size(); ++o) {
        bool is_beaten = false;
        for (std::uint32_t b = 0; b < outputs.size() && !is_beaten; ++b)
            is_beaten = b != o && scores_.is_better(b, o, b < o);
        if (!is_beaten) candidates_.push_back(outputs[o]);
    }
}

// -- what is known ------------------------------------------------------------------------------

bool BoxSteps::is_decided() const {
    if (is_unsure() || has_goal()) return false;
    if (candidates_.empty() || is_forced_) return true;
    return candidates_.size() == 1 && (policy_.is_unfiltered() || is_alone_ || is_applicable());
}

bool BoxSteps::is_applicable() const {
    return std::all_of(candidates_.begin(), candidates_.end(),
                       [&](ActionId action) { return status(action) == Truth::yes; });
}

bool BoxSteps::is_candidate(ActionId action) const {
    return std::find(candidates_.begin(), candidates_.end(), action) != candidates_.end();
}

bool BoxSteps::may_be_enabled(std::uint32_t edge) const {
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        if (edges_[i] == edge) return truths_[i] != Truth::no;
    }
    return false;
}

bool BoxSteps::could_differ() {
    if (!has_scores_ || candidates_.size() != 1) return false;
    const auto& output_of = policy_.output_of();
    const std::uint32_t chosen = output_of[index(candidates_[0])];
    if (chosen == ScoredPolicy::kNoOutput) return false;
    for (std::uint32_t b = 0; b < first_silent_; ++b) {
        const bool is_other = output_of[b] != ScoredPolicy::kNoOutput && output_of[b] != chosen;
        const bool counts = is_other && (policy_.is_unfiltered() || status_[b] != Truth::no);
        if (counts && scores_.could_differ(chosen, output_of[b])) return true;
    }
    return false;
}

// -- where it leads -----------------------------------------------------------------------------

bool BoxSteps::find_images() {
    images_.clear();
    bool is_fine = true;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        if (truths_[i] != Truth::no && is_candidate(task_.edges()[edges_[i]].action))
            is_fine &= add_images(i);
    }
    return is_fine;
}

bool BoxSteps::add_images(std::size_t position) {
    const BoxEdge& edge = task_.edges()[edges_[position]];
    Box source = *box_;
    if (truths_[position] == Truth::maybe &&
        (!task_.formulas().assume(edge.guard, source) || !task_.tighten(source)))
        return true;
    bool raises = false;
    for (std::uint32_t o = 0; o < edge.outcomes.size(); ++o) {
        const BoxOutcome& outcome = edge.outcomes[o];
        if (task_.is_possible(outcome, source, raises) == Truth::no) continue;
        if (auto image = task_.image(outcome, source, raises))
            images_.push_back({edges_[position], o, source, std::move(*image)});
    }
    return !raises;
}

// -- splitting ----------------------------------------------------------------------------------

Cut BoxSteps::split() {
    Formulas& formulas = task_.formulas();
    for (std::uint32_t e : edges_) {
        const BoxEdge& edge = task_.edges()[e];
        if (status(edge.action) != Truth::maybe) continue;
        if (const auto cut = formulas.split(edge.guard, *box_)) return *cut;
    }
    if (has_goal()) {
        if (const auto cut = formulas.split(*task_.goal(), *box_)) return *cut;
    }
    if (const auto cut = split_by_scores()) return *cut;
    for (std::uint32_t e : edges_) {
        if (const auto cut = formulas.split(task_.edges()[e].guard, *box_)) return *cut;
    }
    return split_anywhere(*box_);
}

// Tell apart the two candidates that may score highest.
std::optional<Cut> BoxSteps::split_by_scores() {
    if (!has_scores_ || candidates_.size() < 2) return std::nullopt;
    const auto& output_of = policy_.output_of();
    std::vector<std::pair<double, std::uint32_t>> best;
    for (ActionId action : candidates_) {
        const std::uint32_t output = output_of[index(action)];
        if (output != ScoredPolicy::kNoOutput) best.emplace_back(-scores_.most(output), output);
    }
    if (best.size() < 2) return std::nullopt;
    std::sort(best.begin(), best.end());
    const auto cut = scores_.split(*box_, best[0].second, best[1].second);
    return cut && box_->is_divided_by(*cut) ? cut : std::nullopt;
}

Cut BoxSteps::split_anywhere(const Box& box) const {
    std::uint32_t widest = 0;
    for (std::uint32_t v = 1; v < num_variables_; ++v) {
        if (box.width(v) > box.width(widest)) widest = v;
    }
    return middle_cut(task_.layout(), box, widest);
}

bool BoxSteps::is_state(const Box& box) const {
    for (std::size_t v = 0; v < num_variables_; ++v) {
        if (box.lo[v] != box.hi[v]) return false;
    }
    return true;
}

// -- single states ------------------------------------------------------------------------------

std::optional<ActionId> BoxSteps::decide(const Word* state) {
    outcomes_.clear();
    const std::size_t words = task_.task().words();
    stepper_->applicable(state, applicable_);
    if (applicable_.empty()) return std::nullopt;
    ActionId action = applicable_.front();
    if (action != forced_task_.forced()) {
        action = decider_->decide(state, words, applicable_);
        const bool can =
            std::find(applicable_.begin(), applicable_.end(), action) != applicable_.end();
        if (!can && policy_.is_unfiltered()) return std::nullopt;
        if (!can) check_decision(action, state, words, applicable_);
    }
    stepper_->outcomes(state, action, outcomes_);
    return action;
}

}  // namespace surefoot
