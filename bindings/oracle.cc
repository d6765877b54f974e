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
                 const std::string& order, std::uint64_t seed, const Policy* policy,
                 std::optional<std::uint64_t> radius) {
    new (self) TaskOracle(task, {name, {order_of(order), seed, policy}, radius});
}

// An answer, and what the oracle holds after it.
struct HeldAnswer : Answer {
    std::uint64_t states = 0;
    std::uint64_t bytes = 0;
};

HeldAnswer decide(TaskOracle& oracle, const nb::bytes& state, double max_seconds,
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
    return {answer, oracle.num_states(), oracle.bytes()};
}

Certificate certificate(TaskOracle& oracle, const nb::bytes& state, double max_seconds,
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
    return found;
}

void bind_results(nb::module_& module) {
    nb::class_<HeldAnswer>(module, "Answer", "A verdict on a state, and what it cost.")
        .def_prop_ro(
            "verdict", [](const HeldAnswer& answer) { return name_of(answer.verdict); },
            kVerdictWords, "What is known about the state.")
        .def_prop_ro("stopped", &stopped_of<HeldAnswer>, kStoppedWords, kStopped)
        .def_ro("expanded", &HeldAnswer::expanded, "How often a state was expanded.")
        .def_ro("pairs", &HeldAnswer::pairs, "How many of its actions were looked at.")
        .def_ro("outcomes", &HeldAnswer::outcomes)
        .def_ro("seconds", &HeldAnswer::seconds)
        .def_ro("states", &HeldAnswer::states, "All that the oracle keeps.")
        .def_ro("bytes", &HeldAnswer::bytes);
    nb::class_<Certificate>(module, "Certificate", "The evidence for a verdict.")
        .def_prop_ro(
            "claim", [](const Certificate& made) { return name_of(made.claim); }, "safe or unsafe.")
        .def_prop_ro("stopped", &stopped_of<Certificate>, kStoppedWords, kStopped)
        .def_prop_ro("states", &states_of<Certificate>,
                     "Packed and distinct; the first is the one that the claim is about.")
        .def_ro("entry_states", &Certificate::entry_states, "By entry: the number of its state.")
        .def_ro("entries_left", &Certificate::entries_left,
                "By entry, within a radius: the differences left; else empty.")
        .def_ro("entry_values", &Certificate::entry_values,
                "By entry: the action (-1: the forced step), or the rank.")
        .def_ro("decisions", &Certificate::decisions,
                "With a policy, by state: its action; -1: none.");
}

}  // namespace

void bind_oracle(nb::module_& module) {
    bind_results(module);
    nb::class_<TaskOracle>(module, "Oracle", "Decides whether states are safe.")
        .def("__init__", &make_oracle, "task"_a, "name"_a, nb::kw_only(), "order"_a, "seed"_a,
             "policy"_a.none(), "radius"_a.none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 6>())
        .def("decide", &decide, "state"_a, nb::kw_only(), "max_seconds"_a, "max_bytes"_a,
             "max_states"_a, "progress"_a.none(), "Return the verdict on a packed state.")
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
