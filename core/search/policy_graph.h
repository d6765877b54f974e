/*
  What a policy does, state by state.

  PolicyGraph keeps states with the policy's decision and its outcomes: each is looked up once and
  then read. A state is added (its kind is known at once), and expanded when somebody needs to know
  how runs go on there. Many states are expanded at once where they can be: some policies decide
  faster so.

  A PolicyGraph belongs to one thread. Several may share their nodes (graph_nodes.h): then each
  state is expanded once, by whoever comes first.

  ending() says how a run that comes to an expanded state ends there, if it does. Where silent
  actions alone are applicable the step is forced: the decision is the action of ForcedTask, and the
  outcomes are those of all silent actions.
*/
#pragma once

#include <optional>

#include "policy/policy.h"
#include "search/graph_nodes.h"
#include "task/forced_task.h"
#include "task/guidance.h"

namespace surefoot {

class PolicyGraph {
public:
    // With nodes of its own, for one thread, or with those of others. Graphs that share nodes have
    // the same guidance, which must stay; without one distances are those to fail.
    PolicyGraph(const Task& task, const Policy& policy, const Guidance* guidance = nullptr);
    PolicyGraph(const Task& task, const Policy& policy, std::shared_ptr<GraphNodes> nodes,
                const Guidance* guidance = nullptr);

    const Task& task() const { return task_; }
    const std::shared_ptr<GraphNodes>& nodes() const { return nodes_; }
    std::uint32_t size() const { return nodes_->size(); }
    std::uint64_t bytes() const { return nodes_->bytes(); }

    // Let the counts of the nodes include what was done here.
    void tell() { nodes_->tell(own_); }

    // Go on with other nodes.
    void use(std::shared_ptr<GraphNodes> nodes);

    StateId add(const Word* state);
    std::optional<StateId> find(const Word* state) const { return nodes_->find(state); }
    const Word* state(StateId id) const { return node(id).state; }
    StateKind kind(StateId id) const {
        return static_cast<StateKind>(node(id).kind.load(std::memory_order_relaxed));
    }

    // Throw ModelError or PolicyError; the graph can still be used.
    void expand(StateId id);
    void expand(std::span<const StateId> ids);

    bool is_expanded(StateId id) const { return node(id).is_expanded(); }

    // Of expanded states; others have no outcomes.
    RunEnd ending(StateId id) const { return node(id).ending; }
    ActionId action(StateId id) const { return node(id).action; }
    std::span<const StateId> outcomes(StateId id) const {
        return {node(id).outcomes, node(id).count};
    }

    // Computed when first asked for.
    double distance(StateId id);

    bool is_forced(ActionId action) const { return forced_ && forced_->forced() == action; }

    // The action of the task that leads from an expanded state to one of its outcomes: the
    // decision or, where the step is forced, a silent one.
    ActionId action_to(StateId from, StateId outcome);

private:
    GraphNode& node(StateId id) const { return (*nodes_)[id]; }

    // Set how runs end here, if they do before anything is decided; else return false and leave
    // what is to be decided among in applicable_.
    bool ends_without_decision(StateId id);
    bool is_forced_here() const { return !applicable_.empty() && is_forced(applicable_.front()); }
    void decided(StateId id, std::span<const ActionId> applicable, ActionId decision);
    void take(StateId id, ActionId action);
    ActionId silent_action(const Word* state, const Word* outcome);
    void end(StateId id, RunEnd ending) {
        nodes_->publish(id, {ending, ActionId{0}, {}, false}, own_);
    }
    StateId* room_for(std::size_t count);

    const Task& task_;
    bool is_unfiltered_;
    std::unique_ptr<Decider> decider_;
    std::optional<ForcedTask> forced_;
    std::unique_ptr<Stepper> plain_;    // of the task as it is
    std::unique_ptr<Stepper> stepper_;  // with forced steps
    std::optional<Guide> guide_;
    std::shared_ptr<GraphNodes> nodes_;
    GraphNodes::Own own_;
    StateId* block_ = nullptr;  // where the next outcomes go
    std::size_t block_left_ = 0;
    std::vector<ActionId> applicable_;
    Expansion expansion_;
    Questions questions_;
    std::vector<StateId> asked_;
    std::vector<ActionId> decisions_;
};

}  // namespace surefoot
