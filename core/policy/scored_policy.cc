#include "policy/scored_policy.h"

#include <cmath>

namespace surefoot {

ScoredPolicy::ScoredPolicy(const Layout& layout, std::size_t num_actions,
                           std::shared_ptr<const Scorer> scorer,
                           const std::vector<InputSpec>& inputs,
                           const std::vector<ActionId>& outputs, bool is_unfiltered)
    : scorer_(std::move(scorer)),
      input_specs_(inputs),
      inputs_(layout, inputs),
      outputs_(outputs),
      output_of_(num_actions, kNoOutput),
      is_unfiltered_(is_unfiltered),
      values_(inputs.size()),
      scores_(outputs.size()) {
    if (inputs.size() != scorer_->num_inputs() || outputs.size() != scorer_->num_outputs())
        throw std::invalid_argument("the scorer has another number of inputs or outputs");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (index(outputs[i]) >= num_actions || output_of_[index(outputs[i])] != kNoOutput)
            throw std::invalid_argument("an output is no action, or that of another output");
        output_of_[index(outputs[i])] = static_cast<std::uint32_t>(i);
    }
}

std::span<const double> ScoredPolicy::scores(const Word* state) {
    inputs_.read(state, values_.data());
    scorer_->scores(values_.data(), scores_.data(), memory_);
    return scores_;
}

ActionId ScoredPolicy::decide(const Word* state, std::size_t words,
                              std::span<const ActionId> applicable) {
    if (is_unfiltered_) return best_of_all(state, words);
    if (applicable.size() == 1) return applicable.front();
    scores(state);
    std::uint32_t best = kNoOutput;
    for (ActionId action : applicable) {
        const std::uint32_t output = output_of_[index(action)];
        if (output == kNoOutput) continue;
        const double score = scores_[output];
        if (std::isnan(score))
            throw PolicyError("no-number", index(action), std::vector<Word>(state, state + words));
        const bool is_better =
            best == kNoOutput || score > scores_[best] || (score == scores_[best] && output < best);
        if (is_better) best = output;
    }
    if (best == kNoOutput)
        throw PolicyError("no-decision", -1, std::vector<Word>(state, state + words));
    return outputs_[best];
}

ActionId ScoredPolicy::best_of_all(const Word* state, std::size_t words) {
    scores(state);
    std::size_t best = 0;
    for (std::size_t i = 0; i < scores_.size(); ++i) {
        if (std::isnan(scores_[i]))
            throw PolicyError("no-number", index(outputs_[i]),
                              std::vector<Word>(state, state + words));
        if (scores_[i] > scores_[best]) best = i;
    }
    return outputs_[best];
}

}  // namespace surefoot
