/*
  The states of a policy's graph, where several threads meet.

  GraphNodes gives each distinct state an id and a GraphNode: its kind, the policy's decision there
  and its outcomes. Nodes and outcomes never move. Threads add states at the same time: states are
  dealt out to shards by their hash, each with a lock of its own. Every thread takes ids from a
  block of its own, so that states it met one after the other stand side by side. What a thread
  learns about a state (its kind, its distance, its expansion) depends on the state only, so whoever
  comes first writes it down, and the others, if they computed it too, find the same there.

  Made for one thread, ids are counted up from 0 and nothing is locked.
*/
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/run_end.h"
#include "base/spin_lock.h"
#include "search/state_store.h"
#include "task/task.h"

namespace surefoot {

struct GraphNode {
    static constexpr std::uint8_t kNoKind = 0xff;
    enum Stage : std::uint8_t { kOpen, kWriting, kExpanded };

    const Word* state = nullptr;
    const StateId* outcomes = nullptr;  // from here on: when expanded
    std::uint32_t count = 0;
    ActionId action{0};
    RunEnd ending = RunEnd::none;
    std::atomic<std::uint8_t> stage = kOpen;
    std::atomic<std::uint8_t> kind = kNoKind;
    std::atomic<double> distance = std::numeric_limits<double>::quiet_NaN();  // not computed yet

    bool is_expanded() const { return stage.load(std::memory_order_acquire) == kExpanded; }
};

class GraphNodes {
public:
    GraphNodes(std::size_t words_per_state, bool is_for_threads);
    ~GraphNodes();
    GraphNodes(const GraphNodes&) = delete;
    GraphNodes& operator=(const GraphNodes&) = delete;

    // What a thread has for itself: the ids that it may give, and what it has not told the others
    // about yet.
    struct Own {
        std::uint32_t next = 0;
        std::uint32_t end = 0;
        std::uint32_t states = 0;
        std::uint32_t decided = 0;
    };

    StateId add(const Word* state, Own& own);
    std::optional<StateId> find(const Word* state);

    GraphNode& operator[](StateId id) const {
        return chunks_[index(id) / kChunk].load(std::memory_order_acquire)[index(id) % kChunk];
    }

    // Of threads, what they told.
    std::uint32_t size() const { return size_.load(std::memory_order_relaxed); }
    std::uint64_t bytes() const {
        return size() * bytes_per_state_ + outcome_bytes_.load(std::memory_order_relaxed);
    }

    // Of how many states the policy's decision was needed.
    std::uint64_t num_decided() const { return num_decided_.load(std::memory_order_relaxed); }

    // Memory for outcomes: belongs to the thread that asked for it.
    static constexpr std::size_t kBlock = std::size_t{1} << 14;
    StateId* add_block(std::size_t count);

    struct Expanded {
        RunEnd ending = RunEnd::none;
        ActionId action{0};
        std::span<const StateId> outcomes;
        bool is_decided = false;  // by the policy
    };

    // Write down what an expansion found, unless another thread has done so.
    void publish(StateId id, const Expanded& found, Own& own);

    // Let the counts include what the thread did.
    void tell(Own& own);

private:
    static constexpr std::size_t kChunk = 1024;

    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    // Threads must not meet on a line of the cache where they do not meet on data.
    static constexpr std::size_t kLine = 64;

    struct alignas(kLine) Shard {
        SpinLock lock;
        std::optional<StateStore> store;
        std::vector<StateId> ids;  // by the number of the state in the store
    };

    StateId add_to(Shard& shard, const Word* state, std::uint32_t hash, Own& own);
    void refill(Own& own);
    void count(Own& own);

    std::uint32_t shard_mask_;
    std::uint64_t bytes_per_state_;
    std::unique_ptr<Shard[]> shards_;
    std::unique_ptr<std::atomic<GraphNode*>[], Free> chunks_;
    alignas(kLine) std::mutex blocks_mutex_;
    std::vector<std::unique_ptr<StateId[]>> blocks_;
    alignas(kLine) std::atomic<std::uint32_t> num_chunks_ = 0;
    std::atomic<std::uint32_t> size_ = 0;
    std::atomic<std::uint64_t> outcome_bytes_ = 0;
    std::atomic<std::uint64_t> num_decided_ = 0;
};

}  // namespace surefoot
