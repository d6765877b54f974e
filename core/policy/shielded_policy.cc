#include "policy/shielded_policy.h"

#include <algorithm>

namespace surefoot {

Decisions::Decisions(const std::vector<Word>& states, std::size_t words_per_state,
                     const std::vector<ActionId>& actions)
    : words_(words_per_state) {
    if (states.size() != actions.size() * words_)
        throw std::invalid_argument("a table needs one action per state");
    decisions_.reserve(actions.size());
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto begin = states.begin() + static_cast<std::ptrdiff_t>(i * words_);
        const auto end = begin + static_cast<std::ptrdiff_t>(words_);
        decisions_[std::vector<Word>(begin, end)] = actions[i];
    }
}

const ActionId* Decisions::find(const Word* state) const {
    const auto found = decisions_.find(Key(state, words_));
    return found == decisions_.end() ? nullptr : &found->second;
}

bool Decisions::Equal::operator()(Key a, Key b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

namespace {

class ShieldedDecider : public Decider {
public:
    ShieldedDecider(std::unique_ptr<Decider> base, const Decisions& decisions)
        : base_(std::move(base)), decisions_(decisions) {}

    ActionId decide(const Word* state, std::size_t words,
                    std::span<const ActionId> applicable) override {
        const ActionId* const decision = decisions_.find(state);
        return decision != nullptr ? *decision : base_->decide(state, words, applicable);
    }

    // Asks the base once, for all states that the table does not have.
    void decide_all(const Questions& questions, ActionId* decisions) override {
        std::vector<const ActionId*> known(questions.size());
        std::size_t num_known = 0;
        for (std::size_t i = 0; i < questions.size(); ++i) {
            known[i] = decisions_.find(questions.state(i));
            num_known += known[i] != nullptr;
        }
        if (num_known == 0) {
            base_->decide_all(questions, decisions);
            return;
        }
        Questions others(questions.words);
        for (std::size_t i = 0; i < questions.size(); ++i) {
            if (known[i] == nullptr) others.add(questions.state(i), questions.applicable(i));
        }
        std::vector<ActionId> decided(others.size());
        if (others.size() > 0) base_->decide_all(others, decided.data());
        auto next = decided.begin();
        for (std::size_t i = 0; i < questions.size(); ++i)
            decisions[i] = known[i] != nullptr ? *known[i] : *next++;
    }

private:
    std::unique_ptr<Decider> base_;
    const Decisions& decisions_;
};

}  // namespace

std::unique_ptr<Decider> ShieldedPolicy::decider() const {
    return std::make_unique<ShieldedDecider>(base_.decider(), decisions_);
}

}  // namespace surefoot
