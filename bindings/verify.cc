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
    return listed(given, task.words());
}

// A result together with what was reached.
struct Verified : ExplicitResult {
    std::shared_ptr<ReachedStates> reached;
};

Verified verify(const Task& task, const Policy& policy, const nb::object& states,
                std::uint64_t workers, std::uint64_t max_runs, double max_seconds,
                std::uint64_t max_bytes, std::uint64_t max_states, nb::object progress) {
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
    return {std::move(found), reached};
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
    nb::class_<Verified>(module, "ExplicitResult", "What explicit verification found.")
        .def_ro("runs", &Verified::runs, "Failing runs, a shortest one first.")
        .def_ro("starts", &Verified::starts)
        .def_ro("starts_complete", &Verified::starts_complete)
        .def_prop_ro("states", [](const Verified& result) { return result.reached->size(); })
        .def_ro("expanded", &Verified::expanded)
        .def_ro("depth", &Verified::depth)
        .def_prop_ro("bytes", [](const Verified& result) { return result.reached->bytes(); })
        .def_prop_ro("stopped", &stopped_of<Verified>, kStoppedWords, kStopped)
        .def_ro("reached", &Verified::reached);
    module.def("verify_explicit", &verify, "task"_a, "policy"_a, "states"_a.none(), nb::kw_only(),
               "workers"_a, "max_runs"_a, "max_seconds"_a, "max_bytes"_a, "max_states"_a,
               "progress"_a.none(),
               "Return what the policy reaches from packed states, or from those of the start "
               "condition, and failing runs, if some fail, a shortest one first.");
}

}  // namespace surefoot
