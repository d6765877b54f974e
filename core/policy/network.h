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

class NetworkScorer : public Scorer {
public:
    // As they were given: weights, biases and slopes are rounded to the precision when used.
    const std::vector<LayerSpec>& layers() const { return specs_; }
    virtual bool is_double() const = 0;

protected:
    explicit NetworkScorer(const std::vector<LayerSpec>& specs) : specs_(specs) {}

private:
    std::vector<LayerSpec> specs_;
};

// Throws std::invalid_argument if there is no layer or sizes do not fit.
std::unique_ptr<NetworkScorer> make_network(const std::vector<LayerSpec>& layers, bool is_double);

}  // namespace surefoot
