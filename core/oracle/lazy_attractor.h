/*
  What it does: keeps one current action per state, its candidate for the safe policy, and spreads
  unsafety backwards along current actions only. A state that loses its current action takes its
  next one; a state that has none left is unsafe and takes the current action from whoever depends
  on it. When nobody is left to be looked at, the current actions are a closed safe choice.
  Guarantee: terminates on finite tasks with the right verdict; answers are final.
  Cost: linear in the actions and outcomes looked at, and it looks at nothing beyond the candidate
  policies: at best it expands the smallest safe policy and nothing else. At most 14 bytes per
  stored state for the table, 12 for what is known and 12 per outcome of a current action; the stack
  of states to look at takes 4 per outcome at worst.
  When to use it: always, unless another oracle is to be compared with it.
  Paper: our own; goes back to the linear-time attractors of game graphs and to iPI (Schmalz & Jain
  2026, alg. 4).

  States are unseen until it is known that they are neither fail nor goal, and then fresh until they
  are expanded. What the question at hand depends on is active; what a
  question left undecided is idle, and a later question that comes by takes it up where it was left.

  On pairs of a state and the differences left (RadiusTask), an outcome is first looked up by
  dominance: safe if it is safe with fewer left, unsafe if it is unsafe with more.
*/
#pragma once

#include <unordered_map>
#include <vector>

#include "base/chunked_vector.h"
#include "oracle/oracle.h"
#include "search/state_store.h"

namespace surefoot {

class LazyAttractor : public Oracle {
public:
    // With `has_pairs` the last word of a state is the number of differences left.
    explicit LazyAttractor(const Task& task, bool has_pairs = false);

    Answer decide(const Word* state, Budget& budget) override;
    Known known(const Word* state) const override;
    std::uint64_t num_states() const override { return store_.size(); }
    std::uint64_t bytes() const override;

private:
    enum class Phase : std::uint32_t { unseen, fresh, idle, active, safe, unsafe };
    static constexpr std::uint32_t kNone = 0xffffffffU;
    static constexpr std::uint32_t kUnlinked = 0xfffffffeU;
    static constexpr std::uint32_t kNoAction = (std::uint32_t{1} << 25) - 1;
    static constexpr std::uint32_t kManyTries = 7;

    struct Node {
        std::uint32_t phase : 3;
        std::uint32_t has_lost : 1;  // active: the current action has lost, which is on the stack
        std::uint32_t tries : 3;     // actions looked at, kManyTries or more
        std::uint32_t action : 25;  // idle, active, safe: the current one; fresh: the last one lost
        std::uint32_t link;         // idle, active, safe: its first edge; unsafe: its rank
        std::uint32_t dependants;   // the last edge into it, or kNone
    };

    // The current action of `from` has the outcome `to`. The edges of one action stand one after
    // the other; an edge before the first one of its state's current action is of a former action.
    struct Edge {
        std::uint32_t from;
        std::uint32_t to;
        std::uint32_t next;  // another edge into `to`, or kNone; kUnlinked if `to` does not know it
    };

    // What is left to try of a state that has lost many actions: computed at once, as computing one
    // choice after the other would look at all actions every time.
    struct Rest {
        Expansion expansion;
        std::size_t next = 0;
    };

    struct Fetched {
        const Expansion* expansion;
        const Choice* choice;  // null: there is none
    };

    // By state, that is by pair without its last word: which of its pairs decide the others.
    struct Dominance {
        struct Bounds {
            std::uint64_t safe_from = ~std::uint64_t{0};  // least number left known to be safe
            std::uint64_t unsafe_to = 0;  // one more than the greatest known to be unsafe
            // The pairs that raised unsafe_to, in order: by number left, and by rank.
            std::vector<std::uint32_t> raised;
        };

        explicit Dominance(std::size_t words) : states(words) {}
        StateStore states;
        std::vector<Bounds> of_state;
        std::uint64_t num_raised = 0;
    };

    Phase phase(std::uint32_t state) const { return static_cast<Phase>(nodes_[state].phase); }
    void set_phase(std::uint32_t state, Phase phase) {
        nodes_[state].phase = static_cast<std::uint32_t>(phase);
    }
    bool is_current(std::uint32_t edge) const;
    bool has_lost_action(std::uint32_t state) const;
    bool is_wanted(std::uint32_t state);
    void link(std::uint32_t edge);

    std::uint32_t insert(const Word* state);
    std::uint32_t insert_exact(const Word* state);
    void see(std::uint32_t state);
    Dominance::Bounds& bounds_of(const Word* pair);
    Known known_of(std::uint32_t state) const;
    Known known_pair(const Word* pair) const;
    void run(std::uint32_t root, Budget& budget, Answer& answer);
    void look_at(std::uint32_t state, bool is_root);
    void take_up(std::uint32_t state);
    void advance(std::uint32_t state);
    bool take_next(std::uint32_t state);
    Fetched fetch(std::uint32_t state, ActionId from);
    bool find_outcomes(const Fetched& fetched);
    void depend(std::uint32_t state, ActionId action);
    void lose(std::uint32_t state);
    void settle(std::uint32_t state);
    void forget_rest(std::uint32_t state);
    void activate(std::uint32_t state);
    void push_undecided(std::uint32_t state);
    void finish(bool is_settled);

    std::unique_ptr<Stepper> stepper_;
    std::size_t width_;
    bool is_slow_;
    StateStore store_;
    ChunkedVector<Node> nodes_;
    ChunkedVector<Edge> edges_;
    std::unique_ptr<Dominance> dominance_;  // null without pairs
    std::uint32_t next_rank_ = 0;
    std::unordered_map<std::uint32_t, Rest> rests_;
    std::uint64_t rest_bytes_ = 0;

    // Of the question at hand.
    ChunkedVector<std::uint32_t> work_;  // a stack
    std::uint32_t first_new_ = 0;        // states from here on were stored for this question
    std::vector<std::uint32_t> active_;  // those before that became active
    std::vector<std::uint32_t> found_;   // outcomes of the action at hand
    std::vector<Word> pair_;
    Expansion expansion_;
    Answer counts_;
};

}  // namespace surefoot
