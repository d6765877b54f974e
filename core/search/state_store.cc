#include "search/state_store.h"

#include <algorithm>
#include <bit>
#include <new>
#include <stdexcept>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace surefoot {

namespace {

constexpr std::size_t kPage = std::size_t{1} << 21;
constexpr std::size_t kFirstCapacity = 64;

}  // namespace

// Large blocks are aligned to large pages and ask for them: random access to the table misses the translation cache otherwise.
template <typename T>
StateStore::Block<T> StateStore::allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kPage) {
        void* memory = std::malloc(bytes);
        if (memory == nullptr) throw std::bad_alloc();
        return Block<T>(static_cast<T*>(memory));
    }
    const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage;
    void* memory = std::aligned_alloc(kPage, rounded);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
    madvise(memory, rounded, MADV_HUGEPAGE);
#endif
    return Block<T>(static_cast<T*>(memory));
}

StateStore::StateStore(std::size_t words_per_state) : width_(words_per_state) {
    const std::size_t states = std::max<std::size_t>(kPage / (width_ * sizeof(Word)), 1);
    chunk_bits_ = static_cast<std::uint32_t>(std::bit_width(states) - 1);
    chunk_mask_ = (std::uint32_t{1} << chunk_bits_) - 1;
    set_capacity(kFirstCapacity);
}

void StateStore::set_capacity(std::size_t capacity) {
    slots_ = allocate<Slot>(capacity);
    capacity_ = capacity;
    max_size_ = capacity / 8 * 7;
    std::fill_n(slots_.get(), capacity, kEmpty);
}

void StateStore::grow() {
    set_capacity((capacity_ + capacity_ / 2 + 7) / 8 * 8);
    constexpr std::uint32_t kAhead = 16;
    std::uint64_t hashes[kAhead];
    for (std::uint32_t begin = 0; begin < size_; begin += kAhead) {
        const std::uint32_t end = std::min(size_, begin + kAhead);
        for (std::uint32_t id = begin; id < end; ++id) {
            hashes[id - begin] = hash((*this)[StateId{id}]);
            __builtin_prefetch(slots_.get() + place_of(hashes[id - begin]), 1);
        }
        for (std::uint32_t id = begin; id < end; ++id) {
            std::size_t place = place_of(hashes[id - begin]);
            while (slots_[place] != kEmpty) place = place + 1 == capacity_ ? 0 : place + 1;
            slots_[place] = slot_of(hashes[id - begin], id);
        }
    }
}

bool StateStore::equals(std::uint32_t id, const Word* state) const {
    const Word* other = (*this)[StateId{id}];
    for (std::size_t w = 0; w < width_; ++w) {
        if (other[w] != state[w]) return false;
    }
    return true;
}

void StateStore::append(const Word* state) {
    if (size_ >> chunk_bits_ == chunks_.size()) chunks_.push_back(allocate<Word>((std::size_t{chunk_mask_} + 1) * width_));
    Word* const to = chunks_.back().get() + (size_ & chunk_mask_) * width_;
    for (std::size_t w = 0; w < width_; ++w) to[w] = state[w];
    ++size_;
}

StateStore::Inserted StateStore::insert(const Word* state, std::uint64_t hash) {
    const Slot wanted = hash << 32;
    std::size_t place = place_of(hash);
    while (slots_[place] != kEmpty) {
        const Slot slot = slots_[place];
        const auto id = static_cast<std::uint32_t>(slot);
        if ((slot ^ wanted) >> 32 == 0 && equals(id, state)) return {StateId{id}, false};
        place = place + 1 == capacity_ ? 0 : place + 1;
    }
    if (size_ == index(kNoState)) throw std::length_error("more than 2^32 - 1 states");
    if (size_ >= max_size_) {
        grow();
        place = place_of(hash);
        while (slots_[place] != kEmpty) place = place + 1 == capacity_ ? 0 : place + 1;
    }
    slots_[place] = slot_of(hash, size_);
    append(state);
    return {StateId{size_ - 1}, true};
}

std::optional<StateId> StateStore::find(const Word* state) const {
    const std::uint64_t hash = this->hash(state);
    std::size_t place = place_of(hash);
    for (; slots_[place] != kEmpty; place = place + 1 == capacity_ ? 0 : place + 1) {
        const auto id = static_cast<std::uint32_t>(slots_[place]);
        if ((slots_[place] ^ (hash << 32)) >> 32 == 0 && equals(id, state)) return StateId{id};
    }
    return std::nullopt;
}

}  // namespace surefoot
