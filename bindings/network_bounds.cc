#include "verify/network_bounds.h"

#include "bindings.h"

namespace surefoot {

namespace {

void make_bounds(NetworkBounds* self, const Scorer& scorer) {
    const auto* const network = dynamic_cast<const NetworkScorer*>(&scorer);
    if (network == nullptr) throw std::invalid_argument("not a network");
    new (self) NetworkBounds(network->layers(), network->is_double());
}

void set_box(NetworkBounds& bounds, const std::vector<double>& low,
             const std::vector<double>& high) {
    if (low.size() != bounds.num_inputs() || high.size() != bounds.num_inputs())
        throw std::invalid_argument("the network has another number of inputs");
    bounds.set_box(low.data(), high.data());
}

std::size_t checked(const NetworkBounds& bounds, std::size_t output) {
    if (output >= bounds.num_outputs()) throw std::invalid_argument("there is no such output");
    return output;
}

double least_difference(NetworkBounds& bounds, std::size_t one, std::size_t other) {
    return bounds.least_difference(checked(bounds, one), checked(bounds, other));
}

std::vector<double> influence(NetworkBounds& bounds, std::size_t one, std::size_t other) {
    std::vector<double> by_input(bounds.num_inputs());
    bounds.influence(checked(bounds, one), checked(bounds, other), by_input.data());
    return by_input;
}

}  // namespace

void bind_network_bounds(nb::module_& module) {
    nb::class_<NetworkBounds>(module, "NetworkBounds", "Bounds of scores over a box of inputs.")
        .def("__init__", &make_bounds, "network"_a)
        .def_prop_ro("is_piecewise_linear", &NetworkBounds::is_piecewise_linear)
        .def("set_box", &set_box, "low"_a, "high"_a, "Take the box that questions are about.")
        .def(
            "lower",
            [](NetworkBounds& self, std::size_t output) {
                return self.lower(checked(self, output));
            },
            "output"_a, "Return a lower bound of a score.")
        .def(
            "upper",
            [](NetworkBounds& self, std::size_t output) {
                return self.upper(checked(self, output));
            },
            "output"_a, "Return an upper bound of a score.")
        .def("least_difference", &least_difference, "one"_a, "other"_a,
             "Return a lower bound of the difference of two scores.")
        .def("influence", &influence, "one"_a, "other"_a,
             "Return how much each input matters to the bounds of the difference of two scores.");
}

}  // namespace surefoot
