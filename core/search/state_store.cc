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
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kFirstLines = 16;

}  // namespace

// Large blocks are aligned to large pages and ask for them: random access to the table misses the
// translation cache otherwise.
template <typename T>
StateStore::Block<T> StateStore::allocate(std::size_t count, bool is_large) {
    const std::size_t bytes = count * sizeof(T);
    const std::size_t alignment = is_large ? kPage : kCacheLine;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
    if (is_large) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
    return Block<T>(static_cast<T*>(memory));
}

StateStore::StateStore(std::size_t words_per_state) : width_(words_per_state) {
    const std::size_t states = std::max<std::size_t>(kPage / (width_ * sizeof(Word)), 1);
    chunk_bits_ = static_cast<std::uint32_t>(std::bit_width(states) - 1);
    chunk_mask_ = (std::uint32_t{1} << chunk_bits_) - 1;
    set_capacity(kFirstLines);
}

void StateStore::set_capacity(std::size_t num_lines) {
    num_lines_ = num_lines;
    capacity_ = num_lines * kLine;
    slots_ = allocate<Slot>(capacity_, capacity_ * sizeof(Slot) >= kPage);
    // 0.8 of the slots
    max_size_ = std::min<std::size_t>(capacity_ / 10 * 8, index(kNoState));
    std::fill_n(slots_.get(), capacity_, kEmpty);
}

StateStore::Slot* StateStore::grow(std::uint32_t hash) {
    if (size_ == index(kNoState)) throw std::length_error("more than 2^32 - 1 states");
    const Block<Slot> old = std::move(slots_);
    const std::size_t old_capacity = capacity_;
    set_capacity(num_lines_ + num_lines_ * 3 / 8);
    std::vector<std::uint8_t> taken(num_lines_, 0);
    const auto line_with_room = [&](std::uint32_t of) {
        std::size_t line = (std::uint64_t{of} * num_lines_) >> 32;
        while (taken[line] == kLine) line = line + 1 == num_lines_ ? 0 : line + 1;
        return line;
    };
    for (std::size_t i = 0; i < old_capacity; ++i) {
        if (old[i] == kEmpty) continue;
        const std::size_t line = line_with_room(hash_of(old[i]));
        slots_[line * kLine + taken[line]++] = old[i];
    }
    return slots_.get() + line_with_room(hash) * kLine;
}

// Most stores stay small: a large page for the first chunk would cost them more than all the rest.
void StateStore::add_chunk() {
    const bool is_first = chunks_.empty();
    chunks_.push_back(allocate<Word>((std::size_t{chunk_mask_} + 1) * width_, !is_first));
}

std::optional<StateId> StateStore::find(const Word* state) const {
    const std::uint32_t hash = this->hash(state);
    for (Slot* line = line_of(hash);; line = next(line)) {
        const Match found = match(line, hash);
        for (unsigned same = found.same; same != 0; same &= same - 1) {
            const std::uint32_t id = id_of(line[std::countr_zero(same)]);
            if (equals(id, state)) return StateId{id};
        }
        if (found.empty != 0) return std::nullopt;
    }
}

}  // namespace surefoot
