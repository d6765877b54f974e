/*
  Who decides.

  Policy maps a state to one of its applicable actions. It is a function: the same state, the same
  decision. It is immutable and may be shared by threads; it decides nothing itself. Decider is what
  decides: a policy makes as many as are asked for, and each owns the memory that deciding takes, so
  it belongs to one thread (as a Stepper does to a Task).

  FirstPolicy takes the lowest action, RandomPolicy one that depends on the seed and the state only,
  TablePolicy what a table says. ScoredPolicy (scored_policy.h) is the one that was learned.

  Decisions of many states at once are Questions: some policies answer them faster together.

  PolicyError is a decision that cannot be taken: an action that is not applicable, or a state that
  the table does not have.
*/
#pragma once

#include <memory>
#include <span>
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

// States one after the other, and the applicable actions of each: those of state `i` end at
// ends[i], where those of state `i + 1` begin.
struct Questions {
    std::size_t words;
    std::vector<Word> states;
    std::vector<ActionId> actions;
    std::vector<std::uint32_t> ends;

    explicit Questions(std::size_t words_per_state) : words(words_per_state) {}
    std::size_t size() const { return ends.size(); }
    const Word* state(std::size_t i) const { return states.data() + i * words; }
    std::span<const ActionId> applicable(std::size_t i) const {
        const std::uint32_t begin = i == 0 ? 0 : ends[i - 1];
        return std::span(actions).subspan(begin, ends[i] - begin);
    }
    void add(const Word* state, std::span<const ActionId> applicable) {
        states.insert(states.end(), state, state + words);
        actions.insert(actions.end(), applicable.begin(), applicable.end());
        ends.push_back(static_cast<std::uint32_t>(actions.size()));
    }
    void clear() {
        states.clear();
        actions.clear();
        ends.clear();
    }
};

// Belongs to one thread; its policy must outlive it.
class Decider {
public:
    virtual ~Decider() = default;

    // The decision in a state of `words` words. `applicable` is ascending and not empty; whether
    // the decision is one of them is for the caller to check.
    virtual ActionId decide(const Word* state, std::size_t words,
                            std::span<const ActionId> applicable) = 0;

    // The decisions in many states.
    virtual void decide_all(const Questions& questions, ActionId* decisions);
};

class Policy {
public:
    virtual ~Policy() = default;

    // May be called by several threads at once, each for a decider of its own.
    virtual std::unique_ptr<Decider> decider() const = 0;

    // Whether a decision that is not applicable is the policy's own (the run then stops), not an
    // error.
    virtual bool is_unfiltered() const { return false; }

    // Whether one decision takes so long that the clock should be looked at after each.
    virtual bool is_slow() const { return false; }
};

class FirstPolicy : public Policy {
public:
    std::unique_ptr<Decider> decider() const override;
};

class RandomPolicy : public Policy {
public:
    explicit RandomPolicy(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t seed() const { return seed_; }
    std::unique_ptr<Decider> decider() const override;

private:
    std::uint64_t seed_;
};

class TablePolicy : public Policy {
public:
    // State `i` stands at word `i * words_per_state`. The last of equal states counts.
    TablePolicy(const std::vector<Word>& states, std::size_t words_per_state,
                const std::vector<ActionId>& actions);
    std::unique_ptr<Decider> decider() const override;

private:
    struct Hash {
        std::size_t operator()(const std::vector<Word>& state) const {
            return hash_words(state.data(), state.size());
        }
    };

    std::unordered_map<std::vector<Word>, ActionId, Hash> decisions_;
};

// Throws PolicyError if the decision is not applicable.
void check_decision(ActionId decision, const Word* state, std::size_t words,
                    std::span<const ActionId> applicable);

// The decision, checked. Throws PolicyError if it is not applicable.
ActionId checked_decision(Decider& decider, const Word* state, std::size_t words,
                          std::span<const ActionId> applicable);

}  // namespace surefoot
