#include <nanobind/stl/optional.h>

#include "bindings.h"
#include "fault/fault_analysis.h"
#include "oracles.h"

namespace surefoot {

namespace {

FaultAnalysis::Ask ask_of(TaskOracle& oracle) {
    return [&oracle](const Word* state, std::uint64_t spent, Budget& budget) {
        const Answer answer = oracle.decide(state, budget, spent);
        return FoundVerdict{answer.verdict, answer.stopped};
    };
}

void make_analysis(FaultAnalysis* self, TaskOracle& oracle, std::optional<std::uint64_t> radius) {
    new (self) FaultAnalysis(oracle.task(), ask_of(oracle), radius);
}

// The states and actions of a run. Throws std::invalid_argument if their numbers do not fit.
std::pair<std::vector<Word>, std::vector<ActionId>> run_of(
    const Task& task, const nb::bytes& states, const std::vector<std::uint32_t>& numbers) {
    std::vector<Word> words = to_words(task, states);
    std::vector<ActionId> actions;
    for (std::uint32_t number : numbers) actions.push_back(ActionId{number});
    if (words.size() != (actions.size() + 1) * task.words())
        throw std::invalid_argument("a run has one state more than actions");
    return {std::move(words), std::move(actions)};
}

std::optional<std::uint64_t> broken_step_of(const Task& task, const nb::bytes& states,
                                            const std::vector<std::uint32_t>& numbers) {
    const auto [words, actions] = run_of(task, states, numbers);
    return broken_step(task, words, actions);
}

RunFaults analyse(FaultAnalysis& analysis, TaskOracle& oracle, const nb::bytes& states,
                  const std::vector<std::uint32_t>& numbers, bool bugs_only, double state_seconds,
                  double max_seconds, std::uint64_t max_bytes, std::uint64_t max_states,
                  bool skip_errors, nb::object progress) {
    const Busy busy(oracle);
    const auto [words, actions] = run_of(oracle.task(), states, numbers);
    PythonBudget budget(max_seconds, ~std::uint64_t{0}, ~std::uint64_t{0}, std::move(progress));
    RunFaults found;
    {
        nb::gil_scoped_release let_other_threads_run;
        found =
            analysis.analyse(words, actions, bugs_only,
                             {state_seconds, max_states, max_bytes, skip_errors}, budget.budget());
    }
    budget.raise_pending();
    return found;
}

void bind_results(nb::module_& module) {
    nb::class_<FoundVerdict>(module, "FoundVerdict", "A verdict, and why it is unknown.")
        .def_prop_ro(
            "verdict", [](const FoundVerdict& answer) { return name_of(answer.verdict); },
            kVerdictWords)
        .def_prop_ro("stopped", &stopped_of<FoundVerdict>, kStoppedWords, kStopped);
    nb::class_<Fault>(module, "Fault", "A decision of a run that may leave the safe region.")
        .def_ro("step", &Fault::step, "Which decision of the run.")
        .def_prop_ro(
            "outcome", [](const Fault& fault) { return to_bytes(fault.outcome); },
            "An unsafe outcome, packed: where the run went, if that is one.")
        .def_prop_ro("alternatives",
                     [](const Fault& fault) { return numbers_of(fault.alternatives); })
        .def_ro("has_unknown_alternatives", &Fault::has_unknown_alternatives);
    nb::class_<RunFaults>(module, "RunFaults", "What is known about a failing run.")
        .def_ro("states", &RunFaults::states, "By state.")
        .def_ro("decisions", &RunFaults::decisions, "By decision; unsafe: it is a fault.")
        .def_ro("faults", &RunFaults::faults, "By step.")
        .def_prop_ro("stopped", &stopped_of<RunFaults>, kStoppedWords, kStopped);
}

}  // namespace

void bind_fault(nb::module_& module) {
    bind_results(module);
    module.def("broken_step", &broken_step_of, "task"_a, "states"_a, "actions"_a,
               "Return the first step that no run of the task takes, or None.");
    nb::class_<FaultAnalysis>(module, "FaultAnalysis", "Finds the guilty decisions on runs.")
        .def("__init__", &make_analysis, "oracle"_a, "radius"_a.none(), nb::keep_alive<1, 2>())
        .def("analyse", &analyse, "oracle"_a, "states"_a, "actions"_a, nb::kw_only(), "bugs_only"_a,
             "state_seconds"_a, "max_seconds"_a, "max_bytes"_a, "max_states"_a, "skip_errors"_a,
             "progress"_a.none(),
             "Return the verdicts on the states and decisions of a run, and its faults.");
}

}  // namespace surefoot
