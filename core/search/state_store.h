/*
  Where states live.

  StateStore owns the packed values of every state seen in one search and gives each distinct state a StateId, counted up from 0.
  Algorithms keep StateIds (four bytes) and never copies of states.

  States stand in chunks that never move. An open-addressing table of eight-byte slots (half the hash, and the id) finds them; it grows by half, so it
  is never emptier than 7/12 and costs at most 14 bytes per state. Looking up a new state touches one slot; prefetch() lets the
  caller ask for that slot early.
*/
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/ids.h"

namespace surefoot {

class StateStore {
public:
    explicit StateStore(std::size_t words_per_state);

    struct Inserted {
        StateId id;
        bool is_new;
    };

    std::uint64_t hash(const Word* state) const { return hash_words(state, width_); }
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(slots_.get() + place_of(hash)); }

    // `hash` must be hash(state). Throws std::length_error beyond 2^32 - 1 states.
    Inserted insert(const Word* state, std::uint64_t hash);
    Inserted insert(const Word* state) { return insert(state, hash(state)); }

    std::optional<StateId> find(const Word* state) const;

    const Word* operator[](StateId id) const {
        const std::uint32_t i = index(id);
        return chunks_[i >> chunk_bits_].get() + (i & chunk_mask_) * width_;
    }

    std::uint32_t size() const { return size_; }
    std::size_t words_per_state() const { return width_; }

    // Bytes in use: states and table.
    std::uint64_t bytes() const { return std::uint64_t{size_} * width_ * sizeof(Word) + capacity_ * sizeof(Slot); }

    // Bytes in use while the next insertion happens: a growing table exists twice.
    std::uint64_t peak_bytes() const {
        return bytes() + (size_ >= max_size_ ? capacity_ * sizeof(Slot) * 3 / 2 : 0);
    }

private:
    using Slot = std::uint64_t;  // upper half: lower half of the hash; lower half: id
    static constexpr Slot kEmpty = ~Slot{0};

    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    template <typename T>
    using Block = std::unique_ptr<T[], Free>;

    template <typename T>
    static Block<T> allocate(std::size_t count);

    std::size_t place_of(std::uint64_t hash) const {
        return static_cast<std::size_t>((static_cast<unsigned __int128>(hash) * capacity_) >> 64);
    }
    static Slot slot_of(std::uint64_t hash, std::uint32_t id) { return (hash << 32) | id; }

    bool equals(std::uint32_t id, const Word* state) const;
    void append(const Word* state);
    void grow();
    void set_capacity(std::size_t capacity);

    std::size_t width_;
    std::uint32_t chunk_bits_;
    std::uint32_t chunk_mask_;
    std::vector<Block<Word>> chunks_;
    Block<Slot> slots_;
    std::size_t capacity_ = 0;
    std::size_t max_size_ = 0;
    std::uint32_t size_ = 0;
};

}  // namespace surefoot
