/*
  The arithmetic of a backward pass over a network, for registers of any width.

  All arrays are in groups of kNeuronGroup numbers. Results do not depend on the machine: sums are
  taken in four lanes everywhere.
*/
#pragma once

#include "verify/activation_lines.h"

namespace surefoot {

struct ConstantAndError {
    double constant;
    double error;
};

struct Neurons {
    const double* low;
    const double* high;
    std::size_t width;
};

struct Rows {
    const double* weights;  // a row of `width` for each neuron
    const double* biases;
    const double* errors;
    std::size_t width;
};

struct BackwardKernel {
    // Replace coefficients of activations by coefficients of sums, and return what that adds to the
    // constant of the functional; then what biases add to it and errors to its error.
    ConstantAndError (*to_sums)(double* coefficients, std::size_t width, const Lines& lines,
                                const Rows& rows);
    // The sum of some rows with their coefficients.
    void (*combine)(const double* coefficients, const std::uint32_t* numbers, std::size_t count,
                    const Rows& rows, double* sums);
    // The least value of a sum of neurons within their bounds, and the sum of absolute values.
    ConstantAndError (*least)(const double* coefficients, const Neurons& neurons);
};

BackwardKernel best_backward_kernel();

}  // namespace surefoot
