/*
  A growing array whose elements never move.

  Elements stand in chunks of equal size, so growing copies nothing and wastes at most one chunk: an
  array of a hundred million elements does not need twice its memory while it grows. Elements are
  plain data.
*/
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace surefoot {

template <typename T>
class ChunkedVector {
public:
    T& operator[](std::size_t i) { return chunks_[i >> kBits][i & kMask]; }
    const T& operator[](std::size_t i) const { return chunks_[i >> kBits][i & kMask]; }
    std::size_t size() const { return size_; }

    void push_back(const T& element) {
        if (size_ >> kBits == chunks_.size()) chunks_.emplace_back(new T[std::size_t{1} << kBits]);
        (*this)[size_++] = element;
    }

    void shrink(std::size_t size) { size_ = size; }

    std::uint64_t bytes() const { return (chunks_.size() << kBits) * sizeof(T); }

private:
    static constexpr std::size_t kBits = 10;
    static constexpr std::size_t kMask = (std::size_t{1} << kBits) - 1;

    std::vector<std::unique_ptr<T[]>> chunks_;
    std::size_t size_ = 0;
};

}  // namespace surefoot
