/*
  A shield: another policy's decisions, but for some states what a table says.

  What it does: looks a state up, and asks the base policy only if the table does not have it.
  Guarantee: decisions outside the table are those of the base policy, bit by bit. Cost: a hash per
  decision. When to use it: to avoid known faults without changing the policy. Paper: none needed.
*/
#pragma once

#include "policy/policy.h"

namespace surefoot {

// Decisions by state, looked up without a copy of the state.
class Decisions {
public:
    // State `i` stands at word `i * words_per_state`. The last of equal states counts.
    Decisions(const std::vector<Word>& states, std::size_t words_per_state,
              const std::vector<ActionId>& actions);
    // Null where the table has none.
    const ActionId* find(const Word* state) const;

private:
    using Key = std::span<const Word>;
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(Key key) const { return hash_words(key.data(), key.size()); }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(Key a, Key b) const;
    };

    std::size_t words_;
    std::unordered_map<std::vector<Word>, ActionId, Hash, Equal> decisions_;
};

class ShieldedPolicy : public Policy {
public:
    // The base must outlive the shield.
    ShieldedPolicy(const Policy& base, Decisions decisions)
        : base_(base), decisions_(std::move(decisions)) {}

    std::unique_ptr<Decider> decider() const override;
    bool is_unfiltered() const override { return base_.is_unfiltered(); }
    bool is_slow() const override { return base_.is_slow(); }

private:
    const Policy& base_;
    Decisions decisions_;
};

}  // namespace surefoot
