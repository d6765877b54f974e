#include "oracle/graph.h"

#include <algorithm>

namespace surefoot {

Graph::Graph(const Task& task, const Ordering& ordering)
    : stepper_(task.stepper()),
      ordering_(ordering),
      decider_(ordering.order == Order::learn ? ordering.policy->decider() : nullptr),
      store_(task.words()) {}

StateId Graph::insert(const Word* state) {
    const auto [id, is_new] = store_.insert(state);
    if (is_new) nodes_.emplace_back();
    return id;
}

void Graph::expand(StateId state) {
    if (is_expanded(state)) return;
    expansion_.clear();
    stepper_->expand(store_[state], expansion_);
    arrange(store_[state]);
    if (outcomes_.size() + expansion_.words.size() >= 0xffffffffU)
        throw std::length_error("too many outcomes");
    const auto first = static_cast<std::uint32_t>(choices_.size());
    for (const surefoot::Choice& choice : expansion_.choices) {
        const auto begin = static_cast<std::uint32_t>(outcomes_.size());
        for (std::uint32_t i = choice.begin; i < choice.end; ++i)
            outcomes_.push_back(insert(expansion_.words.data() + i * store_.words_per_state()));
        choices_.push_back({choice.action, begin, static_cast<std::uint32_t>(outcomes_.size())});
    }
    const auto count = static_cast<std::uint32_t>(expansion_.choices.size());
    nodes_[index(state)] = {first, count, expansion_.kind, true};
}

// Bring the choices of the expansion into the order asked for.
void Graph::arrange(const Word* state) {
    auto& choices = expansion_.choices;
    if (ordering_.order == Order::app || choices.size() < 2) return;
    if (ordering_.order == Order::rand) {
        Random random(ordering_.seed, hash_words(state, store_.words_per_state()));
        for (std::size_t i = choices.size(); i > 1; --i)
            std::swap(choices[i - 1], choices[random.below(i)]);
        return;
    }
    applicable_.clear();
    for (const surefoot::Choice& choice : choices) applicable_.push_back(choice.action);
    const ActionId decision =
        checked_decision(*decider_, state, store_.words_per_state(), applicable_);
    const auto at = std::find_if(choices.begin(), choices.end(),
                                 [&](const auto& choice) { return choice.action == decision; });
    std::rotate(choices.begin(), at, at + 1);
}

std::uint64_t Graph::bytes() const {
    return store_.peak_bytes() + nodes_.capacity() * sizeof(Node) +
           choices_.capacity() * sizeof(Choice) + outcomes_.capacity() * sizeof(StateId);
}

}  // namespace surefoot
