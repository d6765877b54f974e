// Memory from lists of free blocks by size, for programs that make and drop millions of small
// objects: a third of their time would go into the allocator. One thread only. Not under
// sanitizers, which want to see every allocation.
#ifndef __SANITIZE_ADDRESS__

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kUnit = 32;
constexpr std::size_t kLists = 64;

struct FreeBlock {
    FreeBlock* next;
};

FreeBlock* g_free[kLists + 1];

// In front of every block: its size in units; 0 for large ones, which are not kept.
std::size_t& units_of(void* block) { return static_cast<std::size_t*>(block)[-1]; }

void* new_block(std::size_t units, std::size_t bytes) {
    constexpr std::size_t kHeader = alignof(std::max_align_t);
    void* const memory = std::malloc(kHeader + bytes);
    if (memory == nullptr) throw std::bad_alloc();
    void* const block = static_cast<char*>(memory) + kHeader;
    units_of(block) = units;
    return block;
}

}  // namespace

void* operator new(std::size_t bytes) {
    const std::size_t units = (bytes + kUnit - 1) / kUnit + (bytes == 0);
    if (units > kLists) return new_block(0, bytes);
    FreeBlock* const block = g_free[units];
    if (block == nullptr) return new_block(units, units * kUnit);
    g_free[units] = block->next;
    return block;
}

void operator delete(void* block) noexcept {
    if (block == nullptr) return;
    const std::size_t units = units_of(block);
    if (units == 0) return std::free(static_cast<char*>(block) - alignof(std::max_align_t));
    g_free[units] = new (block) FreeBlock{g_free[units]};
}

void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete[](void* block) noexcept { operator delete(block); }
void operator delete[](void* block, std::size_t) noexcept { operator delete(block); }

#endif
