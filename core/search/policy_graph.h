/*
  What a policy does, state by state.

  PolicyGraph keeps states with the policy's decision and its outcomes: each is looked up once and
  then read. A state is added (its kind is known at once), and expanded when somebody needs to know
  how runs go on there. Many states are expanded at once where they can be: some policies decide
  faster so.

  Ending says how a run that comes to an expanded state ends there, if it does. Where silent actions
  alone are applicable the step is forced: the decision is PolicyGraph::forced(), and the outcomes
  are those of all of them.
*/
#pragma once

#include <optional>

#include "policy/policy.h"
#include "search/state_store.h"
#include "task/forced_task.h"

namespace surefoot {

enum class Ending : std::uint8_t { none, fail, goal, dead_end, inapplicable };

class PolicyGraph {
public:
    PolicyGraph(const Task& task, Policy& policy);

    const Task& task() const { return task_; }
    std::uint32_t size() const { return store_.size(); }
    std::uint64_t bytes() const;
    void clear();

    StateId add(const Word* state);
    std::optional<StateId> find(const Word* state) const { return store_.find(state); }
    const Word* state(StateId id) const { return store_[id]; }
    StateKind kind(StateId id) const { return nodes_[index(id)].kind; }

    // Throw ModelError or PolicyError; the graph can still be used.
    void expand(StateId id);
    void expand(std::span<const StateId> ids);

    // Of expanded states.
    bool is_expanded(StateId id) const { return nodes_[index(id)].is_expanded; }
    Ending ending(StateId id) const { return nodes_[index(id)].ending; }
    ActionId action(StateId id) const { return nodes_[index(id)].action; }
    std::span<const StateId> outcomes(StateId id) const {
        const Node& node = nodes_[index(id)];
        return std::span(outcomes_).subspan(node.first, node.count);
    }

    // Computed when first asked for.
    double distance_to_fail(StateId id);

    // Whether the policy was asked.
    bool is_decided(StateId id) const {
        const Node& node = nodes_[index(id)];
        const bool is_over = node.kind != StateKind::open || node.ending == Ending::dead_end;
        return node.is_expanded && !is_over && !is_forced(node.action);
    }

    bool is_forced(ActionId action) const { return forced_ && forced_->forced() == action; }

    // The action of the task that leads from an expanded state to one of its outcomes: the
    // decision or, where the step is forced, a silent one.
    ActionId action_to(StateId from, StateId outcome);

private:
    struct Node {
        std::uint64_t first;
        std::uint32_t count;
        ActionId action;
        StateKind kind;
        Ending ending;
        bool has_kind;  // false: computing it was an error
        bool is_expanded;
    };

    // Set how runs end here, if they do before anything is decided; else return false and leave
    // what is to be decided among in applicable_.
    bool ends_without_decision(StateId id);
    bool is_forced_here() const { return !applicable_.empty() && is_forced(applicable_.front()); }
    void decided(StateId id, std::span<const ActionId> applicable, ActionId decision);
    void take(StateId id, ActionId action);
    ActionId silent_action(const Word* state, const Word* outcome);
    void end(StateId id, Ending ending);

    const Task& task_;
    Policy& policy_;
    std::optional<ForcedTask> forced_;
    std::unique_ptr<Stepper> plain_;    // of the task as it is
    std::unique_ptr<Stepper> stepper_;  // with forced steps
    StateStore store_;
    std::vector<Node> nodes_;
    std::vector<StateId> outcomes_;
    std::vector<double> distances_;  // not a number: not computed yet
    std::vector<ActionId> applicable_;
    Expansion expansion_;
    Questions questions_;
    std::vector<StateId> asked_;
    std::vector<ActionId> decisions_;
};

}  // namespace surefoot
