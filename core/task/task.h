/*
  The task as every search sees it.

  Task is immutable. A Stepper computes its steps; it owns the memory for that, so every thread
  takes one of its own. Expansion is what a Stepper fills: the kind of a state and, per applicable
  action, its outcomes as a set. All outcomes of an expansion stand in one vector of words, one
  after the other.

  A WeightedExpansion also has the cost of every choice and the weight of every outcome. Steppers
  fill it on a path of its own: who does not ask for costs and weights does not pay for them.

  ModelError is an error of the model met while stepping: an update out of range, a division by
  zero. It names the edge and the state.
*/
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/word_buffer.h"

namespace surefoot {

// Fail is tested before goal. `open` states may still be dead ends.
enum class StateKind : std::uint8_t { open, fail, goal };

struct Choice {
    ActionId action;
    std::uint32_t begin;  // outcomes begin .. end - 1 of the expansion
    std::uint32_t end;
};

struct Expansion {
    StateKind kind = StateKind::open;
    std::vector<Choice> choices;  // by ascending action
    WordBuffer words;

    void clear() {
        kind = StateKind::open;
        choices.clear();
        words.clear();
    }
};

// One choice per enabled edge: edges of one action stand next to each other, and the environment
// picks one of them. Equal outcomes of an edge are one, with the sum of their weights. The
// probability of an outcome is its weight divided by the sum of the choice's.
struct WeightedExpansion : Expansion {
    std::vector<double> costs;    // by choice
    std::vector<double> weights;  // by outcome; positive

    void clear() {
        Expansion::clear();
        costs.clear();
        weights.clear();
    }
};

class ModelError : public std::runtime_error {
public:
    ModelError(const char* kind, std::int64_t edge, std::int64_t variable, std::string value,
               std::vector<Word> state)
        : std::runtime_error(kind),
          edge(edge),
          variable(variable),
          value(std::move(value)),
          state(std::move(state)) {}

    std::int64_t edge;      // -1: in a condition, not in an edge
    std::int64_t variable;  // -1: not about one variable
    std::string value;
    std::vector<Word> state;
};

class Stepper {
public:
    virtual ~Stepper() = default;

    virtual StateKind kind(const Word* state) = 0;

    // The fail condition alone: the goal condition is not evaluated.
    virtual bool is_fail(const Word* state) = 0;

    // Set the kind and, unless the state is fail or goal, append all choices behind those that are
    // there.
    virtual void expand(const Word* state, Expansion& expansion) = 0;

    // Put the first choice with an action not below `from` into `expansion`, and no other; none if
    // there is none. Whatever the state's kind, which is not computed, nor are the outcomes of
    // other actions.
    virtual void next_choice(const Word* state, ActionId from, Expansion& expansion) = 0;

    // The applicable actions, ascending, whatever the state's kind.
    virtual void applicable(const Word* state, std::vector<ActionId>& actions) = 0;

    // The kind and, unless the state is fail or goal, the applicable actions: both at once.
    virtual StateKind look(const Word* state, std::vector<ActionId>& actions) {
        const StateKind found = kind(state);
        if (found == StateKind::open)
            applicable(state, actions);
        else
            actions.clear();
        return found;
    }

    // The outcomes of one action, whatever the state's kind: one choice, or none if it is not
    // applicable.
    virtual void outcomes(const Word* state, ActionId action, Expansion& expansion) = 0;

    // Put the kind and, unless the state is fail or goal, all choices with their costs and weights
    // into `expansion`. Throws std::logic_error where the task knows none.
    virtual void expand_weighted(const Word* state, WeightedExpansion& expansion);

    // How far the state is from fail: 0 if it fails, infinite without fail condition. Where only
    // the fail condition is known, 1 for all others.
    virtual double distance_to_fail(const Word* state) { return is_fail(state) ? 0 : 1; }

    // The enabled edges, by their number in the description; none where edges have no meaning.
    virtual std::vector<std::int64_t> enabled_edges(const Word* state) = 0;
};

class Task {
public:
    virtual ~Task() = default;
    virtual std::size_t words() const = 0;
    virtual std::size_t bits() const = 0;
    virtual std::size_t num_actions() const = 0;

    // Actions from here on are silent: no policy chooses them.
    virtual std::size_t first_silent() const = 0;

    // Whether the words are a state: every value within its bounds, all other bits 0.
    virtual bool is_state(const Word* state) const = 0;

    // Whether one step takes so long that the clock should be looked at after each.
    virtual bool is_slow() const { return false; }

    virtual std::unique_ptr<Stepper> stepper() const = 0;
};

// Remove duplicates among the states from word `begin` on; the first of equals stays where it is.
void remove_duplicates(WordBuffer& words, std::size_t begin, std::size_t words_per_state);

// Make equal outcomes from outcome `begin` on one, with the sum of their weights.
void merge_duplicates(WeightedExpansion& expansion, std::size_t begin, std::size_t words_per_state);

// Every choice costs 1 and its outcomes are equally likely: for tasks that do not say.
void expand_uniformly(Stepper& stepper, const Word* state, WeightedExpansion& expansion);

}  // namespace surefoot
