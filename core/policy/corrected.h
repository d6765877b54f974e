/*
  A network with trees that correct it.

  What it does: adds the scores of two scorers, output by output, in double. Guarantee: the same
  scores as the two have alone, and one rounding. Cost: that of both. When to use it: for a network
  that was repaired with trees. Paper: none needed.
*/
#pragma once

#include <memory>

#include "policy/scorer.h"

namespace surefoot {

class Corrected : public Scorer {
public:
    // Throws std::invalid_argument unless both have the same inputs and outputs.
    Corrected(std::shared_ptr<const Scorer> network, std::shared_ptr<const Scorer> trees);

    std::size_t num_inputs() const override { return network_->num_inputs(); }
    std::size_t num_outputs() const override { return network_->num_outputs(); }
    void scores(const double* inputs, double* scores, ScorerMemory& memory) const override;

    const Scorer& network() const { return *network_; }
    const Scorer& trees() const { return *trees_; }

private:
    std::shared_ptr<const Scorer> network_;
    std::shared_ptr<const Scorer> trees_;
};

}  // namespace surefoot
