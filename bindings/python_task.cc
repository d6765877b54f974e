#include "bindings.h"

namespace surefoot {

namespace {

// A task that Python code defines. A state is one word: its number in the table that the Python
// side keeps. The callables hold the interpreter lock while they run.
class PythonTask : public Task {
public:
    PythonTask(std::size_t num_actions, nb::callable kind, nb::callable applicable,
               nb::callable outcomes)
        : num_actions_(num_actions),
          kind_(std::move(kind)),
          applicable_(std::move(applicable)),
          outcomes_(std::move(outcomes)) {}

    std::size_t words() const override { return 1; }
    std::size_t bits() const override { return 64; }
    std::size_t num_actions() const override { return num_actions_; }
    std::size_t first_silent() const override { return num_actions_; }
    bool is_slow() const override { return true; }
    bool is_state(const Word*) const override {
        return true;
    }  // the table on the Python side knows
    std::unique_ptr<Stepper> stepper() const override;

    // The callables lead back to the Python object that owns this task: the garbage collector must
    // see the circle.
    int traverse(visitproc visit, void* arg) {
        Py_VISIT(kind_.ptr());
        Py_VISIT(applicable_.ptr());
        Py_VISIT(outcomes_.ptr());
        return 0;
    }

    void clear() {
        kind_.reset();
        applicable_.reset();
        outcomes_.reset();
    }

private:
    friend class PythonStepper;
    std::size_t num_actions_;
    nb::callable kind_;
    nb::callable applicable_;
    nb::callable outcomes_;
};

class PythonStepper : public Stepper {
public:
    explicit PythonStepper(const PythonTask& task) : task_(task) {}

    StateKind kind(const Word* state) override {
        nb::gil_scoped_acquire hold;
        return static_cast<StateKind>(nb::cast<int>(task_.kind_(*state)));
    }

    bool is_fail(const Word* state) override { return kind(state) == StateKind::fail; }

    void expand(const Word* state, Expansion& expansion) override {
        expansion.kind = kind(state);
        if (expansion.kind != StateKind::open) return;
        applicable(state, actions_);
        for (ActionId action : actions_) add(state, action, expansion);
    }

    void next_choice(const Word* state, ActionId from, Expansion& expansion) override {
        expansion.clear();
        applicable(state, actions_);
        for (ActionId action : actions_) {
            if (action >= from && expansion.choices.empty()) add(state, action, expansion);
        }
    }

    void applicable(const Word* state, std::vector<ActionId>& actions) override {
        nb::gil_scoped_acquire hold;
        actions.clear();
        for (auto number : nb::cast<std::vector<std::uint32_t>>(task_.applicable_(*state)))
            actions.push_back(ActionId{number});
    }

    void outcomes(const Word* state, ActionId action, Expansion& expansion) override {
        expansion.clear();
        add(state, action, expansion);
    }

    void expand_weighted(const Word* state, WeightedExpansion& expansion) override {
        expand_uniformly(*this, state, expansion);
    }

    std::vector<std::int64_t> enabled_edges(const Word*) override { return {}; }

private:
    void add(const Word* state, ActionId action, Expansion& expansion) {
        nb::gil_scoped_acquire hold;
        const auto begin = static_cast<std::uint32_t>(expansion.words.size());
        for (Word word : nb::cast<std::vector<Word>>(task_.outcomes_(*state, index(action))))
            expansion.words.append(&word, 1);
        if (expansion.words.size() == begin) return;
        remove_duplicates(expansion.words, begin, 1);
        expansion.choices.push_back(
            {action, begin, static_cast<std::uint32_t>(expansion.words.size())});
    }

    const PythonTask& task_;
    std::vector<ActionId> actions_;
};

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<PythonTask>(self)->traverse(visit, arg) : 0;
}

int clear(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<PythonTask>(self)->clear();
    return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

std::unique_ptr<Stepper> PythonTask::stepper() const {
    return std::make_unique<PythonStepper>(*this);
}

}  // namespace

void bind_python_task(nb::module_& module) {
    nb::class_<PythonTask, Task>(module, "PythonTask", nb::type_slots(slots),
                                 "A task defined by Python callables over state numbers.")
        .def(nb::init<std::size_t, nb::callable, nb::callable, nb::callable>(), nb::kw_only(),
             "num_actions"_a, "kind"_a, "applicable"_a, "outcomes"_a);
}

}  // namespace surefoot
