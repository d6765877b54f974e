#include <nanobind/stl/optional.h>

#include "bindings.h"
#include "oracle/task_oracle.h"

namespace surefoot {

namespace {

// An oracle answers one question at a time, on one thread; its policy must not ask it.
class Busy {
public:
    explicit Busy(TaskOracle& oracle) : oracle_(oracle) {
        if (!oracle.begin_question()) throw std::runtime_error("the oracle is busy");
    }
    ~Busy() { oracle_.end_question(); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    TaskOracle& oracle_;
};

// A policy that Python code defines: a callable of a packed state and its applicable actions.
class CallablePolicy : public Policy {
public:
    explicit CallablePolicy(nb::callable decide) : decide_(std::move(decide)) {}

    ActionId decide(const Word* state, std::size_t words,
                    const std::vector<ActionId>& applicable) override {
        nb::gil_scoped_acquire hold;
        nb::list actions;
        for (ActionId action : applicable) actions.append(index(action));
        return ActionId{nb::cast<std::uint32_t>(decide_(to_bytes(state, words), actions))};
    }

    bool is_slow() const override { return true; }

    int traverse(visitproc visit, void* arg) {
        Py_VISIT(decide_.ptr());
        return 0;
    }
    void clear() { decide_.reset(); }

private:
    nb::callable decide_;
};

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<CallablePolicy>(self)->traverse(visit, arg) : 0;
}

int clear(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<CallablePolicy>(self)->clear();
    return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

void make_table(TablePolicy* self, const Task& task, const nb::bytes& states,
                const std::vector<std::uint32_t>& numbers) {
    std::vector<ActionId> actions;
    for (std::uint32_t number : numbers) actions.push_back(ActionId{number});
    new (self) TablePolicy(to_words(task, states), task.words(), actions);
}

std::uint32_t decide_once(Policy& policy, const Task& task, const nb::bytes& state) {
    const std::vector<Word> words = to_state(task, state);
    std::vector<ActionId> applicable;
    task.stepper()->applicable(words.data(), applicable);
    while (!applicable.empty() && index(applicable.back()) >= task.first_silent())
        applicable.pop_back();
    if (applicable.empty()) throw PolicyError("nothing-to-decide", -1, words);
    return index(checked_decision(policy, words.data(), words.size(), applicable));
}

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

const char* name_of(Verdict verdict) {
    static const char* const names[] = {"unknown", "safe", "unsafe"};
    return names[static_cast<int>(verdict)];
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
                     std::uint64_t max_bytes) {
    const Busy busy(oracle);
    const std::vector<Word> words = to_state(oracle.task(), state);
    PythonBudget budget(max_seconds, max_bytes, ~std::uint64_t{0}, nb::none());
    Certificate found;
    {
        nb::gil_scoped_release let_other_threads_run;
        found = oracle.certificate(words.data(), budget.budget());
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
    nb::class_<Policy>(module, "Policy", "Decides for an action in every state.")
        .def("decide", &decide_once, "task"_a, "state"_a,
             "Return the number of the action that the policy decides for.");
    nb::class_<FirstPolicy, Policy>(module, "FirstPolicy", "Takes the lowest applicable action.")
        .def(nb::init<>());
    nb::class_<RandomPolicy, Policy>(module, "RandomPolicy",
                                     "Takes an action that depends on seed and state only.")
        .def(nb::init<std::uint64_t>(), "seed"_a);
    nb::class_<TablePolicy, Policy>(module, "TablePolicy", "Takes the action that a table says.")
        .def("__init__", &make_table, "task"_a, "states"_a, "actions"_a);
    nb::class_<CallablePolicy, Policy>(module, "CallablePolicy", nb::type_slots(slots),
                                       "Asks a callable of packed state and applicable actions.")
        .def(nb::init<nb::callable>(), "decide"_a);
    nb::class_<TaskOracle>(module, "Oracle", "Decides whether states are safe.")
        .def("__init__", &make_oracle, "task"_a, "name"_a, nb::kw_only(), "order"_a, "seed"_a,
             "policy"_a.none(), "radius"_a.none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 6>())
        .def("decide", &decide, "state"_a, nb::kw_only(), "max_seconds"_a, "max_bytes"_a,
             "max_states"_a, "progress"_a.none(),
             "Return the verdict on a packed state, why it is unknown if it is, and what it cost.")
        .def("certificate", &certificate, "state"_a, nb::kw_only(), "max_seconds"_a, "max_bytes"_a,
             "Return the evidence for a verdict given before.")
        .def(
            "deviations",
            [](const TaskOracle& oracle, const nb::bytes& state) {
                return oracle.deviations(to_state(oracle.task(), state).data());
            },
            "state"_a, "Return the least number of differences, or None.");
}

}  // namespace surefoot
