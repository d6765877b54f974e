#include "search/policy_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace surefoot {

PolicyGraph::PolicyGraph(const Task& task, Policy& policy)
    : task_(task),
      policy_(policy),
      plain_(task.stepper()),
      store_(task.words()),
      questions_(task.words()) {
    if (task.first_silent() < task.num_actions()) forced_.emplace(task);
    stepper_ = forced_ ? forced_->stepper() : task.stepper();
}

std::uint64_t PolicyGraph::bytes() const {
    return store_.peak_bytes() + nodes_.capacity() * sizeof(Node) +
           outcomes_.capacity() * sizeof(StateId) + distances_.capacity() * sizeof(double);
}

void PolicyGraph::clear() {
    store_ = StateStore(task_.words());
    nodes_ = std::vector<Node>();  // `= {}` would keep the memory
    outcomes_ = std::vector<StateId>();
    distances_ = std::vector<double>();
}

StateId PolicyGraph::add(const Word* state) {
    const auto [id, is_new] = store_.insert(state);
    if (is_new) nodes_.push_back({0, 0, ActionId{0}, StateKind::open, Ending::none, false, false});
    Node& node = nodes_[index(id)];
    if (!node.has_kind) {
        node.kind = stepper_->kind(state);
        node.has_kind = true;
    }
    return id;
}

bool PolicyGraph::ends_without_decision(StateId id) {
    switch (kind(id)) {
        case StateKind::fail: end(id, Ending::fail); return true;
        case StateKind::goal: end(id, Ending::goal); return true;
        case StateKind::open: break;
    }
    stepper_->applicable(state(id), applicable_);
    if (!applicable_.empty()) return false;
    end(id, Ending::dead_end);
    return true;
}

void PolicyGraph::expand(StateId id) {
    if (is_expanded(id) || ends_without_decision(id)) return;
    if (is_forced_here()) return take(id, applicable_.front());
    decided(id, applicable_, policy_.decide(state(id), task_.words(), applicable_));
}

void PolicyGraph::expand(std::span<const StateId> ids) {
    if (ids.size() == 1) return expand(ids.front());
    questions_.clear();
    asked_.clear();
    for (StateId id : ids) {
        if (is_expanded(id) || ends_without_decision(id)) continue;
        if (is_forced_here()) {
            take(id, applicable_.front());
            continue;
        }
        asked_.push_back(id);
        questions_.add(state(id), applicable_);
    }
    if (asked_.empty()) return;
    decisions_.resize(asked_.size());
    policy_.decide_all(questions_, decisions_.data());
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        if (!is_expanded(asked_[i])) decided(asked_[i], questions_.applicable(i), decisions_[i]);
    }
}

void PolicyGraph::decided(StateId id, std::span<const ActionId> applicable, ActionId decision) {
    if (policy_.is_unfiltered() &&
        !std::binary_search(applicable.begin(), applicable.end(), decision)) {
        nodes_[index(id)].action = decision;
        return end(id, Ending::inapplicable);
    }
    check_decision(decision, state(id), task_.words(), applicable);
    take(id, decision);
}

void PolicyGraph::take(StateId id, ActionId action) {
    stepper_->outcomes(state(id), action, expansion_);
    const std::size_t width = task_.words();
    const std::size_t count = expansion_.words.size() / width;
    if (count == 0) throw std::runtime_error("an applicable action has no outcome");
    const std::size_t first = outcomes_.size();
    try {
        for (std::size_t i = 0; i < count; ++i)
            outcomes_.push_back(add(expansion_.words.data() + i * width));
    } catch (...) {
        outcomes_.resize(first);
        throw;
    }
    Node& node = nodes_[index(id)];
    node.first = first;
    node.count = static_cast<std::uint32_t>(count);
    node.action = action;
    node.is_expanded = true;
}

void PolicyGraph::end(StateId id, Ending ending) {
    nodes_[index(id)].ending = ending;
    nodes_[index(id)].is_expanded = true;
}

double PolicyGraph::distance_to_fail(StateId id) {
    if (distances_.size() <= index(id))
        distances_.resize(nodes_.size(), std::numeric_limits<double>::quiet_NaN());
    double& distance = distances_[index(id)];
    if (std::isnan(distance)) distance = stepper_->distance_to_fail(state(id));
    return distance;
}

ActionId PolicyGraph::action_to(StateId from, StateId outcome) {
    const ActionId decision = action(from);
    return is_forced(decision) ? silent_action(state(from), state(outcome)) : decision;
}

ActionId PolicyGraph::silent_action(const Word* state, const Word* outcome) {
    const std::size_t width = task_.words();
    for (auto a = task_.first_silent(); a < task_.num_actions(); ++a) {
        const ActionId action{static_cast<std::uint32_t>(a)};
        plain_->outcomes(state, action, expansion_);
        for (std::size_t at = 0; at < expansion_.words.size(); at += width) {
            if (std::equal(outcome, outcome + width, expansion_.words.data() + at)) return action;
        }
    }
    throw std::logic_error("a forced step has no action");
}

}  // namespace surefoot
