/*
  Lines below and above the activations of a layer.

  What it does: gives two lines for each neuron, between which lies what the network computes of
  each sum within the neuron's bounds. Guarantee: roundings of the activation, and those that a
  backward pass makes when it uses the lines (NetworkBounds), are part of the offsets. Cost: some
  operations per neuron. When to use it: under NetworkBounds. Paper: Zhang et al. (2018), with the
  slope of the lower line of relu by the greater side; Singh et al., "Fast and Effective Robustness
  Certification" (2018), for tanh and sigmoid.
*/
#pragma once

#include "verify/layer_intervals.h"

namespace surefoot {

struct Lines {
    std::vector<double> low_slope;
    std::vector<double> low_offset;
    std::vector<double> high_slope;
    std::vector<double> high_offset;
};

// The activation of a layer; `gamma` is what offsets grow by, see NetworkBounds.
struct ActivationOf {
    Activation activation;
    double slope;  // of leaky_relu
    Precision precision;
    double gamma;
};

// `low` and `high` bound the neuron after the activation.
void set_lines(const ActivationOf& how, const SumBounds& sums, const std::vector<double>& low,
               const std::vector<double>& high, Lines& lines);

}  // namespace surefoot
