/*
  A growing array of words whose new places are not set to zero: outcomes are written there right
  away.
*/
#pragma once

#include <algorithm>
#include <memory>

#include "base/ids.h"

namespace surefoot {

class WordBuffer {
public:
    const Word* data() const { return words_.get(); }
    Word* data() { return words_.get(); }
    std::size_t size() const { return size_; }
    void clear() { size_ = 0; }

    // Make room for `count` more words and return where they begin.
    Word* extend(std::size_t count) {
        if (size_ + count > capacity_) grow(size_ + count);
        Word* const begin = words_.get() + size_;
        size_ += count;
        return begin;
    }

    void append(const Word* words, std::size_t count) { std::copy_n(words, count, extend(count)); }
    void shrink(std::size_t size) { size_ = size; }

private:
    void grow(std::size_t needed) {
        const std::size_t capacity = std::max(needed, 2 * capacity_);
        std::unique_ptr<Word[]> words(new Word[capacity]);
        std::copy_n(words_.get(), size_, words.get());
        words_ = std::move(words);
        capacity_ = capacity;
    }

    std::unique_ptr<Word[]> words_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace surefoot
