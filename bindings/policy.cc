#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "inputs.h"
#include "policy/corrected.h"
#include "policy/network.h"
#include "policy/rules.h"
#include "policy/scored_policy.h"
#include "policy/shielded_policy.h"
#include "policy/trees.h"
#include "task/compiled_task.h"

namespace surefoot {

namespace {

template <typename T, std::size_t kDimensions>
using Array = nb::ndarray<const T, nb::ndim<kDimensions>, nb::c_contig, nb::device::cpu>;
using Reals = Array<double, 1>;
using Numbers = Array<std::int32_t, 1>;

template <typename T>
std::vector<T> to_vector(const Array<T, 1>& array) {
    return {array.data(), array.data() + array.size()};
}

// -- policies -----------------------------------------------------------------------------------

// A policy that Python code defines: a callable of a packed state and its applicable actions, and
// maybe one of many states at once and the applicable actions of each.
class CallablePolicy : public Policy {
public:
    CallablePolicy(nb::callable decide, nb::object decide_all)
        : decide_(std::move(decide)), decide_all_(std::move(decide_all)) {}

    std::unique_ptr<Decider> decider() const override;
    bool is_slow() const override { return true; }

    int traverse(visitproc visit, void* arg) {
        Py_VISIT(decide_.ptr());
        Py_VISIT(decide_all_.ptr());
        return 0;
    }
    void clear() {
        decide_.reset();
        decide_all_.reset();
    }

private:
    friend class CallableDecider;
    nb::callable decide_;
    nb::object decide_all_;
};

// Holds the interpreter lock while it asks; has no memory of its own.
class CallableDecider : public Decider {
public:
    explicit CallableDecider(const CallablePolicy& policy) : policy_(policy) {}

    ActionId decide(const Word* state, std::size_t words,
                    std::span<const ActionId> applicable) override {
        nb::gil_scoped_acquire hold;
        return ActionId{
            nb::cast<std::uint32_t>(policy_.decide_(to_bytes(state, words), listed(applicable)))};
    }

    void decide_all(const Questions& questions, ActionId* decisions) override {
        nb::gil_scoped_acquire hold;
        if (policy_.decide_all_.is_none() || questions.size() == 0) {
            Decider::decide_all(questions, decisions);
            return;
        }
        nb::list applicable;
        for (std::size_t i = 0; i < questions.size(); ++i)
            applicable.append(listed(questions.applicable(i)));
        const auto found = nb::cast<std::vector<std::uint32_t>>(policy_.decide_all_(
            to_bytes(questions.states.data(), questions.states.size()), applicable));
        if (found.size() != questions.size())
            throw std::runtime_error("one decision for each state");
        for (std::size_t i = 0; i < found.size(); ++i) decisions[i] = ActionId{found[i]};
    }

private:
    static nb::list listed(std::span<const ActionId> applicable) {
        nb::list actions;
        for (ActionId action : applicable) actions.append(index(action));
        return actions;
    }

    const CallablePolicy& policy_;
};

std::unique_ptr<Decider> CallablePolicy::decider() const {
    return std::make_unique<CallableDecider>(*this);
}

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
    new (self) TablePolicy(to_words(task, states), task.words(), action_ids(numbers));
}

void make_shielded(ShieldedPolicy* self, const Policy& base, const Task& task,
                   const nb::bytes& states, const std::vector<std::uint32_t>& numbers) {
    new (self)
        ShieldedPolicy(base, Decisions(to_words(task, states), task.words(), action_ids(numbers)));
}

void make_scored(ScoredPolicy* self, const CompiledTask& task, std::shared_ptr<Scorer> scorer,
                 const std::vector<InputTuple>& inputs, const std::vector<std::uint32_t>& outputs,
                 bool unfiltered) {
    new (self) ScoredPolicy(task.layout(), task.num_actions(), std::move(scorer),
                            input_specs(inputs), action_ids(outputs), unfiltered);
}

// The questions of states in which something is to be decided. Throws PolicyError for others.
Questions questions_of(const Task& task, const std::vector<Word>& states) {
    Questions questions(task.words());
    const auto stepper = task.stepper();
    std::vector<ActionId> applicable;
    for (std::size_t at = 0; at < states.size(); at += task.words()) {
        const Word* const state = states.data() + at;
        stepper->applicable(state, applicable);
        while (!applicable.empty() && index(applicable.back()) >= task.first_silent())
            applicable.pop_back();
        if (applicable.empty())
            throw PolicyError("nothing-to-decide", -1, {state, state + task.words()});
        questions.add(state, applicable);
    }
    return questions;
}

std::uint32_t decide_once(const Policy& policy, const Task& task, const nb::bytes& state) {
    const Questions questions = questions_of(task, to_state(task, state));
    return index(checked_decision(*policy.decider(), questions.state(0), questions.words,
                                  questions.applicable(0)));
}

std::vector<std::uint32_t> decide_all(const Policy& policy, const Task& task,
                                      const nb::bytes& states) {
    const Questions questions = questions_of(task, to_words(task, states));
    std::vector<ActionId> decisions(questions.size());
    policy.decider()->decide_all(questions, decisions.data());
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = 0; i < decisions.size(); ++i) {
        check_decision(decisions[i], questions.state(i), questions.words, questions.applicable(i));
        numbers.push_back(index(decisions[i]));
    }
    return numbers;
}

// -- scorers ------------------------------------------------------------------------------------

bool is_double(const std::string& precision) {
    if (precision == "float64") return true;
    if (precision == "float32") return false;
    throw std::invalid_argument("there is no such precision");
}

Activation activation_of(const std::string& name) {
    static const char* const names[] = {"linear", "relu", "tanh", "sigmoid", "leaky_relu"};
    for (std::size_t i = 0; i < std::size(names); ++i) {
        if (name == names[i]) return static_cast<Activation>(i);
    }
    throw std::invalid_argument("there is no such activation");
}

// (weights, biases, activation, slope)
using LayerTuple = std::tuple<Array<double, 2>, Reals, std::string, double>;

std::shared_ptr<Scorer> network_of(const std::vector<LayerTuple>& layers,
                                   const std::string& precision) {
    std::vector<LayerSpec> specs;
    for (const auto& [weights, biases, activation, slope] : layers) {
        specs.push_back({weights.shape(1),
                         weights.shape(0),
                         {weights.data(), weights.data() + weights.size()},
                         to_vector(biases),
                         activation_of(activation),
                         slope});
    }
    return make_network(specs, is_double(precision));
}

void make_trees(Trees* self, std::size_t num_inputs, std::size_t num_outputs, const Numbers& roots,
                const Numbers& features, const Reals& thresholds, const Numbers& left,
                const Numbers& right, const Reals& values, const Reals& base,
                const std::string& input_precision, const std::string& sum_precision,
                bool base_last, double divide_by) {
    new (self) Trees({num_inputs, num_outputs, to_vector(roots), to_vector(features),
                      to_vector(thresholds), to_vector(left), to_vector(right), to_vector(values),
                      to_vector(base), !is_double(input_precision), !is_double(sum_precision),
                      base_last, divide_by});
}

using RuleTuple = std::pair<bool, std::vector<std::pair<std::uint32_t, bool>>>;

void make_rules(Rules* self, std::size_t num_inputs, std::size_t num_outputs,
                const std::vector<std::pair<std::uint32_t, double>>& atoms,
                const std::vector<RuleTuple>& rules,
                const std::vector<std::tuple<std::uint32_t, std::uint32_t, double>>& weights,
                std::vector<double> base) {
    RulesSpec spec;
    spec.num_inputs = num_inputs;
    for (const auto& [input, value] : atoms) spec.atoms.push_back({input, value});
    for (const auto& [is_and, terms] : rules) {
        spec.rules.push_back({is_and, {}});
        for (const auto& [term, is_negated] : terms)
            spec.rules.back().terms.push_back({term, is_negated});
    }
    for (const auto& [rule, output, weight] : weights)
        spec.weights.push_back({rule, output, weight});
    spec.base = std::move(base);
    if (spec.base.size() != num_outputs) throw std::invalid_argument("one base score per output");
    new (self) Rules(std::move(spec));
}

void make_corrected(Corrected* self, std::shared_ptr<Scorer> network,
                    std::shared_ptr<Scorer> trees) {
    new (self) Corrected(std::move(network), std::move(trees));
}

nb::ndarray<nb::numpy, double, nb::ndim<2>> scores_of(const Scorer& scorer,
                                                      const Array<double, 2>& inputs) {
    const std::size_t rows = inputs.shape(0);
    const std::size_t outputs = scorer.num_outputs();
    if (inputs.shape(1) != scorer.num_inputs())
        throw std::invalid_argument("the scorer has another number of inputs");
    auto* const found = new double[rows * outputs];
    nb::capsule owner(found, [](void* memory) noexcept { delete[] static_cast<double*>(memory); });
    {
        nb::gil_scoped_release let_other_threads_run;
        ScorerMemory memory;
        for (std::size_t i = 0; i < rows; ++i)
            scorer.scores(inputs.data() + i * scorer.num_inputs(), found + i * outputs, memory);
    }
    return {found, {rows, outputs}, owner};
}

void bind_scorers(nb::module_& module) {
    nb::class_<Scorer>(module, "Scorer", "Gives every output a score.")
        .def_prop_ro("num_inputs", &Scorer::num_inputs)
        .def_prop_ro("num_outputs", &Scorer::num_outputs)
        .def("scores", &scores_of, nb::arg("inputs").noconvert(),
             "Return a row of scores for each row of inputs.");
    module.def("Network", &network_of, "layers"_a, "precision"_a,
               "Return a network: (weights, biases, activation, slope) of each layer.");
    nb::class_<Trees, Scorer>(module, "Trees", "A tree ensemble.")
        .def("__init__", &make_trees, nb::kw_only(), "num_inputs"_a, "num_outputs"_a,
             nb::arg("roots").noconvert(), nb::arg("features").noconvert(),
             nb::arg("thresholds").noconvert(), nb::arg("left").noconvert(),
             nb::arg("right").noconvert(), nb::arg("values").noconvert(),
             nb::arg("base").noconvert(), "input_precision"_a, "sum_precision"_a, "base_last"_a,
             "divide_by"_a);
    nb::class_<Rules, Scorer>(module, "Rules", "Rules with weights.")
        .def("__init__", &make_rules, "num_inputs"_a, "num_outputs"_a, nb::kw_only(), "atoms"_a,
             "rules"_a, "weights"_a, "base"_a);
    nb::class_<Corrected, Scorer>(module, "Corrected", "A network with trees that correct it.")
        .def("__init__", &make_corrected, "network"_a, "trees"_a);
}

}  // namespace

void bind_policy(nb::module_& module) {
    bind_scorers(module);
    nb::class_<Policy>(module, "Policy", "Decides for an action in every state.")
        .def("decide", &decide_once, "task"_a, "state"_a,
             "Return the number of the action that the policy decides for.")
        .def("decide_all", &decide_all, "task"_a, "states"_a,
             "Return the numbers of the actions decided for in packed states.");
    nb::class_<FirstPolicy, Policy>(module, "FirstPolicy", "Takes the lowest applicable action.")
        .def(nb::init<>());
    nb::class_<RandomPolicy, Policy>(module, "RandomPolicy",
                                     "Takes an action that depends on seed and state only.")
        .def(nb::init<std::uint64_t>(), "seed"_a)
        .def_prop_ro("seed", &RandomPolicy::seed);
    nb::class_<TablePolicy, Policy>(module, "TablePolicy", "Takes the action that a table says.")
        .def("__init__", &make_table, "task"_a, "states"_a, "actions"_a);
    nb::class_<ShieldedPolicy, Policy>(module, "ShieldedPolicy",
                                       "Takes what a table says, else what the base decides.")
        .def("__init__", &make_shielded, nb::keep_alive<1, 2>(), "base"_a, "task"_a, "states"_a,
             "actions"_a);
    nb::class_<CallablePolicy, Policy>(module, "CallablePolicy", nb::type_slots(slots),
                                       "Asks a callable of packed state and applicable actions.")
        .def(nb::init<nb::callable, nb::object>(), "decide"_a, "decide_all"_a.none() = nb::none());
    nb::class_<ScoredPolicy, Policy>(module, "ScoredPolicy", "Takes the best-scored action.")
        .def("__init__", &make_scored, "task"_a, "scorer"_a, nb::kw_only(), "inputs"_a, "outputs"_a,
             "unfiltered"_a)
        .def(
            "scores",
            [](const ScoredPolicy& policy, const Task& task, const nb::bytes& state) {
                const auto decider = policy.scored_decider();
                const auto scores = decider->scores(to_state(task, state).data());
                return std::vector<double>(scores.begin(), scores.end());
            },
            "task"_a, "state"_a, "Return the scores of all outputs.");
}

}  // namespace surefoot
