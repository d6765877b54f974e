/*
  Runs every oracle on tasks that are millions of steps deep, with a small stack; and on a wide one.

      oracles_deep [--states N] [ORACLE ...]

  The states are 0 .. N - 1, one behind the other, and what comes behind the last one differs. The
  thread's stack has 256 KB: whatever recurses over states dies. Asks about state 0, looks at the
  verdict and at the certificate, and prints seconds, expansions and bytes per state of each run as
  a line of JSON. Exits with 1 if anything is wrong.
*/
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "explicit_task.h"
#include "oracle/task_oracle.h"

namespace surefoot::tests {

namespace {

enum class Shape { to_goal, to_dead_end, to_fail, to_fail_with_exits, cycle, cycle_with_fail };

struct Line {
    Shape shape;
    const char* name;
    Verdict verdict;
    std::uint32_t deviations;  // from the policy that always goes on; of safe ones
};

constexpr Line kLines[] = {
    {Shape::to_goal, "chain to a goal", Verdict::safe, 0},
    {Shape::to_dead_end, "chain to a dead end", Verdict::safe, 0},
    {Shape::to_fail, "chain to fail", Verdict::unsafe, 0},
    {Shape::to_fail_with_exits, "chain to fail with exits", Verdict::safe, 1},
    {Shape::cycle, "cycle", Verdict::safe, 0},
    {Shape::cycle_with_fail, "cycle with fail behind the last state", Verdict::unsafe, 0},
};

// Action 0 leads to the next state; with exits, action 1 leads to a goal behind the last state.
class LineTask : public Task {
public:
    LineTask(Shape shape, Word states) : shape_(shape), last_(states - 1) {}

    std::size_t words() const override { return 1; }
    std::size_t bits() const override { return 64; }
    std::size_t num_actions() const override { return 2; }
    std::size_t first_silent() const override { return 2; }
    bool is_state(const Word* state) const override { return *state <= last_ + 1; }
    std::unique_ptr<Stepper> stepper() const override;

    StateKind kind(Word state) const {
        const bool fails = shape_ == Shape::to_fail || shape_ == Shape::to_fail_with_exits;
        if (state == last_ && fails) return StateKind::fail;
        if (state == last_ + 1 && shape_ == Shape::cycle_with_fail) return StateKind::fail;
        if (state == last_ && shape_ == Shape::to_goal) return StateKind::goal;
        return state == last_ + 1 ? StateKind::goal : StateKind::open;
    }

    // Up to two outcomes.
    std::size_t outcomes(Word state, std::uint32_t action, Word* outcomes) const {
        if (action == 1) {
            outcomes[0] = last_ + 1;
            return shape_ == Shape::to_fail_with_exits ? 1 : 0;
        }
        outcomes[0] = state < last_ ? state + 1 : 0;
        outcomes[1] = last_ + 1;
        if (state < last_) return 1;
        if (shape_ == Shape::cycle) return 1;
        return shape_ == Shape::cycle_with_fail ? 2 : 0;
    }

private:
    Shape shape_;
    Word last_;
};

class LineStepper : public Stepper {
public:
    explicit LineStepper(const LineTask& task) : task_(task) {}

    StateKind kind(const Word* state) override { return task_.kind(*state); }
    bool is_fail(const Word* state) override { return task_.kind(*state) == StateKind::fail; }

    void expand(const Word* state, Expansion& expansion) override {
        expansion.kind = task_.kind(*state);
        if (expansion.kind != StateKind::open) return;
        for (std::uint32_t action = 0; action < 2; ++action) add(state, action, expansion);
    }

    void next_choice(const Word* state, ActionId from, Expansion& expansion) override {
        expansion.clear();
        expansion.kind = task_.kind(*state);
        if (expansion.kind != StateKind::open) return;
        for (std::uint32_t action = index(from); action < 2; ++action) {
            if (add(state, action, expansion)) return;
        }
    }

    void applicable(const Word* state, std::vector<ActionId>& actions) override {
        Word outcomes[2];
        actions.clear();
        for (std::uint32_t action = 0; action < 2; ++action) {
            if (task_.outcomes(*state, action, outcomes) > 0) actions.push_back(ActionId{action});
        }
    }

    void outcomes(const Word* state, ActionId action, Expansion& expansion) override {
        expansion.clear();
        expansion.kind = task_.kind(*state);
        add(state, index(action), expansion);
    }

    std::vector<std::int64_t> enabled_edges(const Word*) override { return {}; }

private:
    bool add(const Word* state, std::uint32_t action, Expansion& expansion) {
        Word outcomes[2];
        const std::size_t count = task_.outcomes(*state, action, outcomes);
        if (count == 0) return false;
        const auto begin = static_cast<std::uint32_t>(expansion.words.size());
        expansion.words.append(outcomes, count);
        expansion.choices.push_back(
            {ActionId{action}, begin, begin + static_cast<std::uint32_t>(count)});
        return true;
    }

    const LineTask& task_;
};

std::unique_ptr<Stepper> LineTask::stepper() const { return std::make_unique<LineStepper>(*this); }

struct Run {
    const char* oracle;
    std::optional<std::uint64_t> radius;
    Order order = Order::app;
    std::vector<Shape> shapes;
    bool has_certificate = false;
};

// Certificates, orders and pairs are the same code for all oracles: they are tried with one, on the
// lines that tell most.
std::vector<Run> all_runs() {
    const std::vector<Shape> most{Shape::to_dead_end, Shape::to_fail, Shape::cycle};
    const std::vector<Shape> others{Shape::to_goal, Shape::to_dead_end, Shape::to_fail_with_exits,
                                    Shape::cycle_with_fail};
    const std::vector<Shape> exits{Shape::to_fail_with_exits};
    std::vector<Run> runs{
        {"lazy_attractor", {}, Order::app, {Shape::to_fail, Shape::cycle}, true},
        {"lazy_attractor", {}, Order::app, others},
        {"lazy_attractor", 1, Order::app, exits, true},
        {"ipi", {}, Order::learn, exits},
        {"ipi", {}, Order::rand, {Shape::cycle}},
        {"deviations", {}, Order::app, {Shape::to_fail_with_exits, Shape::cycle_with_fail}},
    };
    for (const char* name : {"ipi", "npi", "tarjan_safe", "tarjan_safe_printed", "lrtdp",
                             "lao_star", "value_iteration", "propagate_unsafe"})
        runs.push_back({name, {}, Order::app, most});
    for (const char* name : {"tarjan_safe", "lrtdp", "lao_star", "value_iteration"})
        runs.push_back({name, 1, Order::app, exits});
    return runs;
}

// Whether the certificate follows the line: each state chooses or is ranked above the next one.
bool is_proof(const Certificate& certificate, Verdict verdict) {
    if (certificate.claim != verdict || certificate.states.empty()) return false;
    if (certificate.states[0] != 0 || certificate.stopped != StopReason::none) return false;
    if (verdict == Verdict::safe) return !certificate.entry_states.empty();
    std::vector<std::int64_t> ranks(certificate.states.size() + 2, -1);
    for (std::size_t i = 0; i < certificate.entry_states.size(); ++i)
        ranks[certificate.states[certificate.entry_states[i]]] = certificate.entry_values[i];
    for (std::size_t state = 0; state + 1 < certificate.states.size(); ++state) {
        if (ranks[state] <= ranks[state + 1] || ranks[state + 1] < 0) return false;
    }
    return true;
}

// State 1 may go to all of the chain 4, 5, ..., or to goals; the chain ends in 2, which may go back
// to 1 or to 3, and from there to fail. The last state depends on the chain, and then on 1.
ExplicitTask wide_task(std::uint32_t width) {
    constexpr std::uint32_t kChain = 4;
    const std::uint32_t goals = kChain + width;
    const std::uint32_t root = goals + width;
    Table table(root + 1, std::vector<Outcomes>(2));
    for (std::uint32_t i = 0; i < width; ++i) {
        table[1][0].push_back(kChain + i);
        table[1][1].push_back(goals + i);
        table[kChain + i][0] = {i == 0 ? 2 : kChain + i - 1};
    }
    table[2][0] = {1, 3};
    table[3][0] = {0};
    table[root][0] = {goals - 1};
    table[root][1] = {1};
    return {std::move(table), {0}};
}

struct Options {
    Word states = 5'000'000;
    std::vector<std::string> oracles;  // none: all
    bool is_fine = true;
};

void print(const char* task, const Run& run, const Answer& answer, bool is_right,
           double certificate_seconds, double bytes_per_state) {
    std::printf(
        "{\"task\": \"%s\", \"oracle\": \"%s\", \"radius\": %s, \"right\": %s, "
        "\"seconds\": %.2f, \"certificate_seconds\": %.2f, \"expanded\": %llu, "
        "\"bytes_per_state\": %.1f}\n",
        task, run.oracle, run.radius ? "1" : "null", is_right ? "true" : "false", answer.seconds,
        certificate_seconds, static_cast<unsigned long long>(answer.expanded), bytes_per_state);
    std::fflush(stdout);
}

void examine(const Line& line, const Run& run, Options& options) {
    const LineTask task(line.shape, options.states);
    FirstPolicy policy;
    TaskOracle oracle(task, {run.oracle, {run.order, 1, &policy}, run.radius});
    Budget budget(1e9, ~0ULL, ~0ULL, {});
    const Word start = 0;
    const Answer answer = oracle.decide(&start, budget);
    bool is_right = answer.verdict == line.verdict;
    double certificate_seconds = 0;
    if (run.has_certificate) {
        Budget more(1e9, ~0ULL, ~0ULL, {});
        is_right &= is_proof(oracle.certificate(&start, more), line.verdict);
        certificate_seconds = more.seconds();
    }
    if (std::strcmp(run.oracle, "deviations") == 0 && line.verdict == Verdict::safe)
        is_right &= oracle.deviations(&start) == line.deviations;
    options.is_fine &= is_right;
    print(line.name, run, answer, is_right, certificate_seconds,
          static_cast<double>(oracle.bytes()) / static_cast<double>(options.states));
}

void examine_wide(const Run& run, Options& options) {
    const ExplicitTask task = wide_task(static_cast<std::uint32_t>(options.states / 20));
    FirstPolicy policy;
    TaskOracle oracle(task, {run.oracle, {run.order, 1, &policy}, run.radius});
    Budget budget(1e9, ~0ULL, ~0ULL, {});
    Word root[ExplicitTask::kWords];
    task.pack(task.size() - 1, root);
    const Answer answer = oracle.decide(root, budget);
    const bool is_right = answer.verdict == Verdict::safe;
    options.is_fine &= is_right;
    print("many outcomes lost together", run, answer, is_right, 0,
          static_cast<double>(oracle.bytes()) / static_cast<double>(task.size()));
}

bool is_wanted(const Run& run, const Options& options) {
    if (options.oracles.empty()) return true;
    const auto at = std::find(options.oracles.begin(), options.oracles.end(), run.oracle);
    return at != options.oracles.end();
}

void* examine_all(void* argument) {
    Options& options = *static_cast<Options*>(argument);
    for (const Run& run : all_runs()) {
        if (!is_wanted(run, options)) continue;
        if (!run.radius && run.order == Order::app) examine_wide(run, options);
        for (Shape shape : run.shapes) {
            for (const Line& line : kLines) {
                if (line.shape == shape) examine(line, run, options);
            }
        }
    }
    return nullptr;
}

}  // namespace

}  // namespace surefoot::tests

int main(int count, char** arguments) {
    using namespace surefoot::tests;
    constexpr std::size_t kStackBytes = 256 * 1024;
    Options options;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(arguments[i], "--states") == 0 && i + 1 < count) {
            options.states = std::strtoull(arguments[++i], nullptr, 10);
        } else {
            options.oracles.emplace_back(arguments[i]);
        }
    }
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, kStackBytes) != 0) return 2;
    if (pthread_create(&thread, &attributes, examine_all, &options) != 0) return 2;
    pthread_join(thread, nullptr);
    return options.is_fine ? 0 : 1;
}
