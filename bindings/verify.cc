#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "task/starts.h"
#include "verify/explicit.h"

namespace surefoot {

namespace {

// All states of the start condition, or those that are given.
StartSource source_of(const Task& task, const StartEnumerator* condition,
                      const std::vector<Word>& given, Budget& budget) {
    if (condition != nullptr)
        return [&, condition](const auto& visit) { return condition->enumerate(budget, visit); };
    return [&](const auto& visit) {
        for (std::size_t at = 0; at < given.size(); at += task.words()) {
            if (!visit(given.data() + at)) break;
        }
        return StopReason::none;
    };
}

nb::dict to_dict(const ExplicitResult& found, const std::shared_ptr<ReachedStates>& reached) {
    nb::dict result;
    nb::list runs;
    for (const FailingRun& run : found.runs) {
        nb::list actions;
        for (ActionId action : run.actions) actions.append(index(action));
        runs.append(nb::make_tuple(to_bytes(run.states.data(), run.states.size()), actions));
    }
    result["runs"] = runs;
    result["starts"] = found.starts;
    result["starts_complete"] = found.starts_complete;
    result["states"] = reached->size();
    result["expanded"] = found.expanded;
    result["depth"] = found.depth;
    result["bytes"] = reached->bytes();
    result["stopped"] = name_of(found.stopped);
    result["reached"] = reached;
    return result;
}

nb::dict verify(const Task& task, Policy& policy, const nb::object& states, std::uint64_t workers,
                std::uint64_t max_runs, double max_seconds, std::uint64_t max_bytes,
                std::uint64_t max_states, nb::object progress) {
    std::vector<Word> given;
    std::unique_ptr<StartEnumerator> condition;
    PythonBudget budget(max_seconds, max_bytes, max_states, std::move(progress));
    if (states.is_none()) {
        condition = std::make_unique<StartEnumerator>(dynamic_cast<const CompiledTask&>(task));
        if (!condition->is_finite()) throw std::invalid_argument("infinitely many start states");
    } else {
        given = to_words(task, nb::cast<nb::bytes>(states));
    }
    const auto reached = std::make_shared<ReachedStates>(task.words());
    ExplicitResult found;
    {
        nb::gil_scoped_release let_other_threads_run;
        if (condition) found.stopped = too_many_starts(*condition, task.words(), budget.budget());
        found.starts_complete = found.stopped == StopReason::none;
        const StartSource source = source_of(task, condition.get(), given, budget.budget());
        if (found.starts_complete)
            found =
                verify_explicit(task, policy, source, workers, max_runs, budget.budget(), *reached);
    }
    budget.raise_pending();
    return to_dict(found, reached);
}

}  // namespace

void bind_verify(nb::module_& module) {
    nb::class_<ReachedStates>(module, "ReachedStates", "What a policy reaches, in a fixed order.")
        .def("__len__", [](const ReachedStates& reached) { return reached.size(); })
        .def(
            "copy",
            [](const ReachedStates& reached, std::uint64_t first, std::uint64_t count) {
                const std::vector<Word> words = reached.copy(first, count);
                return to_bytes(words.data(), words.size());
            },
            "first"_a, "count"_a,
            "Return packed states, one after the other, from the `first` one on.");
    module.def("verify_explicit", &verify, "task"_a, "policy"_a, "states"_a.none(), nb::kw_only(),
               "workers"_a, "max_runs"_a, "max_seconds"_a, "max_bytes"_a, "max_states"_a,
               "progress"_a.none(),
               "Return what the policy reaches from packed states, or from those of the start "
               "condition, and failing runs, if some fail, a shortest one first.");
}

}  // namespace surefoot
