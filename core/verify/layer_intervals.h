/*
  Bounds of the neurons of one layer, from bounds of its inputs.

  What it does: computes the layer at the end points of intervals with the operations of
  policy/network.cc, in their order and precision. Guarantee: a rounded sum, and a rounded product
  with a constant, never fall when an argument rises, so what the network computes lies within the
  bounds to the last bit; tanh and exp are trusted to a few units in the last place. Cost: six
  operations per weight. When to use it: under NetworkBounds. Paper: none needed.
*/
#pragma once

#include <memory>

#include "policy/network.h"

namespace surefoot {

// Neurons stand in groups of this size; what fills the last group is 0.
constexpr std::size_t kNeuronGroup = 8;

constexpr std::size_t in_neuron_groups(std::size_t count) {
    return (count + kNeuronGroup - 1) / kNeuronGroup * kNeuronGroup;
}

// Of the neurons of a layer, before the activation.
struct SumBounds {
    std::vector<double> low;
    std::vector<double> high;
    std::vector<double> rounding;  // how far the computed sum is from the real one at most
    std::vector<double> reach;     // at least the sum of the absolute values of bias and products
};

// How the computed activation may differ from the real one, for a precision.
struct Precision {
    double unit;      // relative error of an operation
    double smallest;  // number above 0: absolute error of an operation that underflows
    double library;   // absolute error of tanh and of the sigmoid function
};

class LayerIntervals {
public:
    virtual ~LayerIntervals() = default;
    virtual Precision precision() const = 0;
    virtual double slope() const = 0;  // of leaky_relu, as it is computed with

    // Round inputs as the network does.
    virtual void round(const double* inputs, double* rounded) const = 0;
    // The least number of this precision that is not below `bound`, and the greatest not above.
    virtual double round_up(double bound) const = 0;
    virtual double round_down(double bound) const = 0;

    // Bounds of inputs must be numbers of this precision. Returns whether everything is finite.
    virtual bool sums(const double* low, const double* high, SumBounds& bounds) = 0;
    virtual void activate(const SumBounds& sums, double* low, double* high) const = 0;
};

std::unique_ptr<LayerIntervals> make_layer_intervals(const LayerSpec& spec, bool is_double);

}  // namespace surefoot
