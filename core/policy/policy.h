/*
  Who decides.

  Policy maps a state to one of its applicable actions. It is a function: the same state, the same
  decision. FirstPolicy takes the lowest action, RandomPolicy one that depends on the seed and the
  state only, TablePolicy what a table says.

  PolicyError is a decision that cannot be taken: an action that is not applicable, or a state that
  the table does not have.
*/
#pragma once

#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/ids.h"
#include "base/random.h"

namespace surefoot {

class PolicyError : public std::runtime_error {
public:
    PolicyError(const char* kind, std::int64_t action, std::vector<Word> state)
        : std::runtime_error(kind), action(action), state(std::move(state)) {}

    std::int64_t action;  // -1: none
    std::vector<Word> state;
};

class Policy {
public:
    virtual ~Policy() = default;

    // The decision in a state of `words` words. `applicable` is ascending and not empty; whether
    // the decision is one of them is for the caller to check.
    virtual ActionId decide(const Word* state, std::size_t words,
                            const std::vector<ActionId>& applicable) = 0;

    // Whether one decision takes so long that the clock should be looked at after each.
    virtual bool is_slow() const { return false; }
};

class FirstPolicy : public Policy {
public:
    ActionId decide(const Word*, std::size_t, const std::vector<ActionId>& applicable) override {
        return applicable.front();
    }
};

class RandomPolicy : public Policy {
public:
    explicit RandomPolicy(std::uint64_t seed) : seed_(seed) {}
    ActionId decide(const Word* state, std::size_t words,
                    const std::vector<ActionId>& applicable) override {
        Random random(seed_, hash_words(state, words));
        return applicable[random.below(applicable.size())];
    }

private:
    std::uint64_t seed_;
};

class TablePolicy : public Policy {
public:
    // State `i` stands at word `i * words_per_state`. The last of equal states counts.
    TablePolicy(const std::vector<Word>& states, std::size_t words_per_state,
                const std::vector<ActionId>& actions);
    ActionId decide(const Word* state, std::size_t words,
                    const std::vector<ActionId>& applicable) override;

private:
    struct Hash {
        std::size_t operator()(const std::vector<Word>& state) const {
            return hash_words(state.data(), state.size());
        }
    };

    std::unordered_map<std::vector<Word>, ActionId, Hash> decisions_;
};

// The policy's decision, checked. Throws PolicyError if it is not applicable.
ActionId checked_decision(Policy& policy, const Word* state, std::size_t words,
                          const std::vector<ActionId>& applicable);

}  // namespace surefoot
