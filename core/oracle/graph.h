/*
  The part of a task that an oracle has expanded, kept as numbers.

  Graph expands a state once and keeps its choices: expanding it again costs nothing but looking.
  The order of the choices is that of the actions, or begins with the policy's decision, or is
  shuffled (by seed and state only).
*/
#pragma once

#include <span>
#include <vector>

#include "policy/policy.h"
#include "search/state_store.h"
#include "task/task.h"

namespace surefoot {

enum class Order : std::uint8_t { app, learn, rand };

class Graph {
public:
    struct Choice {
        ActionId action;
        std::uint32_t begin;  // of its outcomes
        std::uint32_t end;
    };

    // `policy` is needed for Order::learn.
    struct Ordering {
        Order order = Order::app;
        std::uint64_t seed = 0;
        const Policy* policy = nullptr;
    };

    Graph(const Task& task, const Ordering& ordering);

    StateId insert(const Word* state);
    bool is_expanded(StateId state) const { return nodes_[index(state)].is_expanded; }

    // Expand the state unless it is. Ids stay valid; spans of choices and outcomes do not.
    void expand(StateId state);

    // Of expanded states.
    bool is_fail(StateId state) const { return nodes_[index(state)].kind == StateKind::fail; }
    bool is_terminal(StateId state) const { return nodes_[index(state)].num_choices == 0; }
    std::span<const Choice> choices(StateId state) const {
        const Node& node = nodes_[index(state)];
        return {choices_.data() + node.first_choice, node.num_choices};
    }
    std::span<const StateId> outcomes(const Choice& choice) const {
        return {outcomes_.data() + choice.begin, choice.end - choice.begin};
    }

    StateId outcome(std::uint32_t number) const { return outcomes_[number]; }

    const StateStore& store() const { return store_; }
    std::uint32_t num_states() const { return store_.size(); }
    std::uint64_t bytes() const;

private:
    struct Node {
        std::uint32_t first_choice = 0;
        std::uint32_t num_choices = 0;
        StateKind kind = StateKind::open;
        bool is_expanded = false;
    };

    void arrange(const Word* state);

    std::unique_ptr<Stepper> stepper_;
    Ordering ordering_;
    std::unique_ptr<Decider> decider_;  // for Order::learn
    StateStore store_;
    std::vector<Node> nodes_;
    std::vector<Choice> choices_;
    std::vector<StateId> outcomes_;
    Expansion expansion_;
    std::vector<ActionId> applicable_;
};

}  // namespace surefoot
