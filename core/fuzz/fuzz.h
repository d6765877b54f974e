/*
  Fuzzing: find runs of the policy that fail.

  What it does: follows runs from given states. Where the environment has a choice it looks ahead
  over the policy's graph, layer by layer, until the least distance to fail (or to what the guidance
  says) in the last layer is unique, a limit is reached (of steps or of states), or a fail state is
  seen, and goes on from a state of the lookahead that the bias picks: any (uniform), one of the
  last layer with the least distance (greedy), or any, a state at distance h with a weight of
  exp(-h). Biases other than uniform go to a fail state that they see. The state where the lookahead
  begins is not part of it: runs do not stand still. Guarantee: every run is a run of the policy. It
  is cut because nothing fails only if everything the policy can reach from its start was seen. Run
  `k` depends on task, policy, strategy, seed and `k` only, not on the number of workers, unless
  time cuts it. With several strategies, which one makes it depends on the runs before (mix.h).
  Cost: a decision per state, kept from run to run and shared by all workers; one step of a run that
  sees nothing new is a few reads. When to use it: to find failures fast; verification proves that
  there are none. Paper: Jain et al. 2025, alg. 1, with a bound on the steps (as printed it may go
  round for ever).

  Perturbation (Steinmetz et al. 2021, 5.4) makes the states to start from: a state on a run of the
  policy, with some values changed or some other actions taken.
*/
#pragma once

#include <optional>

#include "base/budget.h"
#include "base/random.h"
#include "base/run_end.h"
#include "search/policy_graph.h"
#include "task/layout.h"

namespace surefoot {

enum class Bias : std::uint8_t { uniform, greedy, weighted };

// How a run picks where it goes on.
struct Strategy {
    Bias bias = Bias::greedy;
    std::optional<std::uint64_t> lookahead = {};         // none: unlimited
    std::optional<std::uint64_t> lookahead_states = {};  // one that has seen more goes no deeper
};

enum class Perturb : std::uint8_t { none, values, actions, both };

// A model error cuts a run whose start has changed values; elsewhere it is thrown.
enum class CutReason : std::uint8_t {
    none,
    steps,
    exhausted,
    seconds,
    memory,
    interrupted,
    model_error,
    nothing_fails,  // everything the policy can reach from the start was seen
};

struct FuzzOptions {
    std::vector<Strategy> strategies = {Strategy{}};  // several are mixed: see mix.h
    std::uint64_t max_steps = 1000;
    std::uint64_t seed = 0;
    Perturb perturb = Perturb::none;
    std::uint64_t changes = 1;
    std::uint64_t workers = 1;
    bool goes_on = false;  // a run does not end before its time where it is known to be safe
    const Guidance* guidance = nullptr;  // where runs are drawn to; none: to fail. Must stay
};

// One change of a perturbed start.
struct Change {
    std::int64_t variable;    // -1: an action was taken
    std::int64_t value;       // the new value, a real as its bits; or the action
    std::vector<Word> state;  // after it
};

struct FuzzRun {
    RunEnd end = RunEnd::cut;
    CutReason reason = CutReason::none;
    bool is_done = false;        // false: there was no time for it
    std::uint32_t strategy = 0;  // which of the strategies made it
    std::uint64_t steps = 0;
    std::uint64_t path_hash = 0;  // of all its states
    std::vector<Word> states;     // of failing runs, else the first only
    std::vector<ActionId> actions;
    std::vector<Word> reached;  // of perturbed ones: where the changes began
    std::vector<Change> changes;
};

struct FuzzResult {
    std::vector<FuzzRun> runs;
    std::uint64_t states = 0;     // different ones, in all runs; more if memory was short
    std::uint64_t decisions = 0;  // of how many of them the policy's decision was needed
    std::uint64_t bytes = 0;
    StopReason stopped = StopReason::none;
};

// How many runs ended so.
struct EndCount {
    RunEnd end = RunEnd::cut;
    CutReason reason = CutReason::none;
    std::uint64_t runs = 0;
};

// Of the runs that are done, in the order in which the ends first occur.
std::vector<EndCount> count_ends(const std::vector<FuzzRun>& runs);

std::uint64_t count_steps(const std::vector<FuzzRun>& runs);

// How many runs went through different states. Of those that do not fail only hashes are compared.
std::uint64_t count_distinct(const std::vector<FuzzRun>& runs);

// The numbers of failing runs, those with the same states and actions together, in the order in
// which they first occur.
std::vector<std::vector<std::uint64_t>> equal_failing(const std::vector<FuzzRun>& runs);

// Run `k` starts in state `k` of `starts` or, perturbed, near a run from there. `layout` is needed
// to change values. Throws the error of the first run that met one.
FuzzResult fuzz(const Task& task, const Policy& policy, const std::vector<Word>& starts,
                const Layout* layout, const FuzzOptions& options, Budget& budget);

}  // namespace surefoot
