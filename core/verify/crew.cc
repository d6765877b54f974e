#include "verify/crew.h"

#include <system_error>

namespace surefoot {

Crew::Crew(std::size_t size) {
    try {
        for (std::size_t worker = 1; worker < size; ++worker)
            threads_.emplace_back([this, worker] { follow(worker); });
    } catch (const std::system_error&) {
        return;  // the caller's thread is enough
    }
}

Crew::~Crew() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    has_begun_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Crew::work(const Work& work) {
    {
        const std::lock_guard lock(mutex_);
        work_ = &work;
        busy_ = threads_.size();
        ++round_;
    }
    has_begun_.notify_all();
    do_work(work, 0);
    std::unique_lock lock(mutex_);
    is_done_.wait(lock, [this] { return busy_ == 0; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Crew::follow(std::size_t worker) {
    std::uint64_t done = 0;
    std::unique_lock lock(mutex_);
    while (true) {
        has_begun_.wait(lock, [&] { return is_over_ || round_ != done; });
        if (is_over_) return;
        done = round_;
        const Work& work = *work_;
        lock.unlock();
        do_work(work, worker);
        lock.lock();
        if (--busy_ == 0) is_done_.notify_one();
    }
}

void Crew::do_work(const Work& work, std::size_t worker) {
    try {
        work(worker);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
    }
}

}  // namespace surefoot
