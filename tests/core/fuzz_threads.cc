/*
  Fuzzing with one worker and with several gives the same runs, on random tasks; under the thread
  sanitizer, so that a race is found even where it does no harm.
*/
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "explicit_task.h"
#include "fuzz/fuzz.h"

namespace surefoot::tests {
namespace {

Table random_table(Random& random, std::uint32_t states, std::uint32_t actions) {
    Table table(states);
    for (auto& row : table) {
        for (std::uint32_t a = 0; a < actions; ++a) {
            Outcomes& outcomes = row.emplace_back();
            const std::uint64_t count = random.below(std::uint64_t{4});
            for (std::uint64_t i = 0; i < count; ++i) {
                const auto next = static_cast<std::uint32_t>(random.below(std::uint64_t{states}));
                if (std::find(outcomes.begin(), outcomes.end(), next) == outcomes.end())
                    outcomes.push_back(next);
            }
        }
    }
    return table;
}

bool are_equal(const FuzzRun& a, const FuzzRun& b) {
    return a.end == b.end && a.strategy == b.strategy && a.path_hash == b.path_hash &&
           a.reason == b.reason && a.steps == b.steps && a.states == b.states &&
           a.actions == b.actions && a.is_done && b.is_done;
}

// Whether all runs, and the counts, are those of one worker.
bool agrees(const ExplicitTask& task, const std::vector<Word>& starts, FuzzOptions options) {
    const auto run = [&](std::uint64_t workers) {
        RandomPolicy policy(options.seed);
        options.workers = workers;
        Budget budget(600, ~std::uint64_t{0}, ~std::uint64_t{0}, nullptr);
        return fuzz(task, policy, starts, nullptr, options, budget);
    };
    const FuzzResult alone = run(1);
    const FuzzResult together = run(4);
    bool is_same = alone.states == together.states && alone.decisions == together.decisions;
    for (std::size_t i = 0; i < alone.runs.size(); ++i)
        is_same = is_same && are_equal(alone.runs[i], together.runs[i]);
    return is_same;
}

int test(std::uint64_t rounds) {
    std::uint64_t mistakes = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        Random random(round, 0);
        const std::uint32_t states = 3000;
        Outcomes fails;
        for (std::uint32_t i = 0; i < 20; ++i)
            fails.push_back(static_cast<std::uint32_t>(random.below(std::uint64_t{states})));
        const ExplicitTask task(random_table(random, states, 3), fails, {1, 2, 3}, round % 2);
        std::vector<Word> starts;
        for (std::uint64_t i = 0; i < 200; ++i) {
            starts.push_back(random.below(std::uint64_t{states}));
            starts.push_back(0);
        }
        FuzzOptions options;
        options.strategies.front().bias = static_cast<Bias>(round % 3);
        if (round % 4 != 0) options.strategies.front().lookahead = 1 + round % 4;
        if (round % 2 == 0) options.strategies.push_back({Bias::weighted, 2});
        options.max_steps = 100;
        options.seed = round;
        mistakes += !agrees(task, starts, options);
    }
    std::printf("{\"rounds\": %llu, \"mistakes\": %llu}\n", static_cast<unsigned long long>(rounds),
                static_cast<unsigned long long>(mistakes));
    return mistakes == 0 ? 0 : 1;
}

}  // namespace
}  // namespace surefoot::tests

int main(int argc, char** argv) {
    return surefoot::tests::test(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10);
}
