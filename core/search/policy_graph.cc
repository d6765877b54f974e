#include "search/policy_graph.h"

#include <algorithm>
#include <cmath>

namespace surefoot {

PolicyGraph::PolicyGraph(const Task& task, const Policy& policy, const Guidance* guidance)
    : PolicyGraph(task, policy, std::make_shared<GraphNodes>(task.words(), false), guidance) {}

PolicyGraph::PolicyGraph(const Task& task, const Policy& policy, std::shared_ptr<GraphNodes> nodes,
                         const Guidance* guidance)
    : task_(task),
      is_unfiltered_(policy.is_unfiltered()),
      decider_(policy.decider()),
      plain_(task.stepper()),
      nodes_(std::move(nodes)),
      questions_(task.words()) {
    if (task.first_silent() < task.num_actions()) forced_.emplace(task);
    stepper_ = forced_ ? forced_->stepper() : task.stepper();
    if (guidance == nullptr) return;
    if (guidance->words() != task.words())
        throw std::invalid_argument("the guidance is for other states");
    guide_.emplace(*guidance);
}

void PolicyGraph::use(std::shared_ptr<GraphNodes> nodes) {
    tell();
    nodes_ = std::move(nodes);
    own_ = {};
    block_ = nullptr;
    block_left_ = 0;
}

StateId PolicyGraph::add(const Word* state) {
    const StateId id = nodes_->add(state, own_);
    std::atomic<std::uint8_t>& kind = node(id).kind;
    if (kind.load(std::memory_order_relaxed) == GraphNode::kNoKind)
        kind.store(static_cast<std::uint8_t>(stepper_->kind(state)), std::memory_order_relaxed);
    return id;
}

bool PolicyGraph::ends_without_decision(StateId id) {
    switch (kind(id)) {
        case StateKind::fail: end(id, RunEnd::fail); return true;
        case StateKind::goal: end(id, RunEnd::goal); return true;
        case StateKind::open: break;
    }
    stepper_->applicable(state(id), applicable_);
    if (!applicable_.empty()) return false;
    end(id, RunEnd::dead_end);
    return true;
}

void PolicyGraph::expand(StateId id) {
    if (is_expanded(id) || ends_without_decision(id)) return;
    if (is_forced_here()) return take(id, applicable_.front());
    decided(id, applicable_, decider_->decide(state(id), task_.words(), applicable_));
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
    decider_->decide_all(questions_, decisions_.data());
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        if (!is_expanded(asked_[i])) decided(asked_[i], questions_.applicable(i), decisions_[i]);
    }
}

void PolicyGraph::decided(StateId id, std::span<const ActionId> applicable, ActionId decision) {
    if (is_unfiltered_ && !std::binary_search(applicable.begin(), applicable.end(), decision)) {
        return nodes_->publish(id, {RunEnd::inapplicable, decision, {}, true}, own_);
    }
    check_decision(decision, state(id), task_.words(), applicable);
    take(id, decision);
}

void PolicyGraph::take(StateId id, ActionId action) {
    stepper_->outcomes(state(id), action, expansion_);
    const std::size_t width = task_.words();
    const std::size_t count = expansion_.words.size() / width;
    if (count == 0) throw std::runtime_error("an applicable action has no outcome");
    StateId* const outcomes = room_for(count);
    for (std::size_t i = 0; i < count; ++i) outcomes[i] = add(expansion_.words.data() + i * width);
    block_ += count;
    block_left_ -= count;
    nodes_->publish(id, {RunEnd::none, action, {outcomes, count}, !is_forced(action)}, own_);
}

// Room for so many outcomes; it is taken when block_ moves on.
StateId* PolicyGraph::room_for(std::size_t count) {
    if (block_left_ < count) {
        block_left_ = std::max(count, GraphNodes::kBlock);
        block_ = nodes_->add_block(block_left_);
    }
    return block_;
}

double PolicyGraph::distance(StateId id) {
    std::atomic<double>& known = node(id).distance;
    double distance = known.load(std::memory_order_relaxed);
    if (!std::isnan(distance)) return distance;
    distance = guide_ ? guide_->distance(state(id)) : stepper_->distance_to_fail(state(id));
    known.store(distance, std::memory_order_relaxed);
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
