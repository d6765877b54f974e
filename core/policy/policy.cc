#include "policy/policy.h"

#include <algorithm>

namespace surefoot {

namespace {

// Passes questions on to a policy that many threads may ask.
class SharedPolicy : public Policy {
public:
    explicit SharedPolicy(Policy& policy) : policy_(policy) {}

    ActionId decide(const Word* state, std::size_t words,
                    std::span<const ActionId> applicable) override {
        return policy_.decide(state, words, applicable);
    }
    void decide_all(const Questions& questions, ActionId* decisions) override {
        policy_.decide_all(questions, decisions);
    }
    std::unique_ptr<Policy> fork() override { return policy_.fork(); }
    bool is_unfiltered() const override { return policy_.is_unfiltered(); }
    bool is_slow() const override { return policy_.is_slow(); }

private:
    Policy& policy_;
};

}  // namespace

void Policy::decide_all(const Questions& questions, ActionId* decisions) {
    for (std::size_t i = 0; i < questions.size(); ++i)
        decisions[i] = decide(questions.state(i), questions.words, questions.applicable(i));
}

std::unique_ptr<Policy> Policy::fork() { return std::make_unique<SharedPolicy>(*this); }

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

ActionId TablePolicy::decide(const Word* state, std::size_t words, std::span<const ActionId>) {
    std::vector<Word> key(state, state + words);
    const auto found = decisions_.find(key);
    if (found == decisions_.end()) throw PolicyError("no-decision", -1, std::move(key));
    return found->second;
}

void check_decision(ActionId decision, const Word* state, std::size_t words,
                    std::span<const ActionId> applicable) {
    if (!std::binary_search(applicable.begin(), applicable.end(), decision))
        throw PolicyError("not-applicable", index(decision),
                          std::vector<Word>(state, state + words));
}

ActionId checked_decision(Policy& policy, const Word* state, std::size_t words,
                          std::span<const ActionId> applicable) {
    const ActionId decision = policy.decide(state, words, applicable);
    check_decision(decision, state, words, applicable);
    return decision;
}

}  // namespace surefoot
