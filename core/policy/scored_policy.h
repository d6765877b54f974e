/*
  The policy that takes the best-scored action.

  ScoredPolicy feeds the values of a state to a Scorer and takes the applicable action with the best
  score; of equal scores the lowest output. Where one action alone is applicable there is nothing to
  score. Unfiltered, it takes the best of all outputs, applicable or not. ScoredDecider computes: it
  has the memory for inputs and scores.
*/
#pragma once

#include "policy/inputs.h"
#include "policy/policy.h"
#include "policy/scorer.h"

namespace surefoot {

class ScoredDecider;

class ScoredPolicy : public Policy {
public:
    // Output `i` is action outputs[i]. Throws std::invalid_argument if the numbers of inputs or
    // outputs are not those of the scorer, or one is not there or there twice.
    ScoredPolicy(const Layout& layout, std::size_t num_actions,
                 std::shared_ptr<const Scorer> scorer, const std::vector<InputSpec>& inputs,
                 const std::vector<ActionId>& outputs, bool is_unfiltered);

    std::unique_ptr<Decider> decider() const override;
    std::unique_ptr<ScoredDecider> scored_decider() const;
    bool is_unfiltered() const override { return is_unfiltered_; }

    static constexpr std::uint32_t kNoOutput = 0xffffffffU;

    const Scorer& scorer() const { return *scorer_; }
    const Inputs& inputs() const { return inputs_; }
    const std::vector<InputSpec>& input_specs() const { return input_specs_; }
    // By action; kNoOutput if it has none.
    const std::vector<std::uint32_t>& output_of() const { return output_of_; }
    const std::vector<ActionId>& outputs() const { return outputs_; }

private:
    std::shared_ptr<const Scorer> scorer_;
    std::vector<InputSpec> input_specs_;
    Inputs inputs_;
    std::vector<ActionId> outputs_;
    std::vector<std::uint32_t> output_of_;  // by action
    bool is_unfiltered_;
};

class ScoredDecider : public Decider {
public:
    explicit ScoredDecider(const ScoredPolicy& policy);

    ActionId decide(const Word* state, std::size_t words,
                    std::span<const ActionId> applicable) override;

    // The scores of all outputs; they stay until the next question.
    std::span<const double> scores(const Word* state);

private:
    ActionId best_of_all(const Word* state, std::size_t words);

    const ScoredPolicy& policy_;
    std::vector<double> values_;
    std::vector<double> scores_;
    ScorerMemory memory_;
};

}  // namespace surefoot
