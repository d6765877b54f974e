#include "search/environments.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include "bindings.h"
#include "inputs.h"

namespace surefoot {

namespace {

using Actions = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
using Table = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
template <typename T>
using Column = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// Numbers that the object owns and refills.
template <typename T, typename Number>
Table<T> table(nb::handle self, std::vector<Number>& numbers, std::size_t rows,
               std::size_t columns) {
    return Table<T>(numbers.data(), {rows, columns}, self);
}

template <typename T, typename Number>
Column<T> column(nb::handle self, std::vector<Number>& numbers) {
    return Column<T>(numbers.data(), {numbers.size()}, self);
}

void make(Environments* self, const CompiledTask& task, const nb::bytes& starts, std::size_t count,
          std::uint64_t max_steps, const std::vector<InputTuple>& inputs,
          const std::vector<std::uint32_t>& outputs, const Guidance* guidance) {
    Environments::Spec spec;
    spec.starts = to_words(task, starts);
    spec.count = count;
    spec.max_steps = max_steps;
    spec.inputs = input_specs(inputs);
    spec.outputs = action_ids(outputs);
    spec.guidance = guidance;
    new (self) Environments(task, std::move(spec));
}

void step(Environments& self, const Actions& actions) {
    if (actions.size() != self.count())
        throw std::invalid_argument("one action for each environment");
    self.step(actions.data());  // under the lock: threads may share the object
}

// The arrays of where the runs are now, or of where the step led: a property for each.
template <Environments::Rows& (Environments::*rows)()>
void bind_rows(nb::class_<Environments>& cls, const std::string& prefix) {
    const auto name = [&prefix](const char* what) { return prefix + what; };
    cls.def_prop_ro(name("observations").c_str(), [](nb::handle self) {
        auto& own = nb::cast<Environments&>(self);
        return table<float>(self, (own.*rows)().inputs, own.count(), own.num_inputs());
    });
    cls.def_prop_ro(name("masks").c_str(), [](nb::handle self) {
        auto& own = nb::cast<Environments&>(self);
        return table<bool>(self, (own.*rows)().masks, own.count(), own.num_outputs());
    });
    cls.def_prop_ro(name("distances").c_str(), [](nb::handle self) {
        return column<double>(self, (nb::cast<Environments&>(self).*rows)().distances);
    });
    cls.def_prop_ro(name("states").c_str(),
                    [](Environments& self) { return to_bytes((self.*rows)().states); });
}

}  // namespace

void bind_environments(nb::module_& module) {
    nb::class_<Environments> cls(
        module, "Environments",
        "Many runs of a task at once. The arrays are refilled by each step: `observations`, "
        "`masks`, `distances` by the guidance, and `states` of where the runs are now, `next_...` "
        "of "
        "where the step led.");
    cls.def("__init__", &make, "task"_a, "starts"_a, nb::kw_only(), "count"_a, "max_steps"_a,
            "inputs"_a, "outputs"_a, "guidance"_a.none() = nb::none(), nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 8>());
    cls.def("reset", &Environments::reset, "seed"_a, "Begin all runs anew.");
    cls.def("step", &step, nb::arg("actions").noconvert(),
            "Take an action, given as position among the outputs, in each run.");
    cls.def_prop_ro(
        "results",
        [](nb::handle self) {
            return column<std::uint8_t>(self, nb::cast<Environments&>(self).results());
        },
        "How the runs ended, as values of RunEnd.");
    bind_rows<&Environments::now>(cls, "");
    bind_rows<&Environments::next>(cls, "next_");
}

}  // namespace surefoot
