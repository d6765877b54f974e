/*
  What a search may use, and who may stop it.

  Budget bounds seconds, bytes and states. Searches call poll() often (it is cheap: most calls only
  count) and stop with the reason it returns. About ten times a second poll() also calls `tick` with
  the progress so far; tick returns false to stop the search (Ctrl-C).
*/
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>

namespace surefoot {

// `model_error` is for who goes on after one, in states that nobody may reach.
enum class StopReason : std::uint8_t { none, seconds, memory, states, interrupted, model_error };

struct Progress {
    std::uint64_t states = 0;
    std::uint64_t expanded = 0;
    std::uint64_t depth = 0;
    std::uint64_t bytes = 0;
    double seconds = 0;
};

class Budget {
public:
    using Tick = std::function<bool(const Progress&)>;

    Budget(double max_seconds, std::uint64_t max_bytes, std::uint64_t max_states, Tick tick)
        : max_seconds_(max_seconds),
          max_bytes_(max_bytes),
          max_states_(max_states),
          tick_(std::move(tick)) {}

    std::uint64_t max_bytes() const { return max_bytes_; }
    std::uint64_t max_states() const { return max_states_; }

    double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

    // For tasks whose single steps are slow.
    void look_always() { calls_per_look_ = 1; }

    // Call after every small piece of work; looks at the clock only now and then.
    StopReason poll(const Progress& progress) {
        if (progress.bytes > max_bytes_) return StopReason::memory;
        if (++calls_ % calls_per_look_ != 0) return StopReason::none;
        return look(progress);
    }

    // Look at the clock now.
    StopReason look(Progress progress) {
        progress.seconds = seconds();
        if (progress.seconds > max_seconds_) return StopReason::seconds;
        if (progress.seconds < next_tick_) return StopReason::none;
        next_tick_ = progress.seconds + kSecondsPerTick;
        return tick_ && !tick_(progress) ? StopReason::interrupted : StopReason::none;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr double kSecondsPerTick = 0.1;

    double max_seconds_;
    std::uint64_t max_bytes_;
    std::uint64_t max_states_;
    Tick tick_;
    Clock::time_point begin_ = Clock::now();
    std::uint64_t calls_ = 0;
    std::uint64_t calls_per_look_ = 256;
    double next_tick_ = kSecondsPerTick;
};

}  // namespace surefoot
