#include "bindings.h"
#include "task/guidance.h"
#include "task/start_sampler.h"
#include "task/starts.h"

namespace surefoot {

namespace {

// (type, lower, upper, is_scratch); the bounds of reals as bit patterns
using VariableTuple = std::tuple<int, std::int64_t, std::int64_t, bool>;
// (op, type, a, b, c, bits); -1: no operand
using NodeTuple = std::tuple<int, int, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
// (variable, length, position, value, lower, upper, group); -1: no node
using AssignmentTuple = std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::int64_t,
                                   std::int64_t, std::int64_t, std::int64_t>;
// (probabilities, assignments, weight)
using OutcomeTuple = std::tuple<std::vector<std::int64_t>, std::vector<AssignmentTuple>, double>;
// (action, guard, outcomes, cost); -1: no node
using EdgeTuple = std::tuple<std::uint32_t, std::int64_t, std::vector<OutcomeTuple>, std::int64_t>;

// Runs take the streams from 0 on.
constexpr std::uint64_t kStartStream = ~std::uint64_t{0};

NodeId node_id(std::int64_t id) { return id < 0 ? kNoNode : static_cast<NodeId>(id); }

VariableSpec variable_of(const VariableTuple& from) {
    const auto& [type, lower, upper, is_scratch] = from;
    VariableSpec spec;
    spec.type = static_cast<Type>(type);
    spec.is_scratch = is_scratch;
    if (spec.type == Type::real) {
        spec.real_lower = as_real(lower);
        spec.real_upper = as_real(upper);
    } else {
        spec.lower = lower;
        spec.upper = upper;
    }
    return spec;
}

Node node_of(const NodeTuple& from) {
    const auto& [op, type, a, b, c, bits] = from;
    return {static_cast<Op>(op), static_cast<Type>(type), node_id(a), node_id(b), node_id(c), bits};
}

AssignmentSpec assignment_of(const AssignmentTuple& from) {
    const auto& [variable, length, position, value, lower, upper, group] = from;
    return {variable,       length, node_id(position), node_id(value), node_id(lower),
            node_id(upper), group};
}

EdgeSpec edge_of(const EdgeTuple& from) {
    const auto& [action, guard, outcomes, cost] = from;
    EdgeSpec edge{action, node_id(guard), {}, node_id(cost)};
    for (const auto& [probabilities, assignments, weight] : outcomes) {
        OutcomeSpec& outcome = edge.outcomes.emplace_back();
        outcome.weight = weight;
        for (std::int64_t id : probabilities) outcome.probabilities.push_back(node_id(id));
        for (const AssignmentTuple& assignment : assignments)
            outcome.assignments.push_back(assignment_of(assignment));
    }
    return edge;
}

std::unique_ptr<CompiledTask> make_task(const std::vector<VariableTuple>& variables,
                                        std::vector<std::int64_t> scratch_start,
                                        const std::vector<NodeTuple>& nodes,
                                        std::uint32_t num_actions, std::uint32_t first_silent,
                                        const std::vector<EdgeTuple>& edges, std::int64_t fail,
                                        std::int64_t goal, std::int64_t start,
                                        std::int64_t distance) {
    TaskSpec spec;
    for (const VariableTuple& variable : variables) spec.variables.push_back(variable_of(variable));
    spec.scratch_start = std::move(scratch_start);
    for (const NodeTuple& node : nodes) spec.nodes.push_back(node_of(node));
    spec.num_actions = num_actions;
    spec.first_silent = first_silent;
    for (const EdgeTuple& edge : edges) spec.edges.push_back(edge_of(edge));
    spec.fail = node_id(fail);
    spec.goal = node_id(goal);
    spec.start = node_id(start);
    spec.distance = node_id(distance);
    return std::make_unique<CompiledTask>(spec);
}

void make_guidance(Guidance* self, const CompiledTask& task, const std::vector<NodeTuple>& nodes,
                   std::int64_t root) {
    std::vector<Node> made;
    for (const NodeTuple& node : nodes) made.push_back(node_of(node));
    new (self) Guidance(task, made, node_id(root));
}

double distance_of(const Guidance& guidance, const CompiledTask& task, const nb::bytes& state) {
    if (guidance.words() != task.words())
        throw std::invalid_argument("the guidance is for other states");
    return Guide(guidance).distance(to_state(task, state).data());
}

nb::bytes pack(const CompiledTask& task, const std::vector<std::int64_t>& values) {
    const Layout& layout = task.layout();
    if (values.size() != layout.num_variables())
        throw std::invalid_argument("one value per variable");
    std::vector<Word> state(layout.words());
    for (std::size_t v = 0; v < values.size(); ++v) {
        if (!layout.fits(v, values[v])) throw std::invalid_argument("value out of range");
        layout.set(state.data(), v, values[v]);
    }
    return to_bytes(state.data(), state.size());
}

nb::object value_of(const Layout& layout, const Word* state, std::size_t variable) {
    const std::int64_t bits = layout.value(state, variable);
    switch (layout.variable(variable).type) {
        case Type::boolean: return nb::bool_(bits != 0);
        case Type::integer: return nb::int_(bits);
        case Type::real: break;
    }
    return nb::float_(as_real(bits));
}

nb::tuple unpack(const CompiledTask& task, const nb::bytes& bytes) {
    const std::vector<Word> state = to_state(task, bytes);
    nb::list values;
    for (std::size_t v = 0; v < task.layout().num_variables(); ++v)
        values.append(value_of(task.layout(), state.data(), v));
    return nb::tuple(values);
}

nb::list columns(const CompiledTask& task, const nb::bytes& bytes) {
    const std::vector<Word> words = to_words(task, bytes);
    nb::list columns;
    for (std::size_t v = 0; v < task.layout().num_variables(); ++v) {
        nb::list column;
        for (std::size_t at = 0; at < words.size(); at += task.words())
            column.append(value_of(task.layout(), words.data() + at, v));
        columns.append(column);
    }
    return columns;
}

nb::object constant_value(const std::vector<NodeTuple>& nodes) {
    const Layout layout{{}};
    Pool pool(layout);
    for (const NodeTuple& node : nodes) pool.add(node_of(node));
    const auto root = static_cast<NodeId>(nodes.size() - 1);
    Constants constants;
    const Program program(pool, std::span(&root, 1), constants);
    Registers registers(constants, program.num_registers());
    const EvalError error = program.run(nullptr, nullptr, registers.base());
    if (error != EvalError::none) throw ModelError(name_of(error), -1, -1, {}, {});
    const std::int64_t bits = registers.base()[program.result(0)];
    if (pool[root].type == Type::real) return nb::cast(as_real(bits));
    if (pool[root].type == Type::boolean) return nb::cast(bits != 0);
    return nb::cast(bits);
}

StartEnumerator::Sample sample_starts(StartSampler& starts, std::size_t count, std::uint64_t seed,
                                      double max_seconds, std::uint64_t max_tries) {
    PythonBudget budget(max_seconds, ~std::uint64_t{0}, ~std::uint64_t{0}, nb::none());
    StartEnumerator::Sample sample;
    {
        nb::gil_scoped_release let_other_threads_run;
        Random random(seed, kStartStream);
        sample = starts.sample(count, max_tries, random, budget.budget());
    }
    budget.raise_pending();
    return sample;
}

StartEnumerator::Sample list_starts(const CompiledTask& task, std::uint64_t max_states,
                                    double max_seconds) {
    PythonBudget budget(max_seconds, ~std::uint64_t{0}, max_states, nb::none());
    StartEnumerator::Sample starts;
    std::vector<Word>& words = starts.states;
    bool is_complete = true;
    {
        nb::gil_scoped_release let_other_threads_run;
        starts.stopped = StartEnumerator(task).enumerate(budget.budget(), [&](const Word* state) {
            is_complete = words.size() / task.words() < max_states;
            if (is_complete) words.insert(words.end(), state, state + task.words());
            return is_complete;
        });
    }
    budget.raise_pending();
    if (!is_complete) starts.stopped = StopReason::states;
    return starts;
}

nb::object count_starts(StartSampler& starts, double max_seconds) {
    PythonBudget budget(max_seconds, ~std::uint64_t{0}, ~std::uint64_t{0}, nb::none());
    std::optional<StartDiagram::Count> total;
    {
        nb::gil_scoped_release let_other_threads_run;
        total = starts.count(budget.budget());
    }
    budget.raise_pending();
    if (!total) return nb::none();
    const auto high = static_cast<std::uint64_t>(*total >> 64);
    return (nb::int_(high) << nb::int_(64)) | nb::int_(static_cast<std::uint64_t>(*total));
}

nb::dict op_numbers() {
    static const char* const names[] = {
        "constant", "variable", "cell",  "to_real", "not", "and", "or",    "implies",
        "ite",      "eq",       "ne",    "lt",      "le",  "gt",  "ge",    "neg",
        "add",      "sub",      "mul",   "div",     "mod", "min", "max",   "abs",
        "pow",      "log",      "floor", "ceil",    "trc", "sgn", "raise", "guarded"};
    static_assert(std::size(names) == static_cast<std::size_t>(Op::guarded) + 1);
    nb::dict numbers;
    for (std::size_t i = 0; i < std::size(names); ++i) numbers[names[i]] = i;
    return numbers;
}

nb::dict error_numbers() {
    nb::dict numbers;
    for (int i = 1; i <= static_cast<int>(EvalError::out_of_range); ++i)
        numbers[name_of(static_cast<EvalError>(i))] = i;
    return numbers;
}

template <typename Call>
auto with_stepper(const Task& task, const nb::bytes& bytes, Call call) {
    const std::vector<Word> state = to_state(task, bytes);
    const std::unique_ptr<Stepper> stepper = task.stepper();
    return call(*stepper, state.data());
}

std::vector<std::uint32_t> applicable(const Task& task, const nb::bytes& state) {
    return with_stepper(task, state, [](Stepper& stepper, const Word* words) {
        std::vector<ActionId> actions;
        stepper.applicable(words, actions);
        std::vector<std::uint32_t> numbers;
        for (ActionId action : actions) numbers.push_back(index(action));
        return numbers;
    });
}

nb::list outcomes(const Task& task, const nb::bytes& state, std::uint32_t action) {
    return with_stepper(task, state, [&](Stepper& stepper, const Word* words) {
        Expansion expansion;
        stepper.outcomes(words, ActionId{action}, expansion);
        nb::list states;
        for (std::size_t at = 0; at < expansion.words.size(); at += task.words()) {
            states.append(to_bytes(expansion.words.data() + at, task.words()));
        }
        return states;
    });
}

// What an enabled edge may do, with its cost.
struct WeightedChoice {
    std::uint32_t action;
    double cost;
    std::vector<double> weights;
    std::vector<Word> words;  // of all outcomes
};

std::vector<WeightedChoice> expand_weighted(const Task& task, const nb::bytes& state) {
    return with_stepper(task, state, [&](Stepper& stepper, const Word* words) {
        WeightedExpansion expansion;
        stepper.expand_weighted(words, expansion);
        std::vector<WeightedChoice> choices;
        for (std::size_t i = 0; i < expansion.choices.size(); ++i) {
            const Choice& choice = expansion.choices[i];
            const double* const weights = expansion.weights.data();
            const Word* const states = expansion.words.data();
            choices.push_back(
                {index(choice.action),
                 expansion.costs[i],
                 {weights + choice.begin, weights + choice.end},
                 {states + choice.begin * task.words(), states + choice.end * task.words()}});
        }
        return choices;
    });
}

nb::list outcomes_of(const WeightedChoice& choice) {
    const std::size_t width = choice.words.size() / choice.weights.size();
    nb::list states;
    for (std::size_t at = 0; at < choice.words.size(); at += width)
        states.append(to_bytes(choice.words.data() + at, width));
    return states;
}

StateKind kind(const Task& task, const nb::bytes& state) {
    return with_stepper(task, state,
                        [](Stepper& stepper, const Word* words) { return stepper.kind(words); });
}

}  // namespace

void bind_task(nb::module_& module) {
    module.attr("ERRORS") = error_numbers();
    module.attr("OPS") = op_numbers();
    module.def("constant_value", &constant_value, "nodes"_a,
               nb::sig("def constant_value(nodes: collections.abc.Sequence[tuple[int, int, int, "
                       "int, int, int]]) -> bool | int | float"),
               "Return the value of an expression without variables; its root is the last node.");

    nb::enum_<StateKind>(module, "StateKind", nb::is_arithmetic(), "Fail is tested before goal.")
        .value("open", StateKind::open)
        .value("fail", StateKind::fail)
        .value("goal", StateKind::goal);

    nb::class_<WeightedChoice>(module, "WeightedChoice", "What an enabled edge may do.")
        .def_ro("action", &WeightedChoice::action)
        .def_ro("cost", &WeightedChoice::cost)
        .def_ro("weights", &WeightedChoice::weights,
                "By outcome; an outcome's probability is its weight divided by their sum.")
        .def_prop_ro("outcomes", &outcomes_of, nb::sig("def outcomes(self) -> list[bytes]"));

    nb::class_<Task>(module, "Task", "A task as the searches see it. States are bytes.")
        .def_prop_ro("words", &Task::words, "Eight-byte words per packed state.")
        .def_prop_ro("bits", &Task::bits, "Bits of a packed state that carry information.")
        .def("applicable", &applicable, "state"_a, "Return the applicable actions, ascending.")
        .def("outcomes", &outcomes, "state"_a, "action"_a,
             nb::sig("def outcomes(self, state: bytes, action: int) -> list[bytes]"),
             "Return the outcomes of an action, without duplicates.")
        .def("expand_weighted", &expand_weighted, "state"_a,
             "Return a choice for each enabled edge, by action; none in fail and goal states.")
        .def(
            "enabled_edges",
            [](const Task& task, const nb::bytes& state) {
                return with_stepper(task, state, [](Stepper& stepper, const Word* words) {
                    return stepper.enabled_edges(words);
                });
            },
            "state"_a, "Return the numbers of the enabled edges, ascending.")
        .def(
            "is_fail",
            [](const Task& task, const nb::bytes& state) {
                return with_stepper(task, state, [](Stepper& stepper, const Word* words) {
                    return stepper.is_fail(words);
                });
            },
            "state"_a, "Return whether the fail condition holds.")
        .def("kind", &kind, "state"_a, "Return whether the state fails, is a goal, or is open.");

    nb::class_<StartEnumerator::Sample>(module, "Starts", "Start states, as far as it went.")
        .def_prop_ro("states", &states_of<StartEnumerator::Sample>, "Packed, one after the other.")
        .def_prop_ro("stopped", &stopped_of<StartEnumerator::Sample>, kStoppedWords, kStopped);

    nb::class_<CompiledTask, Task>(module, "CompiledTask", "A declarative task, compiled.")
        .def(nb::new_(&make_task), nb::kw_only(), "variables"_a, "scratch_start"_a, "nodes"_a,
             "num_actions"_a, "first_silent"_a, "edges"_a, "fail"_a, "goal"_a, "start"_a,
             "distance"_a)
        .def_prop_ro(
            "residuals", [](const CompiledTask& task) { return task.index().num_residuals(); },
            "How many conditions are not settled by the guard index alone.")
        .def("pack", &pack, "values"_a, "Return the packed state; reals are given as bit patterns.")
        .def("unpack", &unpack, "state"_a,
             nb::sig("def unpack(self, state: bytes) -> tuple[bool | int | float, ...]"),
             "Return the values of a packed state.")
        .def("columns", &columns, "states"_a,
             nb::sig("def columns(self, states: bytes) -> list[list[bool | int | float]]"),
             "Return the values of packed states that stand one after the other, a list for each "
             "variable.")
        .def(
            "is_start",
            [](const CompiledTask& task, const nb::bytes& state) {
                return task.is_start(to_state(task, state).data());
            },
            "state"_a, "Return whether the start condition holds.")
        .def(
            "is_goal_condition",
            [](const CompiledTask& task, const nb::bytes& state) {
                return task.is_goal_condition(to_state(task, state).data());
            },
            "state"_a, "Return whether the goal condition holds, whatever the fail condition says.")
        .def(
            "distance_to_fail",
            [](const CompiledTask& task, const nb::bytes& state) {
                return task.distance_to_fail(to_state(task, state).data());
            },
            "state"_a, "Return how far the state is from fail.")
        .def(
            "has_finite_starts",
            [](const CompiledTask& task) { return StartEnumerator(task).is_finite(); },
            nb::call_guard<nb::gil_scoped_release>(),
            "Return whether the start condition leaves no real variable a choice.")
        .def("list_starts", &list_starts, nb::kw_only(), "max_states"_a, "max_seconds"_a,
             "Return the states of the start condition.");

    nb::class_<StartSampler>(module, "StartSampler",
                             "Draws start states of a task; keeps what drawing needs.")
        .def(nb::init<const CompiledTask&>(), "task"_a, nb::keep_alive<1, 2>(),
             nb::call_guard<nb::gil_scoped_release>())
        .def("count", &count_starts, nb::kw_only(), "max_seconds"_a,
             nb::sig("def count(self, *, max_seconds: float) -> int | None"),
             "Return how many states satisfy the start condition, counted without listing them; "
             "None if that is not possible.")
        .def("sample", &sample_starts, nb::kw_only(), "count"_a, "seed"_a, "max_seconds"_a,
             "max_tries"_a, "Return start states drawn uniformly.");

    nb::class_<Guidance>(module, "Guidance", "How far states are from what somebody looks for.")
        .def("__init__", &make_guidance, "task"_a, "nodes"_a, "root"_a)
        .def("distance", &distance_of, "task"_a, "state"_a,
             "Return the value of the expression in a packed state of the task.");
}

}  // namespace surefoot
