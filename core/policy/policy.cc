#include "policy/policy.h"

#include <algorithm>

namespace surefoot {

namespace {

// A decider without memory: a function of the state.
template <typename Decide>
class PlainDecider : public Decider {
public:
    explicit PlainDecider(Decide decide) : decide_(std::move(decide)) {}

    ActionId decide(const Word* state, std::size_t words,
                    std::span<const ActionId> applicable) override {
        return decide_(state, words, applicable);
    }

private:
    Decide decide_;
};

template <typename Decide>
std::unique_ptr<Decider> plain_decider(Decide decide) {
    return std::make_unique<PlainDecider<Decide>>(std::move(decide));
}

using Actions = std::span<const ActionId>;

}  // namespace

void Decider::decide_all(const Questions& questions, ActionId* decisions) {
    for (std::size_t i = 0; i < questions.size(); ++i)
        decisions[i] = decide(questions.state(i), questions.words, questions.applicable(i));
}

std::unique_ptr<Decider> FirstPolicy::decider() const {
    return plain_decider(
        [](const Word*, std::size_t, Actions applicable) { return applicable.front(); });
}

std::unique_ptr<Decider> RandomPolicy::decider() const {
    return plain_decider([seed = seed_](const Word* state, std::size_t words, Actions applicable) {
        Random random(seed, hash_words(state, words));
        return applicable[random.below(applicable.size())];
    });
}

TablePolicy::TablePolicy(const std::vector<Word>& states, std::size_t words_per_state,
                         const std::vector<ActionId>& actions) {
    if (states.size() != actions.size() * words_per_state)
        throw std::invalid_argument("a table needs one action per state");
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto begin = states.begin() + static_cast<std::ptrdiff_t>(i * words_per_state);
        const auto end = begin + static_cast<std::ptrdiff_t>(words_per_state);
        decisions_[std::vector<Word>(begin, end)] = actions[i];
    }
}

std::unique_ptr<Decider> TablePolicy::decider() const {
    return plain_decider([this](const Word* state, std::size_t words, Actions) {
        std::vector<Word> key(state, state + words);
        const auto entry = decisions_.find(key);
        if (entry == decisions_.end()) throw PolicyError("no-decision", -1, std::move(key));
        return entry->second;
    });
}

void check_decision(ActionId decision, const Word* state, std::size_t words,
                    std::span<const ActionId> applicable) {
    if (!std::binary_search(applicable.begin(), applicable.end(), decision))
        throw PolicyError("not-applicable", index(decision),
                          std::vector<Word>(state, state + words));
}

ActionId checked_decision(Decider& decider, const Word* state, std::size_t words,
                          std::span<const ActionId> applicable) {
    const ActionId decision = decider.decide(state, words, applicable);
    check_decision(decision, state, words, applicable);
    return decision;
}

}  // namespace surefoot
