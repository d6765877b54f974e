#include <nanobind/stl/optional.h>

#include "bindings.h"
#include "search/explore.h"
#include "search/policy_search.h"
#include "search/simulate.h"
#include "task/starts.h"

namespace surefoot {

namespace {

ExploreCounts explore_from(const Task& task, const StartSource& starts, PythonBudget& budget) {
    ExploreCounts counts;
    if (task.is_slow()) budget.budget().look_always();
    {
        nb::gil_scoped_release let_other_threads_run;
        StateStore store(task.words());
        counts = explore(task, starts, budget.budget(), store);
    }
    budget.raise_pending();
    return counts;
}

ExploreCounts explore_states(const Task& task, const nb::bytes& states, double max_seconds,
                             std::uint64_t max_bytes, std::uint64_t max_states,
                             nb::object progress) {
    const std::vector<Word> words = to_words(task, states);
    PythonBudget budget(max_seconds, max_bytes, max_states, std::move(progress));
    return explore_from(task, listed(words, task.words()), budget);
}

ExploreCounts explore_starts(const CompiledTask& task, double max_seconds, std::uint64_t max_bytes,
                             std::uint64_t max_states, nb::object progress) {
    PythonBudget budget(max_seconds, max_bytes, max_states, std::move(progress));
    const StartEnumerator starts(task);
    if (!starts.is_finite()) throw std::invalid_argument("infinitely many start states");
    return explore_from(
        task, [&](const auto& visit) { return starts.enumerate(budget.budget(), visit); }, budget);
}

Run simulate_run(const Task& task, const nb::bytes& start, const Policy& policy,
                 std::uint64_t max_steps, std::uint64_t seed, std::uint64_t run_number,
                 double max_seconds, std::uint64_t max_bytes) {
    const std::vector<Word> state = to_state(task, start);
    PythonBudget budget(max_seconds, max_bytes, ~std::uint64_t{0}, nb::none());
    if (task.is_slow() || policy.is_slow()) budget.budget().look_always();
    Run run;
    {
        nb::gil_scoped_release let_other_threads_run;
        Random random(seed, run_number);
        run = simulate(task, state.data(), policy, max_steps, random, budget.budget());
    }
    budget.raise_pending();
    return run;
}

// What a search finds in the graph from the given states.
template <typename Found>
Found ask(Found (*search)(PolicyGraph&, const std::vector<Word>&, Budget&), PolicyGraph& graph,
          const std::vector<Word>& states, PythonBudget& budget) {
    Found found;
    {
        nb::gil_scoped_release let_other_threads_run;
        found = search(graph, states, budget.budget());
    }
    budget.raise_pending();
    return found;
}

CanFailResult can_fail_from(const Task& task, const Policy& policy, const nb::bytes& states,
                            double max_seconds, std::uint64_t max_bytes, std::uint64_t max_states,
                            nb::object progress) {
    const std::vector<Word> words = to_words(task, states);
    PythonBudget budget(max_seconds, max_bytes, max_states, std::move(progress));
    PolicyGraph graph(task, policy);
    return ask(can_fail, graph, words, budget);
}

NearestFail nearest_fail_from(const Task& task, const Policy& policy, const nb::bytes& states,
                              double max_seconds, std::uint64_t max_bytes, std::uint64_t max_states,
                              nb::object progress) {
    const std::vector<Word> words = to_words(task, states);
    PythonBudget budget(max_seconds, max_bytes, max_states, std::move(progress));
    PolicyGraph graph(task, policy);
    return ask(nearest_fail, graph, words, budget);
}

nb::bytes answers_of(const CanFailResult& found) {
    return nb::bytes(reinterpret_cast<const char*>(found.answers.data()), found.answers.size());
}

void bind_results(nb::module_& module) {
    nb::class_<ExploreCounts>(module, "ExploreCounts", "What is reachable.")
        .def_ro("states", &ExploreCounts::states)
        .def_ro("starts", &ExploreCounts::starts)
        .def_ro("expanded", &ExploreCounts::expanded)
        .def_ro("pairs", &ExploreCounts::pairs, "Of a state and an applicable action.")
        .def_ro("outcomes", &ExploreCounts::outcomes)
        .def_ro("fail", &ExploreCounts::fail)
        .def_ro("goal", &ExploreCounts::goal)
        .def_ro("dead_ends", &ExploreCounts::dead_ends)
        .def_ro("depth", &ExploreCounts::depth)
        .def_ro("bytes", &ExploreCounts::bytes)
        .def_ro("seconds", &ExploreCounts::seconds)
        .def_prop_ro("stopped", &stopped_of<ExploreCounts>, kStoppedWords, kStopped)
        .def_ro("starts_complete", &ExploreCounts::starts_complete);
    nb::class_<Run>(module, "Run", "A simulated run.")
        .def_prop_ro("states", &states_of<Run>, "Packed, one after the other.")
        .def_ro("actions", &Run::actions)
        .def_ro("end", &Run::end)
        .def_ro("inapplicable", &Run::inapplicable,
                "The action that was decided for and is not applicable.")
        .def_prop_ro("stopped", &stopped_of<Run>, kStoppedWords, kStopped);
    nb::class_<FailingRun>(module, "FailingRun", "A run that fails.")
        .def_prop_ro("states", &states_of<FailingRun>, "Packed, one after the other.")
        .def_prop_ro("actions", [](const FailingRun& run) { return numbers_of(run.actions); });
    nb::enum_<CanFail>(module, "CanFail", "Whether a run may fail.")
        .value("no", CanFail::no)
        .value("yes", CanFail::yes)
        .value("unknown", CanFail::unknown);
    nb::class_<CanFailResult>(module, "CanFailResult", "From which states runs may fail.")
        .def_prop_ro("answers", &answers_of, "A value of CanFail for each state asked about.")
        .def_ro("states", &CanFailResult::states, "How many were looked at.")
        .def_ro("bytes", &CanFailResult::bytes)
        .def_prop_ro("stopped", &stopped_of<CanFailResult>, kStoppedWords, kStopped);
    nb::class_<NearestFail>(module, "NearestFail", "A shortest failing run, if there is one.")
        .def_ro("run", &NearestFail::run)
        .def_prop_ro("stopped", &stopped_of<NearestFail>, kStoppedWords, kStopped);
}

}  // namespace

void bind_search(nb::module_& module) {
    nb::enum_<RunEnd>(module, "RunEnd", "How a run ended; none: it goes on.")
        .value("none", RunEnd::none)
        .value("fail", RunEnd::fail)
        .value("goal", RunEnd::goal)
        .value("dead_end", RunEnd::dead_end)
        .value("cycle", RunEnd::cycle)
        .value("inapplicable", RunEnd::inapplicable)
        .value("cut", RunEnd::cut);
    bind_results(module);
    module.def("explore_states", &explore_states, "task"_a, "states"_a, nb::kw_only(),
               "max_seconds"_a, "max_bytes"_a, "max_states"_a, "progress"_a.none(),
               "Return the counts of everything reachable from the given packed states.");
    module.def("explore_starts", &explore_starts, "task"_a, nb::kw_only(), "max_seconds"_a,
               "max_bytes"_a, "max_states"_a, "progress"_a.none(),
               "Return the counts of everything reachable from the states of the start condition.");
    module.def("simulate", &simulate_run, "task"_a, "start"_a, nb::kw_only(), "policy"_a,
               "max_steps"_a, "seed"_a, "run"_a, "max_seconds"_a, "max_bytes"_a,
               "Return one run of the policy, with outcomes drawn uniformly.");
    module.def("can_fail", &can_fail_from, "task"_a, "policy"_a, "states"_a, nb::kw_only(),
               "max_seconds"_a, "max_bytes"_a, "max_states"_a, "progress"_a.none(),
               "Return for each packed state whether runs of the policy can fail.");
    module.def("nearest_fail", &nearest_fail_from, "task"_a, "policy"_a, "states"_a, nb::kw_only(),
               "max_seconds"_a, "max_bytes"_a, "max_states"_a, "progress"_a.none(),
               "Return a shortest failing run from one of the states.");
}

}  // namespace surefoot
