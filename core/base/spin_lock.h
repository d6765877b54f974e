/*
  A lock for work that takes less than falling asleep does.
*/
#pragma once

#include <atomic>
#include <thread>

namespace surefoot {

class SpinLock {
public:
    void lock() {
        for (int tries = 0; is_taken_.exchange(true, std::memory_order_acquire); ++tries) {
            if (tries % kTriesPerYield == kTriesPerYield - 1) std::this_thread::yield();
        }
    }
    void unlock() { is_taken_.store(false, std::memory_order_release); }

private:
    static constexpr int kTriesPerYield = 64;
    std::atomic<bool> is_taken_ = false;
};

}  // namespace surefoot
