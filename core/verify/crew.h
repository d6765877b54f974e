/*
  Threads that work together on one thing after the other.

  A Crew does the same work on all of its threads, the caller's included, and goes on when all are
  done. The threads stay for the next work.
*/
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace surefoot {

class Crew {
public:
    using Work = std::function<void(std::size_t worker)>;

    // If the system does not give so many threads, fewer will do.
    explicit Crew(std::size_t size);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    // Let every worker do the work, the caller as worker 0. Throws what one of them threw.
    void work(const Work& work);

private:
    void follow(std::size_t worker);
    void do_work(const Work& work, std::size_t worker);

    std::mutex mutex_;  // for what follows
    std::condition_variable has_begun_;
    std::condition_variable is_done_;
    const Work* work_ = nullptr;
    std::uint64_t round_ = 0;
    std::size_t busy_ = 0;
    bool is_over_ = false;
    std::exception_ptr error_;
    std::vector<std::thread> threads_;
};

}  // namespace surefoot
