/*
  What the oracles that keep a Graph share.

  GraphOracle answers from what it knows, or lets search() find out. search() marks states safe or
  unsafe, for good, and returns why it stopped early if it did. Everything else that a search keeps
  must be such that the next one may begin at any point.

  A state is marked unsafe only when it fails or when each of its choices has an outcome marked
  unsafe before; ranks are the order of the marks.
*/
#pragma once

#include "oracle/graph.h"
#include "oracle/oracle.h"

namespace surefoot {

class GraphOracle : public Oracle {
public:
    GraphOracle(const Task& task, const Graph::Ordering& ordering)
        : graph_(task, ordering), is_slow_(task.is_slow()) {}

    Answer decide(const Word* state, Budget& budget) override;
    Known known(const Word* state) const override;
    std::uint64_t num_states() const override { return graph_.num_states(); }
    std::uint64_t bytes() const override;

protected:
    // Mark the root. Called with a root that is expanded, not terminal and not marked.
    virtual StopReason search(StateId root) = 0;

    // Bytes of what the search keeps.
    virtual std::uint64_t search_bytes() const { return 0; }

    // Expand for the algorithm: counts, and settles terminal states. Returns the verdict, unknown
    // if the state is not settled by that.
    Verdict visit(StateId state);

    // Call after every small piece of work.
    StopReason poll();

    Verdict verdict(StateId state) const {
        return index(state) < marks_.size() ? marks_[index(state)].verdict : Verdict::unknown;
    }
    bool is_safe(StateId state) const { return verdict(state) == Verdict::safe; }
    bool is_unsafe(StateId state) const { return verdict(state) == Verdict::unsafe; }
    void mark_unsafe(StateId state);
    // With the number of the choice that keeps it safe.
    void mark_safe(StateId state, std::uint32_t choice);

    // The first choice from `choice` on without an outcome marked unsafe, or the number of choices.
    std::uint32_t next_choice(StateId state, std::uint32_t choice);

    // Whether exploring ends there.
    virtual bool is_settled(StateId state) const { return verdict(state) != Verdict::unknown; }

    // Every state reachable from the root that is not settled, expanded, in the order found; states
    // settled on the way are left out.
    StopReason explore(StateId root, std::vector<StateId>& found);

    Graph graph_;
    Answer counts_;

private:
    struct Mark {
        Verdict verdict = Verdict::unknown;
        ActionId action = Known::kNoAction;
        std::uint32_t rank = 0;
    };

    Mark& mark(StateId state);

    bool is_slow_;
    Budget* budget_ = nullptr;
    std::uint32_t first_new_ = 0;  // states from here on were stored for this question
    std::vector<Mark> marks_;
    std::uint32_t next_rank_ = 0;
    std::vector<bool> is_found_;  // while exploring
};

// A value per state, which grows with the states; states not reached yet have the value T{}.
template <typename T>
class StateMap {
public:
    T& operator[](StateId state) {
        if (index(state) >= values_.size())
            values_.resize(std::max<std::size_t>(index(state) + 1, values_.size() * 3 / 2));
        return values_[index(state)];
    }
    // T{} for states not reached yet.
    T get(StateId state) const {
        return index(state) < values_.size() ? values_[index(state)] : T{};
    }
    std::uint64_t bytes() const { return values_.capacity() * sizeof(T); }

private:
    std::vector<T> values_;
};

}  // namespace surefoot
