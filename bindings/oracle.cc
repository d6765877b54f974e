#include <nanobind/stl/optional.h>

#include "bindings.h"
#include "oracle/task_oracle.h"
#include "oracles.h"

namespace surefoot {

namespace {

Order order_of(const std::string& name) {
    if (name == "app") return Order::app;
    if (name == "learn") return Order::learn;
    if (name == "rand") return Order::rand;
    throw std::invalid_argument("there is no such order");
}

void make_oracle(TaskOracle* self, const Task& task, const std::string& name,
                 const std::string& order, std::uint64_t seed, Policy* policy,
                 std::optional<std::uint64_t> radius) {
    new (self) TaskOracle(task, {name, {order_of(order), seed, policy}, radius});
}

nb::dict decide(TaskOracle& oracle, const nb::bytes& state, double max_seconds,
                std::uint64_t max_bytes, std::uint64_t max_states, nb::object progress) {
    const Busy busy(oracle);
    const std::vector<Word> words = to_state(oracle.task(), state);
    PythonBudget budget(max_seconds, max_bytes, max_states, std::move(progress));
    Answer answer;
    {
        nb::gil_scoped_release let_other_threads_run;
        answer = oracle.decide(words.data(), budget.budget());
    }
    budget.raise_pending();
    nb::dict result;
    result["verdict"] = name_of(answer.verdict);
    result["stopped"] = name_of(answer.stopped);
    result["expanded"] = answer.expanded;
    result["pairs"] = answer.pairs;
    result["outcomes"] = answer.outcomes;
    result["seconds"] = answer.seconds;
    result["states"] = oracle.num_states();
    result["bytes"] = oracle.bytes();
    return result;
}

nb::dict certificate(TaskOracle& oracle, const nb::bytes& state, double max_seconds,
                     std::uint64_t max_bytes, std::uint64_t max_states,
                     std::optional<std::uint32_t> first) {
    const Busy busy(oracle);
    const std::vector<Word> words = to_state(oracle.task(), state);
    PythonBudget budget(max_seconds, max_bytes, max_states, nb::none());
    Certificate found;
    {
        nb::gil_scoped_release let_other_threads_run;
        found = oracle.certificate(words.data(), budget.budget(),
                                   first ? std::optional(ActionId{*first}) : std::nullopt);
    }
    budget.raise_pending();
    nb::dict result;
    result["claim"] = name_of(found.claim);
    result["stopped"] = name_of(found.stopped);
    result["states"] = to_bytes(found.states.data(), found.states.size());
    result["state"] = 0;
    result["entries_state"] = found.entry_states;
    result["entries_remaining"] =
        found.entries_left.empty() ? nb::none() : nb::cast(found.entries_left);
    result["entries_value"] = found.entry_values;
    result["decisions"] = found.decisions;
    return result;
}

}  // namespace

void bind_oracle(nb::module_& module) {
    nb::class_<TaskOracle>(module, "Oracle", "Decides whether states are safe.")
        .def("__init__", &make_oracle, "task"_a, "name"_a, nb::kw_only(), "order"_a, "seed"_a,
             "policy"_a.none(), "radius"_a.none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 6>())
        .def("decide", &decide, "state"_a, nb::kw_only(), "max_seconds"_a, "max_bytes"_a,
             "max_states"_a, "progress"_a.none(),
             "Return the verdict on a packed state, why it is unknown if it is, and what it cost.")
        .def("certificate", &certificate, "state"_a, nb::kw_only(), "max_seconds"_a, "max_bytes"_a,
             "max_states"_a, "first"_a.none() = nb::none(),
             "Return the evidence for a verdict given before; if it is safe, with `first` as the "
             "choice there.")
        .def(
            "deviations",
            [](const TaskOracle& oracle, const nb::bytes& state) {
                return oracle.deviations(to_state(oracle.task(), state).data());
            },
            "state"_a, "Return the least number of differences, or None.");
}

}  // namespace surefoot
