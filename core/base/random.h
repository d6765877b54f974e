/*
  Counter-based random numbers.

  The numbers of stream `k` depend on (seed, k) only: whoever draws them, in whatever order the
  streams are served, on whatever machine, gets the same. Philox 4x32 with ten rounds (Salmon,
  Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011).
*/
#pragma once

#include <array>
#include <cstdint>

namespace surefoot {

class Random {
public:
    Random(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

    std::uint64_t next() {
        if (used_ == 2) refill();
        return block_[used_++];
    }

    // Return a number below `bound` (which is not 0), each with exactly the same probability.
    std::uint64_t below(std::uint64_t bound) {
        const std::uint64_t excess = (0 - bound) % bound;
        while (true) {
            const std::uint64_t number = next();
            if (number >= excess) return number % bound;
        }
    }

    // The same for larger bounds.
    unsigned __int128 below(unsigned __int128 bound) {
        if (bound >> 64 == 0) return below(static_cast<std::uint64_t>(bound));
        const unsigned __int128 excess = (0 - bound) % bound;
        while (true) {
            const unsigned __int128 high = next();
            const unsigned __int128 number = (high << 64) | next();
            if (number >= excess) return number % bound;
        }
    }

    // Return a double in [0, 1) with 53 random bits.
    double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    void refill() {
        std::array<std::uint32_t, 4> x{low(counter_), high(counter_), low(stream_), high(stream_)};
        std::uint32_t key0 = low(seed_);
        std::uint32_t key1 = high(seed_);
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t p0 = 0xD2511F53ULL * x[0];
            const std::uint64_t p1 = 0xCD9E8D57ULL * x[2];
            x = {high(p1) ^ x[1] ^ key0, low(p1), high(p0) ^ x[3] ^ key1, low(p0)};
            key0 += 0x9E3779B9U;
            key1 += 0xBB67AE85U;
        }
        block_ = {x[0] | (std::uint64_t{x[1]} << 32), x[2] | (std::uint64_t{x[3]} << 32)};
        used_ = 0;
        ++counter_;
    }

    static std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
    static std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

    std::uint64_t seed_;
    std::uint64_t stream_;
    std::uint64_t counter_ = 0;
    std::array<std::uint64_t, 2> block_{};
    int used_ = 2;
};

}  // namespace surefoot
