/*
  Hashing of packed states: one multiply and fold per word.
*/
#pragma once

#include <cstddef>

#include "base/ids.h"

namespace surefoot {

inline std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t hash_words(const Word* words, std::size_t count) {
    std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
    for (std::size_t i = 0; i < count; ++i) {
        hash = fold_multiply(hash ^ words[i], 0xd6e8feb86659fd93ULL);
    }
    return hash;
}

}  // namespace surefoot
