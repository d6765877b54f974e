/*
  What both hand-written explorers of the two-way line 15_10 share: the packed state, its
  conditions, the counts and how they are printed.
*/
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#ifndef PACKAGES
#define PACKAGES 15
#endif

namespace two_way_line {

using State = std::uint64_t;

constexpr int kPackages = PACKAGES;
constexpr int kLocations = 10;
constexpr int kTopSpeed = 3;
static_assert(1 <= kPackages && kPackages <= 15, "a load has four bits");

// From the lowest bit: speed + 3 (three bits), position (4), crashed (1), load of the truck (4),
// loads of the locations (4 each). `aux_vel` is only ever 1 or, after a crash, -1.
constexpr int kPositionShift = 3;
constexpr int kCrashedShift = 7;
constexpr int kTruckShift = 8;
constexpr int kFirstLoadShift = 12;

constexpr int load_shift(int location) { return kFirstLoadShift + 4 * location; }

constexpr State pack(int position, int speed) {
    return static_cast<State>(position) << kPositionShift | static_cast<State>(speed + kTopSpeed);
}

constexpr State kSpeedMask = 7;
constexpr State kRuleMask = (State{1} << kTruckShift) - 1;
constexpr State kCrashed = State{1} << kCrashedShift;
constexpr State kOnTruck = State{1} << kTruckShift;
constexpr State kTruckMask = State{15} << kTruckShift;
constexpr State kStart = State{kPackages} << load_shift(0) | pack(0, 0);
constexpr State kGoal =
    State{kPackages} << load_shift(kLocations - 1) | (pack(kLocations - 1, 0) & ~kSpeedMask);

constexpr bool is_goal(State state) { return (state & ~kSpeedMask) == kGoal; }
constexpr bool is_fail(State state) { return (state & kCrashed) != 0; }

struct Counts {
    std::uint64_t pairs = 0;
    std::uint64_t fail = 0;
    std::uint64_t goal = 0;
    std::uint64_t depth = 0;
    bool complete = true;
};

inline double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

inline void print(const Counts& counts, std::size_t num_states, double seconds) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    // Every pair of this deterministic model has one outcome.
    std::printf(
        "{\"states\": %zu, \"pairs\": %ju, \"outcomes\": %ju, \"fail\": %ju, \"goal\": %ju, "
        "\"dead_ends\": 0, \"depth\": %ju, \"complete\": %s, \"seconds\": %.6f, "
        "\"states_per_second\": %.0f, \"user_seconds\": %.6f, \"system_seconds\": %.6f}\n",
        num_states, counts.pairs, counts.pairs, counts.fail, counts.goal, counts.depth,
        counts.complete ? "true" : "false", seconds, static_cast<double>(num_states) / seconds,
        seconds_of(usage.ru_utime), seconds_of(usage.ru_stime));
}

template <typename Explorer>
int explore_and_print(int argc, char** argv) {
    const std::size_t max_states = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
    if (max_states == 0) {
        std::fprintf(stderr, "usage: %s MAX_STATES\n", argv[0]);
        return 2;
    }
    const auto begin = std::chrono::steady_clock::now();
    Explorer explorer(max_states);
    const Counts counts = explorer.run();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    print(counts, explorer.num_states(), elapsed.count());
    return 0;
}

}  // namespace two_way_line
