#include "search/graph_nodes.h"

#include <new>
#include <thread>

namespace surefoot {

namespace {

constexpr std::uint32_t kShards = 64;
constexpr std::size_t kMaxStates = std::size_t{1} << 31;
constexpr std::uint64_t kTableBytes = 14 + sizeof(StateId);  // of the store's table, at most

}  // namespace

GraphNodes::GraphNodes(std::size_t words_per_state, bool is_for_threads)
    : shard_mask_(is_for_threads ? kShards - 1 : 0),
      bytes_per_state_(words_per_state * sizeof(Word) + kTableBytes + sizeof(GraphNode)),
      shards_(new Shard[shard_mask_ + 1]) {
    for (std::uint32_t s = 0; s <= shard_mask_; ++s) shards_[s].store.emplace(words_per_state);
    // Untouched memory from calloc costs nothing, and zeros are null pointers.
    void* const table = std::calloc(kMaxStates / kChunk, sizeof(std::atomic<GraphNode*>));
    if (table == nullptr) throw std::bad_alloc();
    chunks_.reset(static_cast<std::atomic<GraphNode*>*>(table));
}

GraphNodes::~GraphNodes() {
    for (std::uint32_t i = 0; i < num_chunks_.load(); ++i) delete[] chunks_[i].load();
}

StateId GraphNodes::add(const Word* state, Own& own) {
    const std::uint64_t hash = hash_words(state, shards_[0].store->words_per_state());
    Shard& shard = shards_[hash & shard_mask_];
    if (own.next == own.end) refill(own);
    const auto upper = static_cast<std::uint32_t>(hash >> 32);
    if (shard_mask_ == 0) return add_to(shard, state, upper, own);
    const std::lock_guard lock(shard.lock);
    return add_to(shard, state, upper, own);
}

StateId GraphNodes::add_to(Shard& shard, const Word* state, std::uint32_t hash, Own& own) {
    const auto [local, is_new] = shard.store->insert(state, hash);
    if (!is_new) return shard.ids[index(local)];
    const StateId id{own.next++};
    (*this)[id].state = (*shard.store)[local];
    shard.ids.push_back(id);
    ++own.states;
    count(own);
    return id;
}

void GraphNodes::refill(Own& own) {
    const std::uint32_t chunk = num_chunks_.fetch_add(1);
    if (chunk >= kMaxStates / kChunk) {
        num_chunks_.fetch_sub(1);
        throw std::length_error("too many states");
    }
    chunks_[chunk].store(new GraphNode[kChunk], std::memory_order_release);
    own.next = static_cast<std::uint32_t>(chunk * kChunk);
    own.end = static_cast<std::uint32_t>((chunk + 1) * kChunk);
}

std::optional<StateId> GraphNodes::find(const Word* state) {
    const std::uint64_t hash = hash_words(state, shards_[0].store->words_per_state());
    Shard& shard = shards_[hash & shard_mask_];
    const std::lock_guard lock(shard.lock);
    const auto local = shard.store->find(state);
    return local ? std::optional(shard.ids[index(*local)]) : std::nullopt;
}

StateId* GraphNodes::add_block(std::size_t count) {
    auto block = std::make_unique<StateId[]>(count);
    StateId* const begin = block.get();
    outcome_bytes_.fetch_add(count * sizeof(StateId), std::memory_order_relaxed);
    const std::lock_guard lock(blocks_mutex_);
    blocks_.push_back(std::move(block));
    return begin;
}

// One thread alone tells at once; several now and then, so that they do not wait for each other.
void GraphNodes::count(Own& own) {
    constexpr std::uint32_t kUntold = 256;
    if (shard_mask_ == 0 || own.states + own.decided >= kUntold) tell(own);
}

void GraphNodes::tell(Own& own) {
    size_.fetch_add(own.states, std::memory_order_relaxed);
    num_decided_.fetch_add(own.decided, std::memory_order_relaxed);
    own.states = 0;
    own.decided = 0;
}

void GraphNodes::publish(StateId id, const Expanded& found, Own& own) {
    GraphNode& node = (*this)[id];
    std::uint8_t stage = GraphNode::kOpen;
    if (!node.stage.compare_exchange_strong(stage, GraphNode::kWriting)) {
        while (!node.is_expanded()) std::this_thread::yield();  // somebody is writing it down
        return;
    }
    node.ending = found.ending;
    node.action = found.action;
    node.outcomes = found.outcomes.data();
    node.count = static_cast<std::uint32_t>(found.outcomes.size());
    node.stage.store(GraphNode::kExpanded, std::memory_order_release);
    own.decided += found.is_decided;
    count(own);
}

}  // namespace surefoot
