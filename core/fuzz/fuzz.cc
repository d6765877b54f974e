#include "fuzz/fuzz.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "fuzz/runner.h"

namespace surefoot {

namespace {

constexpr auto kPause = std::chrono::milliseconds(20);  // between two looks at the clock
constexpr std::uint64_t kFew = 8;  // after more expanded states the clock is looked at

// What the workers share.
class Work {
public:
    Work(const Task& task, const std::vector<Word>& starts, std::vector<FuzzRun>& runs)
        : width_(task.words()), starts_(starts), runs_(runs) {}

    // Do runs until there are none left, somebody stops, or an earlier run met an error.
    void help(Runner& runner, std::uint64_t max_bytes) {
        while (stopped() == StopReason::none) {
            const std::uint64_t number = next_.fetch_add(1);
            if (number >= runs_.size() || number > first_error_.load()) return;
            try {
                do_run(runner, number, max_bytes);
            } catch (...) {
                note_error(number);
            }
            done_.fetch_add(1);
            failing_.fetch_add(runs_[number].end == RunEnd::fail);
        }
    }

    void stop(StopReason reason) { stopped_.store(reason); }
    StopReason stopped() const { return stopped_.load(std::memory_order_relaxed); }
    // How far they are; the depth is the number of failing runs.
    Progress progress(std::uint64_t states) const {
        return {states, done_.load(), failing_.load(), 0, 0};
    }

    void raise_error() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    // A run that runs out of memory is done again, alone in it.
    void do_run(Runner& runner, std::uint64_t number, std::uint64_t max_bytes) {
        const Word* const start = starts_.data() + number * width_;
        if (runner.bytes() > max_bytes / 2) runner.forget();
        const bool was_empty = runner.graph().size() == 0;
        runs_[number] = runner.run(number, start);
        if (runs_[number].reason != CutReason::memory || was_empty) return;
        runner.forget();
        runs_[number] = runner.run(number, start);
    }

    void note_error(std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        if (number >= first_error_.load()) return;
        first_error_.store(number);
        error_ = std::current_exception();
    }

    std::size_t width_;
    const std::vector<Word>& starts_;
    std::vector<FuzzRun>& runs_;
    std::atomic<std::uint64_t> next_ = 0;
    std::atomic<std::uint64_t> done_ = 0;
    std::atomic<std::uint64_t> failing_ = 0;
    std::atomic<std::uint64_t> first_error_ = ~std::uint64_t{0};
    std::atomic<StopReason> stopped_ = StopReason::none;
    std::mutex mutex_;
    std::exception_ptr error_;
};

class Fuzzer {
public:
    Fuzzer(const Task& task, Policy& policy, const std::vector<Word>& starts, const Layout* layout,
           const FuzzOptions& options, Budget& budget)
        : task_(task), policy_(policy), layout_(layout), options_(options), budget_(budget) {
        result_.runs.resize(starts.size() / task.words());
        work_.emplace(task, starts, result_.runs);
    }

    FuzzResult run() {
        result_.stopped = budget_.look({});
        if (result_.stopped != StopReason::none) return std::move(result_);
        const std::uint64_t workers = std::clamp<std::uint64_t>(
            options_.workers, 1, std::max<std::size_t>(result_.runs.size(), 1));
        if (workers == 1)
            run_here();
        else
            run_in_threads(workers);
        work_->raise_error();
        result_.stopped = work_->stopped();
        return std::move(result_);
    }

private:
    void run_here() {
        Runner runner(task_, policy_, layout_, options_, [this](const Progress& progress) {
            if (progress.bytes > budget_.max_bytes()) return StopReason::memory;
            const Progress now = work_->progress(progress.states);
            const StopReason reason =
                progress.expanded > kFew ? budget_.look(now) : budget_.poll(now);
            if (reason != StopReason::none) work_->stop(reason);
            return reason;
        });
        work_->help(runner, budget_.max_bytes());
        result_.states = runner.num_states();
        result_.decisions = runner.num_decisions();
        result_.bytes = runner.bytes();
    }

    void run_in_threads(std::uint64_t workers) {
        const std::uint64_t max_bytes = budget_.max_bytes() / workers;
        std::vector<std::unique_ptr<Policy>> policies;
        std::vector<std::unique_ptr<Runner>> runners;
        std::vector<std::unique_ptr<std::atomic<std::uint64_t>>> sizes;
        for (std::uint64_t i = 0; i < workers; ++i) {
            policies.push_back(policy_.fork());
            auto& size = *sizes.emplace_back(std::make_unique<std::atomic<std::uint64_t>>(0));
            runners.push_back(
                std::make_unique<Runner>(task_, *policies.back(), layout_, options_,
                                         [this, max_bytes, &size](const Progress& progress) {
                                             size.store(progress.states, std::memory_order_relaxed);
                                             if (progress.bytes > max_bytes)
                                                 return StopReason::memory;
                                             return work_->stopped();
                                         }));
        }
        std::vector<std::thread> threads;
        for (auto& runner : runners) {
            threads.emplace_back([this, max_bytes, &runner] {
                work_->help(*runner, max_bytes);
                const std::lock_guard lock(mutex_);
                ++finished_;
                changed_.notify_one();
            });
        }
        wait_for(threads, sizes);
        unite(runners);
    }

    // Look at the clock, and listen to Ctrl-C, until all are done.
    void wait_for(std::vector<std::thread>& threads, const auto& sizes) {
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, kPause, [&] { return finished_ == threads.size(); })) {
            lock.unlock();
            std::uint64_t states = 0;
            for (const auto& size : sizes) states += size->load(std::memory_order_relaxed);
            const StopReason reason = budget_.look(work_->progress(states));
            if (reason != StopReason::none) work_->stop(reason);
            lock.lock();
        }
        lock.unlock();
        for (std::thread& thread : threads) thread.join();
    }

    // Count the different states of all workers: each counts those that no earlier one has.
    void unite(const std::vector<std::unique_ptr<Runner>>& runners) {
        std::vector<Counts> counts(runners.size());
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < runners.size(); ++i)
            threads.emplace_back([&, i] { counts[i] = count_new(runners, i); });
        for (std::thread& thread : threads) thread.join();
        for (std::size_t i = 0; i < runners.size(); ++i) {
            result_.states += counts[i].states + runners[i]->num_forgotten_states();
            result_.decisions += counts[i].decisions + runners[i]->num_forgotten_decisions();
            result_.bytes += runners[i]->bytes();
        }
    }

    struct Counts {
        std::uint64_t states = 0;
        std::uint64_t decisions = 0;
    };

    static Counts count_new(const std::vector<std::unique_ptr<Runner>>& runners, std::size_t of) {
        Counts counts;
        const PolicyGraph& graph = runners[of]->graph();
        for (std::uint32_t i = 0; i < graph.size(); ++i) {
            bool is_new = true;
            bool is_decided = graph.is_decided(StateId{i});
            for (std::size_t earlier = 0; earlier < of; ++earlier) {
                const PolicyGraph& other = runners[earlier]->graph();
                const auto known = other.find(graph.state(StateId{i}));
                is_new = is_new && !known;
                is_decided = is_decided && !(known && other.is_decided(*known));
            }
            counts.states += is_new;
            counts.decisions += is_decided;
        }
        return counts;
    }

    const Task& task_;
    Policy& policy_;
    const Layout* layout_;
    FuzzOptions options_;
    Budget& budget_;
    FuzzResult result_;
    std::optional<Work> work_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t finished_ = 0;
};

}  // namespace

FuzzResult fuzz(const Task& task, Policy& policy, const std::vector<Word>& starts,
                const Layout* layout, const FuzzOptions& options, Budget& budget) {
    return Fuzzer(task, policy, starts, layout, options, budget).run();
}

}  // namespace surefoot
