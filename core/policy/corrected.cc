#include "policy/corrected.h"

#include <stdexcept>

namespace surefoot {

Corrected::Corrected(std::shared_ptr<const Scorer> network, std::shared_ptr<const Scorer> trees)
    : network_(std::move(network)), trees_(std::move(trees)) {
    if (!network_ || !trees_) throw std::invalid_argument("a network and trees are needed");
    if (network_->num_inputs() != trees_->num_inputs() ||
        network_->num_outputs() != trees_->num_outputs())
        throw std::invalid_argument("network and trees differ in their inputs or outputs");
}

void Corrected::scores(const double* inputs, double* scores, ScorerMemory& memory) const {
    std::vector<double> corrections(num_outputs());
    network_->scores(inputs, scores, memory);
    trees_->scores(inputs, corrections.data(), memory);
    for (std::size_t o = 0; o < corrections.size(); ++o) scores[o] += corrections[o];
}

}  // namespace surefoot
