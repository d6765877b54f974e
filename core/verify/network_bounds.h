/*
  Bounds of a network's scores over a box of inputs.

  What it does: bounds every neuron, first by intervals (layer_intervals.h); then it bounds each
  activation by two lines, and a sum of neurons by a sum of inputs, from the last layer backwards.
  Guarantee: bounds hold for what policy/network.cc computes, roundings included, for every input in
  the box; they are never worse than those of intervals, and in a box of one point those are exact
  (but for tanh and sigmoid, which are trusted to a few units in the last place). Where numbers
  might overflow, bounds are infinite. Cost: about that of computing the network twice for each
  neuron whose sign is open, and as much for each question. When to use it: to find which outputs
  can be the best in a box. Paper: Zhang et al., "Efficient Neural Network Robustness Certification
  with General Activation Functions" (2018), algorithm CROWN.

  Rounding. Let v be the computed inputs of a layer and z its computed sums. Then z = b + W v + e
  with |e| <= SumBounds::rounding. Nothing else stands between the real network and the computed
  one: coefficients k of z become the coefficients k W of v, the constant of the functional takes
  k b, and its error |k| rounding. All this is computed in double without directed rounding. A
  coefficient of v that is off by d costs |d| max|v|; together that is at most gamma |k| reach,
  where gamma bounds the relative error of a sum of so many products, and reach is SumBounds::reach.
  The constant is off by gamma times the absolute values of all that was added at most. `gamma_` is
  several times as great as it must be, and so makes up for rounding in the errors themselves;
  slack() does so for products that underflow.
*/
#pragma once

#include "verify/backward_kernel.h"

namespace surefoot {

class NetworkBounds {
public:
    // The layers must be those of a NetworkScorer.
    NetworkBounds(const std::vector<LayerSpec>& layers, bool is_double);
    NetworkBounds(NetworkBounds&&) = default;

    std::size_t num_inputs() const { return layers_.front().inputs; }
    std::size_t num_outputs() const { return layers_.back().outputs; }
    // Whether all activations are linear, relu or leaky_relu.
    bool is_piecewise_linear() const;

    // The box that all questions are about: bounds of inputs before they are rounded to the
    // network's precision, low <= high.
    void set_box(const double* low, const double* high);

    // Bounds of a computed score; found when first asked for.
    double lower(std::size_t output);
    double upper(std::size_t output);
    // A lower bound of the real difference of two computed scores.
    double least_difference(std::size_t one, std::size_t other);
    // How much each input matters to the bounds of the difference of two scores, from below and
    // from above: its coefficients in both times its width. A guide to what to split.
    void influence(std::size_t one, std::size_t other, double* by_input);

private:
    struct Layer {
        std::size_t inputs;
        std::size_t outputs;
        std::size_t width;            // of a row: inputs in groups
        std::vector<double> weights;  // a row for each output
        std::vector<double> biases;   // in groups, as all that follows
        std::unique_ptr<LayerIntervals> intervals;
        ActivationOf activation;
        SumBounds sums;
        std::vector<double> errors;  // of a sum, for a coefficient of 1
        std::vector<double> low;     // after the activation
        std::vector<double> high;
        Lines lines;
    };

    Layer layer_of(const LayerSpec& spec, bool is_double) const;
    bool take_inputs(const double* low, const double* high);
    void fold_points();
    bool bound_layer(std::size_t number);
    void tighten(std::size_t number);
    void take_largest(const std::vector<double>& low, const std::vector<double>& high);
    Rows rows_of(std::size_t number) const;
    Neurons inputs_of(std::size_t number) const;
    double least_sum(std::size_t number, std::size_t neuron, double sign);
    double least_score(std::size_t output, double sign);
    double least_gap(std::size_t one, std::size_t other);
    double least(std::size_t top, ConstantAndError functional);

    std::vector<Layer> layers_;
    BackwardKernel kernel_ = best_backward_kernel();
    bool is_supported_ = true;
    bool is_bounded_ = false;
    double gamma_ = 0;
    double products_ = 0;  // of a backward pass, at most
    double largest_ = 0;   // absolute value of an input or a neuron

    // The box. Inputs that do not vary become part of the biases of the first layer.
    std::vector<double> low_;
    std::vector<double> high_;
    std::vector<std::size_t> varying_;
    std::vector<double> varying_low_;
    std::vector<double> varying_high_;
    std::vector<double> first_weights_;
    std::vector<double> first_biases_;

    // Of a backward pass.
    std::vector<double> coefficients_;
    std::vector<double> sums_;
    std::vector<std::uint32_t> numbers_;

    std::vector<double> lower_;  // of outputs; not a number until asked for
    std::vector<double> upper_;
};

}  // namespace surefoot
