#include "fuzz/fuzz.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "fuzz/mix.h"
#include "fuzz/runner.h"

namespace surefoot {

namespace {

constexpr auto kPause = std::chrono::milliseconds(20);  // between two looks at the clock
constexpr std::uint64_t kFew = 8;  // after more expanded states the clock is looked at
constexpr std::uint64_t kPollsPerLook = 256;

constexpr std::uint64_t kGraphs = 3;  // that may be there at once: see Work

// What the workers share: the runs to do, and the nodes they do them on.
//
// Nodes that fill half of their share of the memory are left behind at the end of each worker's run
// for new ones. A run that fills all of it is done again on nodes of its own, one such run at a
// time. So whether memory cuts a run depends on the run alone.
class Work {
public:
    Work(const Task& task, const std::vector<Word>& starts, std::vector<FuzzRun>& runs,
         bool is_for_threads, std::uint64_t max_bytes)
        : width_(task.words()),
          starts_(starts),
          runs_(runs),
          is_for_threads_(is_for_threads),
          max_bytes_(max_bytes / kGraphs),
          nodes_(new_nodes()) {}

    // Go on with the next runs; which strategies make them, or none for the first of all.
    void begin_round(std::uint64_t end, std::vector<std::uint32_t> plan) {
        begin_ = end_;
        end_ = end;
        plan_ = std::move(plan);
        next_.store(begin_);
    }

    bool is_over() const { return stopped() != StopReason::none || end_ > first_error_.load(); }

    // Do runs of the round until there are none left, somebody stops, or an earlier run met an
    // error.
    void help(Runner& runner) {
        while (stopped() == StopReason::none) {
            const std::uint64_t number = next_.fetch_add(1);
            if (number >= end_ || number > first_error_.load()) return;
            try {
                do_run(runner, number);
            } catch (...) {
                note_error(number);
            }
            done_.fetch_add(1);
            failing_.fetch_add(runs_[number].end == RunEnd::fail);
        }
    }

    std::uint64_t max_bytes() const { return max_bytes_; }
    void stop(StopReason reason) { stopped_.store(reason); }
    StopReason stopped() const { return stopped_.load(std::memory_order_relaxed); }

    // How far they are; the depth is the number of failing runs.
    Progress progress() {
        const std::lock_guard lock(mutex_);
        return {nodes_->size() + left_states_, done_.load(), failing_.load(), 0, 0};
    }

    // When all are done: what they cost, or the first error.
    void finish(FuzzResult& result) {
        if (error_) std::rethrow_exception(error_);
        result.states = left_states_ + nodes_->size();
        result.decisions = left_decisions_ + nodes_->num_decided();
        result.bytes = nodes_->bytes();
        result.stopped = stopped();
    }

private:
    std::shared_ptr<GraphNodes> new_nodes() const {
        return std::make_shared<GraphNodes>(width_, is_for_threads_);
    }

    void do_run(Runner& runner, std::uint64_t number) {
        const Word* const start = starts_.data() + number * width_;
        const std::uint32_t strategy = plan_.empty() ? 0 : plan_[number - begin_];
        runs_[number] = runner.run(number, strategy, start, current_nodes());
        if (runs_[number].reason != CutReason::memory) return;
        const std::lock_guard one_at_a_time(alone_);
        auto nodes = std::make_shared<GraphNodes>(width_, false);
        runs_[number] = runner.run(number, strategy, start, nodes);
        const std::lock_guard lock(mutex_);
        leave(*nodes);
    }

    std::shared_ptr<GraphNodes> current_nodes() {
        const std::lock_guard lock(mutex_);
        if (nodes_->bytes() > max_bytes_ / 2) {
            leave(*nodes_);
            nodes_ = new_nodes();
        }
        return nodes_;
    }

    void leave(const GraphNodes& nodes) {
        left_states_ += nodes.size();
        left_decisions_ += nodes.num_decided();
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
    bool is_for_threads_;
    std::uint64_t max_bytes_;  // of one graph
    std::uint64_t begin_ = 0;  // of the round
    std::uint64_t end_ = 0;
    std::vector<std::uint32_t> plan_;
    std::mutex alone_;
    std::mutex mutex_;  // for what follows
    std::shared_ptr<GraphNodes> nodes_;
    std::uint64_t left_states_ = 0;
    std::uint64_t left_decisions_ = 0;
    std::exception_ptr error_;
    std::atomic<std::uint64_t> first_error_ = ~std::uint64_t{0};
    std::atomic<std::uint64_t> next_ = 0;
    std::atomic<std::uint64_t> done_ = 0;
    std::atomic<std::uint64_t> failing_ = 0;
    std::atomic<StopReason> stopped_ = StopReason::none;
};

class Fuzzer {
public:
    Fuzzer(const Task& task, const Policy& policy, const std::vector<Word>& starts,
           const Layout* layout, const FuzzOptions& options, Budget& budget)
        : task_(task), policy_(policy), layout_(layout), options_(options), budget_(budget) {
        result_.runs.resize(starts.size() / task.words());
        const auto runs = static_cast<std::uint64_t>(result_.runs.size());
        workers_ = std::clamp<std::uint64_t>(options.workers, 1, std::max<std::uint64_t>(runs, 1));
        work_.emplace(task, starts, result_.runs, workers_ > 1, budget.max_bytes());
    }

    FuzzResult run() {
        result_.stopped = budget_.look({});
        if (result_.stopped != StopReason::none) return std::move(result_);
        make_runners();
        if (options_.strategies.size() == 1)
            do_round(result_.runs.size(), {});
        else
            do_rounds();
        work_->finish(result_);
        return std::move(result_);
    }

private:
    void make_runners() {
        const bool is_alone = workers_ == 1;
        for (std::uint64_t i = 0; i < workers_; ++i) {
            runners_.push_back(std::make_unique<Runner>(
                task_, policy_, layout_, options_, [this, is_alone](const Progress& progress) {
                    if (progress.bytes > work_->max_bytes()) return StopReason::memory;
                    return is_alone ? look(progress) : work_->stopped();
                }));
        }
    }

    StopReason look(const Progress& progress) {
        if (progress.expanded <= kFew && ++polls_ % kPollsPerLook != 0 && !is_slow())
            return StopReason::none;
        return look_at_budget();
    }

    StopReason look_at_budget() {
        const StopReason reason = budget_.look(work_->progress());
        if (reason != StopReason::none) work_->stop(reason);
        return reason;
    }

    void do_rounds() {
        Mix mix(options_.strategies.size(), task_.words());
        std::uint64_t done = 0;
        while (done < result_.runs.size() && !work_->is_over()) {
            const std::uint64_t end =
                std::min<std::uint64_t>(done + Mix::kRoundRuns, result_.runs.size());
            do_round(end, mix.plan());
            mix.learn(result_.runs, done, end);
            done = end;
            look_at_budget();  // a round may be shorter than the pauses between looks
        }
    }

    // Do the runs up to this one.
    void do_round(std::uint64_t end, std::vector<std::uint32_t> plan) {
        work_->begin_round(end, std::move(plan));
        if (workers_ == 1)
            work_->help(*runners_.front());
        else
            run_in_threads();
    }

    bool is_slow() const { return task_.is_slow() || policy_.is_slow(); }

    void run_in_threads() {
        finished_ = 0;
        std::vector<std::thread> threads;
        try {
            for (auto& runner : runners_) {
                threads.emplace_back([this, &runner] {
                    work_->help(*runner);
                    const std::lock_guard lock(mutex_);
                    ++finished_;
                    changed_.notify_one();
                });
            }
        } catch (const std::system_error&) {
            if (threads.empty()) throw;  // fewer will do
        }
        wait_for(threads);
    }

    // Look at the clock, and listen to Ctrl-C, until all are done.
    void wait_for(std::vector<std::thread>& threads) {
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, kPause, [&] { return finished_ == threads.size(); })) {
            lock.unlock();
            look_at_budget();
            lock.lock();
        }
        lock.unlock();
        for (std::thread& thread : threads) thread.join();
    }

    const Task& task_;
    const Policy& policy_;
    const Layout* layout_;
    FuzzOptions options_;
    Budget& budget_;
    FuzzResult result_;
    std::uint64_t workers_;
    std::optional<Work> work_;
    std::vector<std::unique_ptr<Runner>> runners_;
    std::uint64_t polls_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t finished_ = 0;
};

}  // namespace

std::vector<EndCount> count_ends(const std::vector<FuzzRun>& runs) {
    std::vector<EndCount> counts;
    for (const FuzzRun& run : runs) {
        if (!run.is_done) continue;
        const auto known = std::find_if(counts.begin(), counts.end(), [&](const EndCount& count) {
            return count.end == run.end && count.reason == run.reason;
        });
        if (known == counts.end())
            counts.push_back({run.end, run.reason, 1});
        else
            ++known->runs;
    }
    return counts;
}

std::uint64_t count_steps(const std::vector<FuzzRun>& runs) {
    std::uint64_t steps = 0;
    for (const FuzzRun& run : runs) steps += run.is_done ? run.steps : 0;
    return steps;
}

std::uint64_t count_distinct(const std::vector<FuzzRun>& runs) {
    std::unordered_set<std::uint64_t> paths;
    for (const FuzzRun& run : runs) {
        if (run.is_done) paths.insert(run.path_hash);
    }
    return paths.size();
}

std::vector<std::vector<std::uint64_t>> equal_failing(const std::vector<FuzzRun>& runs) {
    std::vector<std::vector<std::uint64_t>> groups;
    std::unordered_multimap<std::uint64_t, std::size_t> group_of;  // by hash
    for (std::uint64_t number = 0; number < runs.size(); ++number) {
        const FuzzRun& run = runs[number];
        if (!run.is_done || run.end != RunEnd::fail) continue;
        const std::uint64_t hash = hash_words(run.states.data(), run.states.size());
        const auto [begin, end] = group_of.equal_range(hash);
        const auto same = std::find_if(begin, end, [&](const auto& entry) {
            const FuzzRun& first = runs[groups[entry.second].front()];
            return first.states == run.states && first.actions == run.actions;
        });
        if (same != end) {
            groups[same->second].push_back(number);
            continue;
        }
        group_of.emplace(hash, groups.size());
        groups.push_back({number});
    }
    return groups;
}

FuzzResult fuzz(const Task& task, const Policy& policy, const std::vector<Word>& starts,
                const Layout* layout, const FuzzOptions& options, Budget& budget) {
    return Fuzzer(task, policy, starts, layout, options, budget).run();
}

}  // namespace surefoot
