#include "bindings.h"
#include "search/explore.h"
#include "search/policy_search.h"
#include "search/simulate.h"
#include "task/starts.h"

namespace surefoot {

namespace {

nb::dict to_dict(const ExploreCounts& counts) {
    nb::dict result;
    result["states"] = counts.states;
    result["starts"] = counts.starts;
    result["expanded"] = counts.expanded;
    result["pairs"] = counts.pairs;
    result["outcomes"] = counts.outcomes;
    result["fail"] = counts.fail;
    result["goal"] = counts.goal;
    result["dead_ends"] = counts.dead_ends;
    result["depth"] = counts.depth;
    result["bytes"] = counts.bytes;
    result["seconds"] = counts.seconds;
    result["stopped"] = name_of(counts.stopped);
    result["starts_complete"] = counts.starts_complete;
    return result;
}

StartSource listed(const std::vector<Word>& words, std::size_t width) {
    return [&words, width](const std::function<bool(const Word*)>& visit) {
        for (std::size_t at = 0; at < words.size(); at += width) {
            if (!visit(words.data() + at)) break;
        }
        return StopReason::none;
    };
}

nb::dict explore_from(const Task& task, const StartSource& starts, PythonBudget& budget) {
    ExploreCounts counts;
    if (task.is_slow()) budget.budget().look_always();
    {
        nb::gil_scoped_release let_other_threads_run;
        StateStore store(task.words());
        counts = explore(task, starts, budget.budget(), store);
    }
    budget.raise_pending();
    return to_dict(counts);
}

nb::dict explore_states(const Task& task, const nb::bytes& states, double max_seconds,
                        std::uint64_t max_bytes, std::uint64_t max_states, nb::object progress) {
    const std::vector<Word> words = to_words(task, states);
    PythonBudget budget(max_seconds, max_bytes, max_states, std::move(progress));
    return explore_from(task, listed(words, task.words()), budget);
}

nb::dict explore_starts(const CompiledTask& task, double max_seconds, std::uint64_t max_bytes,
                        std::uint64_t max_states, nb::object progress) {
    PythonBudget budget(max_seconds, max_bytes, max_states, std::move(progress));
    const StartEnumerator starts(task);
    if (!starts.is_finite()) throw std::invalid_argument("infinitely many start states");
    return explore_from(
        task, [&](const auto& visit) { return starts.enumerate(budget.budget(), visit); }, budget);
}

nb::tuple simulate_run(const Task& task, const nb::bytes& start, Policy& policy,
                       std::uint64_t max_steps, std::uint64_t seed, std::uint64_t run_number,
                       double max_seconds, std::uint64_t max_bytes) {
    static const char* const results[] = {"fail", "goal", "dead_end", "inapplicable", "cut"};
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
    return nb::make_tuple(to_bytes(run.states.data(), run.states.size()), run.actions,
                          results[static_cast<int>(run.result)], name_of(run.stopped),
                          run.inapplicable);
}

// The states of the task that a path through the graph visits, and its actions.
nb::object to_run(PolicyGraph& graph, const std::vector<StateId>& path) {
    if (path.empty()) return nb::none();
    std::vector<Word> states;
    std::vector<std::uint32_t> actions;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const Word* const state = graph.state(path[i]);
        states.insert(states.end(), state, state + graph.task().words());
        if (i + 1 < path.size()) actions.push_back(index(graph.action_to(path[i], path[i + 1])));
    }
    return nb::make_tuple(to_bytes(states.data(), states.size()), actions);
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

nb::dict can_fail_from(const Task& task, Policy& policy, const nb::bytes& states,
                       double max_seconds, std::uint64_t max_bytes, std::uint64_t max_states,
                       nb::object progress) {
    const std::vector<Word> words = to_words(task, states);
    PythonBudget budget(max_seconds, max_bytes, max_states, std::move(progress));
    PolicyGraph graph(task, policy);
    const CanFailResult found = ask(can_fail, graph, words, budget);
    nb::dict result;
    result["answers"] =
        nb::bytes(reinterpret_cast<const char*>(found.answers.data()), found.answers.size());
    result["stopped"] = name_of(found.stopped);
    result["states"] = graph.size();
    result["bytes"] = graph.bytes();
    return result;
}

nb::tuple nearest_fail_from(const Task& task, Policy& policy, const nb::bytes& states,
                            double max_seconds, std::uint64_t max_bytes, std::uint64_t max_states,
                            nb::object progress) {
    const std::vector<Word> words = to_words(task, states);
    PythonBudget budget(max_seconds, max_bytes, max_states, std::move(progress));
    PolicyGraph graph(task, policy);
    const NearestFail found = ask(nearest_fail, graph, words, budget);
    return nb::make_tuple(to_run(graph, found.path), name_of(found.stopped));
}

}  // namespace

void bind_search(nb::module_& module) {
    module.def("explore_states", &explore_states, "task"_a, "states"_a, nb::kw_only(),
               "max_seconds"_a, "max_bytes"_a, "max_states"_a, "progress"_a.none(),
               "Return the counts of everything reachable from the given packed states.");
    module.def("explore_starts", &explore_starts, "task"_a, nb::kw_only(), "max_seconds"_a,
               "max_bytes"_a, "max_states"_a, "progress"_a.none(),
               "Return the counts of everything reachable from the states of the start condition.");
    module.def("simulate", &simulate_run, "task"_a, "start"_a, nb::kw_only(), "policy"_a,
               "max_steps"_a, "seed"_a, "run"_a, "max_seconds"_a, "max_bytes"_a,
               "Return one run: packed states, actions, result, why it was stopped if it was, and "
               "the decision that was not applicable, or -1.");
    module.def("can_fail", &can_fail_from, "task"_a, "policy"_a, "states"_a, nb::kw_only(),
               "max_seconds"_a, "max_bytes"_a, "max_states"_a, "progress"_a.none(),
               "Return for each packed state whether runs of the policy can fail: 0 no, 1 yes, "
               "2 unknown.");
    module.def("nearest_fail", &nearest_fail_from, "task"_a, "policy"_a, "states"_a, nb::kw_only(),
               "max_seconds"_a, "max_bytes"_a, "max_states"_a, "progress"_a.none(),
               "Return the packed states and the actions of a shortest failing run from one of the "
               "states, or None, and why the search was stopped if it was.");
}

}  // namespace surefoot
