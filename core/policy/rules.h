/*
  Rules over atoms `input == value`.

  What it does: evaluates the rules in order and adds the weights of those that hold. Guarantee: in
  double, in the order of the file. Cost: a test per term. When to use it: for policies that were
  learned as rules. Paper: none needed.
*/
#pragma once

#include "policy/scorer.h"

namespace surefoot {

struct RulesSpec {
    struct Atom {
        std::uint32_t input;
        double value;
    };
    struct Term {
        std::uint32_t number;  // below the number of atoms: an atom; else a rule before this one
        bool is_negated;
    };
    struct Rule {
        bool is_and;
        std::vector<Term> terms;
    };
    struct Weight {
        std::uint32_t rule;
        std::uint32_t output;
        double weight;
    };

    std::size_t num_inputs = 0;
    std::vector<Atom> atoms;
    std::vector<Rule> rules;
    std::vector<Weight> weights;
    std::vector<double> base;
};

class Rules : public Scorer {
public:
    // Throws std::invalid_argument for what is not there.
    explicit Rules(RulesSpec spec);

    std::size_t num_inputs() const override { return spec_.num_inputs; }
    std::size_t num_outputs() const override { return spec_.base.size(); }
    void scores(const double* inputs, double* scores, ScorerMemory& memory) const override;

private:
    RulesSpec spec_;
};

}  // namespace surefoot
