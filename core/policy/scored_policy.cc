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
      is_unfiltered_(is_unfiltered) {
    if (inputs.size() != scorer_->num_inputs() || outputs.size() != scorer_->num_outputs())
        throw std::invalid_argument("the scorer has another number of inputs or outputs");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (index(outputs[i]) >= num_actions || output_of_[index(outputs[i])] != kNoOutput)
            throw std::invalid_argument("an output is no action, or that of another output");
        output_of_[index(outputs[i])] = static_cast<std::uint32_t>(i);
    }
}

std::unique_ptr<Decider> ScoredPolicy::decider() const { return scored_decider(); }

std::unique_ptr<ScoredDecider> ScoredPolicy::scored_decider() const {
    return std::make_unique<ScoredDecider>(*this);
}

ScoredDecider::ScoredDecider(const ScoredPolicy& policy)
    : policy_(policy), values_(policy.inputs().size()), scores_(policy.outputs().size()) {}

std::span<const double> ScoredDecider::scores(const Word* state) {
    policy_.inputs().read(state, values_.data());
    policy_.scorer().scores(values_.data(), scores_.data(), memory_);
    return scores_;
}

ActionId ScoredDecider::decide(const Word* state, std::size_t words,
                               std::span<const ActionId> applicable) {
    if (policy_.is_unfiltered()) return best_of_all(state, words);
    if (applicable.size() == 1) return applicable.front();
    scores(state);
    constexpr std::uint32_t kNoOutput = ScoredPolicy::kNoOutput;
    const std::vector<std::uint32_t>& output_of = policy_.output_of();
    std::uint32_t best = kNoOutput;
    for (ActionId action : applicable) {
        const std::uint32_t output = output_of[index(action)];
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
    return policy_.outputs()[best];
}

ActionId ScoredDecider::best_of_all(const Word* state, std::size_t words) {
    scores(state);
    std::size_t best = 0;
    for (std::size_t i = 0; i < scores_.size(); ++i) {
        if (std::isnan(scores_[i]))
            throw PolicyError("no-number", index(policy_.outputs()[i]),
                              std::vector<Word>(state, state + words));
        if (scores_[i] > scores_[best]) best = i;
    }
    return policy_.outputs()[best];
}

}  // namespace surefoot
