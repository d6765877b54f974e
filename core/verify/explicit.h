/*
  Explicit verification of a policy: look at everything that it can reach.

  ReachedStates keeps what was reached, each state with the one that it was first reached from (its
  parent), so that the way there can be told. States are dealt out to shards by their hash. There
  are always equally many shards, and who inserts into which is settled before anybody does: so the
  places of states do not depend on the number of threads.

  verify_explicit: what it does: goes breadth-first through what the policy can reach from the start
  states, until a state fails, or so many states as failing runs are wanted. Guarantee: if nothing
  fails and `stopped` is none, no run of the policy from the start states fails, and `reached` is a
  closed set that shows it. The first failing run is a shortest one. Whatever the number of workers,
  the result is the same, as long as time does not run out. Cost: every state is stored and expanded
  once; memory is that of the states and at most 18 bytes for each. When to use it: whenever the
  states fit into memory. Paper: none needed.
*/
#pragma once

#include <array>
#include <vector>

#include "base/budget.h"
#include "base/chunked_vector.h"
#include "base/failing_run.h"
#include "policy/policy.h"
#include "search/explore.h"
#include "search/state_store.h"
#include "task/starts.h"
#include "task/task.h"

namespace surefoot {

class ReachedStates {
public:
    static constexpr std::uint32_t kShards = 64;

    // The place of a state in four bytes: its shard, and its number there.
    using Place = std::uint32_t;
    static constexpr Place kNoPlace = 0xffffffffU;
    static constexpr std::uint32_t kMaxInShard = kNoPlace / kShards;

    explicit ReachedStates(std::size_t words_per_state);
    ReachedStates(const ReachedStates&) = delete;
    ReachedStates& operator=(const ReachedStates&) = delete;

    static Place place(std::uint32_t shard, std::uint32_t number) {
        return number * kShards + shard;
    }
    static std::uint32_t shard_of(std::uint64_t hash) { return hash % kShards; }

    std::size_t words_per_state() const { return width_; }
    std::uint64_t size() const;
    std::uint64_t bytes() const;
    std::uint32_t size(std::uint32_t shard) const { return shards_[shard].store.size(); }

    const Word* operator[](Place place) const {
        return shards_[place % kShards].store[StateId{place / kShards}];
    }

    // kNoPlace: a start state.
    Place parent(Place place) const { return shards_[place % kShards].parents[place / kShards]; }

    // Of a state of this shard; `hash` is the upper half of hash_words.
    void insert(std::uint32_t shard, const Word* state, std::uint32_t hash, Place parent) {
        Shard& to = shards_[shard];
        if (to.store.insert(state, hash).is_new) to.parents.push_back(parent);
    }
    void prefetch(std::uint32_t shard, std::uint32_t hash) const {
        shards_[shard].store.prefetch(hash);
    }

    // Copy at most `count` states from the `first` one on, in a fixed order.
    std::vector<Word> copy(std::uint64_t first, std::uint64_t count) const;

private:
    static constexpr std::size_t kLine = 64;  // threads must not meet on a line of the cache

    struct alignas(kLine) Shard {
        explicit Shard(std::size_t width) : store(width) {}
        StateStore store;
        ChunkedVector<Place> parents;
    };

    std::size_t width_;
    std::vector<Shard> shards_;
};

struct ExplicitResult {
    std::vector<FailingRun> runs;  // to different states, the shortest first
    std::uint64_t starts = 0;
    std::uint64_t expanded = 0;
    std::uint64_t depth = 0;  // of the last failing state, or of the deepest one stored
    StopReason stopped = StopReason::none;
    bool starts_complete = true;
};

// Throws ModelError and PolicyError. `reached` must be empty.
ExplicitResult verify_explicit(const Task& task, const Policy& policy, const StartSource& starts,
                               std::uint64_t workers, std::uint64_t max_runs, Budget& budget,
                               ReachedStates& reached);

// Why all start states cannot be stored within the budget, as far as counting them tells; none if
// they may fit, or nobody can count them.
StopReason too_many_starts(const StartEnumerator& starts, std::size_t words_per_state,
                           Budget& budget);

}  // namespace surefoot
