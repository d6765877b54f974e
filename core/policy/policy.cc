#include "policy/policy.h"

#include <algorithm>

namespace surefoot {

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

ActionId TablePolicy::decide(const Word* state, std::size_t words, const std::vector<ActionId>&) {
    std::vector<Word> key(state, state + words);
    const auto found = decisions_.find(key);
    if (found == decisions_.end()) throw PolicyError("no-decision", -1, std::move(key));
    return found->second;
}

ActionId checked_decision(Policy& policy, const Word* state, std::size_t words,
                          const std::vector<ActionId>& applicable) {
    const ActionId action = policy.decide(state, words, applicable);
    if (!std::binary_search(applicable.begin(), applicable.end(), action))
        throw PolicyError("not-applicable", index(action), std::vector<Word>(state, state + words));
    return action;
}

}  // namespace surefoot
