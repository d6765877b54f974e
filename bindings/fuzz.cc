#include "fuzz/fuzz.h"

#include <nanobind/stl/optional.h>

#include "bindings.h"
#include "task/compiled_task.h"

namespace surefoot {

namespace {

Bias bias_of(const std::string& name) {
    if (name == "uniform") return Bias::uniform;
    if (name == "greedy") return Bias::greedy;
    if (name == "weighted") return Bias::weighted;
    throw std::invalid_argument("there is no such bias");
}

Perturb perturb_of(const std::string& name) {
    if (name == "none") return Perturb::none;
    if (name == "values") return Perturb::values;
    if (name == "actions") return Perturb::actions;
    if (name == "both") return Perturb::both;
    throw std::invalid_argument("there is no such way to perturb");
}

// (result, reason, steps, first state, states and actions if it fails, changes if there are any)
nb::tuple to_tuple(const FuzzRun& run, std::size_t words) {
    static const char* const ends[] = {"fail", "goal", "safe", "cut", "dead_end", "inapplicable"};
    static const char* const reasons[] = {"",       "steps",       "exhausted",  "seconds",
                                          "memory", "interrupted", "model-error"};
    nb::object failing = nb::none();
    if (run.end == RunEnd::fail) {
        failing = nb::make_tuple(to_bytes(run.states.data(), run.states.size()),
                                 nb::bytes(reinterpret_cast<const char*>(run.actions.data()),
                                           run.actions.size() * sizeof(ActionId)));
    }
    nb::object made = nb::none();
    if (!run.reached.empty()) {
        nb::list changes;
        for (const Change& change : run.changes)
            changes.append(nb::make_tuple(change.variable, change.value,
                                          to_bytes(change.state.data(), words)));
        made = nb::make_tuple(to_bytes(run.reached.data(), words), changes);
    }
    return nb::make_tuple(ends[static_cast<int>(run.end)], reasons[static_cast<int>(run.reason)],
                          run.steps, to_bytes(run.states.data(), words), failing, made);
}

nb::dict fuzz_runs(const Task& task, Policy& policy, const nb::bytes& starts,
                   const std::string& bias, std::optional<std::uint64_t> lookahead,
                   std::uint64_t max_steps, std::uint64_t seed, const std::string& perturb,
                   std::uint64_t changes, std::uint64_t workers, bool goes_on,
                   std::optional<std::uint64_t> lookahead_states, double max_seconds,
                   std::uint64_t max_bytes, nb::object progress) {
    const std::vector<Word> words = to_words(task, starts);
    const auto* const compiled = dynamic_cast<const CompiledTask*>(&task);
    const FuzzOptions options{bias_of(bias),       lookahead, max_steps, seed,
                              perturb_of(perturb), changes,   workers,   goes_on,
                              lookahead_states};
    PythonBudget budget(max_seconds, max_bytes, ~std::uint64_t{0}, std::move(progress));
    if (task.is_slow() || policy.is_slow()) budget.budget().look_always();
    FuzzResult found;
    {
        nb::gil_scoped_release let_other_threads_run;
        found = fuzz(task, policy, words, compiled == nullptr ? nullptr : &compiled->layout(),
                     options, budget.budget());
    }
    budget.raise_pending();
    // None of the many new objects is garbage: nobody needs to look for some among them.
    const int was_on = PyGC_Disable();
    nb::list runs;
    for (const FuzzRun& run : found.runs)
        runs.append(run.is_done ? nb::object(to_tuple(run, task.words())) : nb::none());
    if (was_on != 0) PyGC_Enable();
    nb::dict result;
    result["runs"] = runs;
    result["decisions"] = found.decisions;
    result["states"] = found.states;
    result["bytes"] = found.bytes;
    result["stopped"] = name_of(found.stopped);
    return result;
}

}  // namespace

void bind_fuzz(nb::module_& module) {
    module.def("fuzz", &fuzz_runs, "task"_a, "policy"_a, "starts"_a, nb::kw_only(), "bias"_a,
               "lookahead"_a.none(), "max_steps"_a, "seed"_a, "perturb"_a, "changes"_a, "workers"_a,
               "goes_on"_a, "lookahead_states"_a.none(), "max_seconds"_a, "max_bytes"_a,
               "progress"_a.none(),
               "Return fuzzed runs: result, reason, steps, start, the run if it fails, how the "
               "start was made; None for runs there was no time for.");
}

}  // namespace surefoot
