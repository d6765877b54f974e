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

const char* name_of(CutReason reason) {
    static const char* const names[] = {
        "",       "steps",       "exhausted",   "seconds",
        "memory", "interrupted", "model-error", "nothing-reachable-fails"};
    return names[static_cast<int>(reason)];
}

using Given = std::tuple<std::string, std::optional<std::uint64_t>, std::optional<std::uint64_t>>;

std::vector<Strategy> strategies_of(const std::vector<Given>& given) {
    if (given.empty()) throw std::invalid_argument("there is no strategy");
    std::vector<Strategy> strategies;
    for (const auto& [bias, lookahead, lookahead_states] : given)
        strategies.push_back({bias_of(bias), lookahead, lookahead_states});
    return strategies;
}

FuzzResult fuzz_runs(const Task& task, const Policy& policy, const nb::bytes& starts,
                     const std::vector<Given>& strategies, std::uint64_t max_steps,
                     std::uint64_t seed, const std::string& perturb, std::uint64_t changes,
                     std::uint64_t workers, bool goes_on, const Guidance* guidance,
                     double max_seconds, std::uint64_t max_bytes, nb::object progress) {
    const std::vector<Word> words = to_words(task, starts);
    const auto* const compiled = dynamic_cast<const CompiledTask*>(&task);
    const FuzzOptions options{strategies_of(strategies),
                              max_steps,
                              seed,
                              perturb_of(perturb),
                              changes,
                              workers,
                              goes_on,
                              guidance};
    PythonBudget budget(max_seconds, max_bytes, ~std::uint64_t{0}, std::move(progress));
    if (task.is_slow() || policy.is_slow()) budget.budget().look_always();
    FuzzResult found;
    {
        nb::gil_scoped_release let_other_threads_run;
        found = fuzz(task, policy, words, compiled == nullptr ? nullptr : &compiled->layout(),
                     options, budget.budget());
    }
    budget.raise_pending();
    return found;
}

constexpr const char* kReason = "Why it was cut; empty if it was not.";

template <typename Counted>
const char* reason_of(const Counted& counted) {
    return name_of(counted.reason);
}

void bind_runs(nb::module_& module) {
    nb::class_<Change>(module, "Change", "One change of a perturbed start.")
        .def_prop_ro(
            "variable",
            [](const Change& change) {
                return change.variable < 0 ? std::nullopt : std::optional(change.variable);
            },
            "The variable whose value changed; None: an action was taken.")
        .def_ro("value", &Change::value, "The new value, a real as its bits; or the action.")
        .def_prop_ro(
            "state", [](const Change& change) { return to_bytes(change.state); }, "After it.");
    nb::class_<FuzzRun>(module, "FuzzRun", "A fuzzed run.")
        .def_ro("is_done", &FuzzRun::is_done, "False: there was no time for it.")
        .def_ro("end", &FuzzRun::end)
        .def_prop_ro("reason", &reason_of<FuzzRun>, kReason)
        .def_ro("strategy", &FuzzRun::strategy, "Which of the strategies made it.")
        .def_ro("steps", &FuzzRun::steps)
        .def_prop_ro("states", &states_of<FuzzRun>,
                     "Packed: all if the run fails, else the first only.")
        .def_prop_ro(
            "actions", [](const FuzzRun& run) { return numbers_of(run.actions); },
            "If the run fails.")
        .def_prop_ro(
            "reached",
            [](const FuzzRun& run) {
                return run.reached.empty() ? std::nullopt : std::optional(to_bytes(run.reached));
            },
            "Of a perturbed run: where the changes began.")
        .def_ro("changes", &FuzzRun::changes);
    nb::class_<EndCount>(module, "EndCount", "How many runs ended so.")
        .def_ro("end", &EndCount::end)
        .def_prop_ro("reason", &reason_of<EndCount>, kReason)
        .def_ro("runs", &EndCount::runs);
}

void bind_result(nb::module_& module) {
    nb::class_<FuzzResult>(module, "FuzzResult", "What fuzzing found.")
        .def_ro("runs", &FuzzResult::runs, "By number.")
        .def(
            "run",
            [](const FuzzResult& result, std::size_t number) -> const FuzzRun& {
                if (number >= result.runs.size()) throw std::out_of_range("no such run");
                return result.runs[number];
            },
            "number"_a, nb::rv_policy::reference_internal, "Return one of the runs.")
        .def("__len__", [](const FuzzResult& result) { return result.runs.size(); })
        .def_prop_ro(
            "ends", [](const FuzzResult& result) { return count_ends(result.runs); },
            "How the runs that are done ended, in the order in which that first occurs.")
        .def_prop_ro(
            "steps", [](const FuzzResult& result) { return count_steps(result.runs); },
            "Of all runs together.")
        .def_prop_ro(
            "distinct", [](const FuzzResult& result) { return count_distinct(result.runs); },
            "How many of the runs went through different states.")
        .def(
            "equal_failing", [](const FuzzResult& result) { return equal_failing(result.runs); },
            "Return the numbers of failing runs, those of equal ones together.")
        .def_ro("decisions", &FuzzResult::decisions)
        .def_ro("states", &FuzzResult::states)
        .def_ro("bytes", &FuzzResult::bytes)
        .def_prop_ro("stopped", &stopped_of<FuzzResult>, kStoppedWords, kStopped);
}

}  // namespace

void bind_fuzz(nb::module_& module) {
    bind_runs(module);
    bind_result(module);
    module.def("fuzz", &fuzz_runs, "task"_a, "policy"_a, "starts"_a, nb::kw_only(), "strategies"_a,
               "max_steps"_a, "seed"_a, "perturb"_a, "changes"_a, "workers"_a, "goes_on"_a,
               "guidance"_a.none() = nb::none(), "max_seconds"_a, "max_bytes"_a,
               "progress"_a.none(),
               "Return a run from each of the packed start states. A strategy is a bias, how many "
               "steps it looks ahead, and after how many states it goes no deeper.");
}

}  // namespace surefoot
