/*
  Feed-forward networks.

  What it does: computes the layers one after the other, in float or double as the original does.
  Guarantee: the sum of each neuron is its bias and then the inputs in order, without fused
  multiplications, whatever the machine. Cost: a multiplication per weight; inputs that are 0 (as
  half of the hidden ones after relu) cost nothing. When to use it: whenever the policy is a
  network. Paper: none needed.
*/
#pragma once

#include <memory>
#include <string>

#include "policy/scorer.h"

namespace surefoot {

enum class Activation : std::uint8_t { linear, relu, tanh, sigmoid, leaky_relu };

struct LayerSpec {
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    std::vector<double> weights;  // a row of `inputs` weights for each output
    std::vector<double> biases;
    Activation activation = Activation::linear;
    double slope = 0.01;  // of leaky_relu
};

// Throws std::invalid_argument if there is no layer or sizes do not fit.
std::unique_ptr<Scorer> make_network(const std::vector<LayerSpec>& layers, bool is_double);

}  // namespace surefoot
