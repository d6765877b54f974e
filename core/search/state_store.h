/*
  Where states live.

  StateStore owns the packed values of every state seen in one search and gives each distinct state
  a StateId, counted up from 0. Algorithms keep StateIds (four bytes) and never copies of states.

  States stand in chunks that never move. An open-addressing table of eight-byte slots (the upper
  half of the hash, and the id) finds them. Eight slots are a line, one line of the cache; a state
  is in the line that its hash is proportional to or, if that is full, in the next one with room. So
  the table is almost sorted, and growing it is one pass through both tables. It is never emptier
  than 0.58 and costs at most 14 bytes per state. Looking up a state touches one line and, if it is
  known, the state itself; prefetch() lets the caller ask for the line early.
*/
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>
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

    std::uint32_t hash(const Word* state) const {
        return static_cast<std::uint32_t>(hash_words(state, width_) >> 32);
    }
    void prefetch(std::uint32_t hash) const { __builtin_prefetch(line_of(hash)); }

    // `hash` must be hash(state). Throws std::length_error beyond 2^32 - 1 states.
    Inserted insert(const Word* state, std::uint32_t hash) {
        for (Slot* line = line_of(hash);; line = next(line)) {
            Match found = match(line, hash);
            for (unsigned same = found.same; same != 0; same &= same - 1) {
                const std::uint32_t id = id_of(line[std::countr_zero(same)]);
                if (equals(id, state)) return {StateId{id}, false};
            }
            if (found.empty == 0) continue;
            if (size_ >= max_size_) [[unlikely]] {
                line = grow(hash);
                found = match(line, hash);
            }
            line[std::countr_zero(found.empty)] = slot_of(hash, size_);
            append(state);
            return {StateId{size_ - 1}, true};
        }
    }
    Inserted insert(const Word* state) { return insert(state, hash(state)); }

    std::optional<StateId> find(const Word* state) const;

    const Word* operator[](StateId id) const {
        const std::uint32_t i = index(id);
        return chunks_[i >> chunk_bits_].get() + (i & chunk_mask_) * width_;
    }

    std::uint32_t size() const { return size_; }
    std::size_t words_per_state() const { return width_; }

    // Bytes in use: states and table.
    std::uint64_t bytes() const {
        return std::uint64_t{size_} * width_ * sizeof(Word) + capacity_ * sizeof(Slot);
    }

    // Bytes in use while the next insertion happens: a growing table exists twice.
    std::uint64_t peak_bytes() const {
        return bytes() + (size_ >= max_size_ ? capacity_ * sizeof(Slot) * 11 / 8 : 0);
    }

private:
    using Slot = std::uint64_t;               // upper half: lower half of the hash; lower half: id
    static constexpr Slot kEmpty = ~Slot{0};  // no state has this id
    static constexpr std::size_t kLine = 8;

    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    template <typename T>
    using Block = std::unique_ptr<T[], Free>;

    template <typename T>
    static Block<T> allocate(std::size_t count, bool is_large);

    // Of a line: bit k says that slot k has the wanted hash, or that it is empty.
    struct Match {
        unsigned same;
        unsigned empty;
    };

    static Match match(const Slot* line, std::uint32_t hash) {
#ifdef __SSE2__
        const auto* const quarters = reinterpret_cast<const __m128*>(line);
        const __m128i wanted = _mm_set1_epi32(static_cast<int>(hash));
        const __m128i empty = _mm_set1_epi32(-1);
        Match found{0, 0};
        for (int half = 0; half < 2; ++half) {
            const __m128 a = quarters[2 * half];
            const __m128 b = quarters[2 * half + 1];
            const __m128i ids = _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)));
            const __m128i hashes = _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)));
            const auto bits = [](__m128i lanes) {
                return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(lanes)));
            };
            const unsigned is_empty = bits(_mm_cmpeq_epi32(ids, empty));
            found.empty |= is_empty << (4 * half);
            found.same |= (bits(_mm_cmpeq_epi32(hashes, wanted)) & ~is_empty) << (4 * half);
        }
        return found;
#else
        Match found{0, 0};
        for (unsigned k = 0; k < kLine; ++k) {
            const bool is_empty = line[k] == kEmpty;
            found.empty |= unsigned{is_empty} << k;
            found.same |= unsigned{!is_empty && hash_of(line[k]) == hash} << k;
        }
        return found;
#endif
    }

    Slot* line_of(std::uint32_t hash) const {
        return slots_.get() + ((std::uint64_t{hash} * num_lines_) >> 32) * kLine;
    }
    Slot* next(Slot* line) const {
        return line + kLine == slots_.get() + capacity_ ? slots_.get() : line + kLine;
    }
    static Slot slot_of(std::uint32_t hash, std::uint32_t id) { return (Slot{hash} << 32) | id; }
    static std::uint32_t hash_of(Slot slot) { return static_cast<std::uint32_t>(slot >> 32); }
    static std::uint32_t id_of(Slot slot) { return static_cast<std::uint32_t>(slot); }

    bool equals(std::uint32_t id, const Word* state) const {
        const Word* other = (*this)[StateId{id}];
        for (std::size_t w = 0; w < width_; ++w) {
            if (other[w] != state[w]) return false;
        }
        return true;
    }

    void append(const Word* state) {
        if (size_ >> chunk_bits_ == chunks_.size()) add_chunk();
        Word* const to = chunks_.back().get() + (size_ & chunk_mask_) * width_;
        for (std::size_t w = 0; w < width_; ++w) to[w] = state[w];
        ++size_;
    }

    void add_chunk();
    // Make room and return the line where a new state with this hash goes.
    Slot* grow(std::uint32_t hash);
    void set_capacity(std::size_t num_lines);

    std::size_t width_;
    std::uint32_t chunk_bits_;
    std::uint32_t chunk_mask_;
    std::vector<Block<Word>> chunks_;
    Block<Slot> slots_;
    std::size_t num_lines_ = 0;
    std::size_t capacity_ = 0;
    std::size_t max_size_ = 0;
    std::uint32_t size_ = 0;
};

}  // namespace surefoot
