#include "policy/rules.h"

#include <algorithm>
#include <stdexcept>

namespace surefoot {

namespace {

bool holds(const RulesSpec::Rule& rule, const std::vector<char>& flags) {
    const auto is_true = [&](const RulesSpec::Term& term) {
        return (flags[term.number] != 0) != term.is_negated;
    };
    return rule.is_and ? std::all_of(rule.terms.begin(), rule.terms.end(), is_true)
                       : std::any_of(rule.terms.begin(), rule.terms.end(), is_true);
}

}  // namespace

Rules::Rules(RulesSpec spec) : spec_(std::move(spec)) {
    bool fits = spec_.num_inputs > 0 && !spec_.base.empty();
    for (const auto& atom : spec_.atoms) fits &= atom.input < spec_.num_inputs;
    for (std::size_t rule = 0; rule < spec_.rules.size(); ++rule) {
        for (const auto& term : spec_.rules[rule].terms)
            fits &= term.number < spec_.atoms.size() + rule;
    }
    for (const auto& weight : spec_.weights)
        fits &= weight.rule < spec_.rules.size() && weight.output < spec_.base.size();
    if (!fits) throw std::invalid_argument("a rule is about something that is not there");
}

void Rules::scores(const double* inputs, double* scores, ScorerMemory& memory) const {
    auto& flags = memory.flags;
    flags.clear();
    for (const auto& atom : spec_.atoms) flags.push_back(inputs[atom.input] == atom.value);
    for (const auto& rule : spec_.rules) flags.push_back(holds(rule, flags));
    std::copy(spec_.base.begin(), spec_.base.end(), scores);
    for (const auto& weight : spec_.weights) {
        if (flags[spec_.atoms.size() + weight.rule] != 0) scores[weight.output] += weight.weight;
    }
}

}  // namespace surefoot
