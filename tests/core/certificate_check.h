/*
  A plain check of the core's certificates, written from their definition (docs/oracles.md).

  why_rejected() returns what is wrong with a certificate, or nullptr if it proves the claim. It
  reads the task from Rules, as the truth does, and nothing from the oracles.
*/
#pragma once

#include <algorithm>

#include "oracle/certificate.h"
#include "truth.h"

namespace surefoot::tests {

struct Claim {
    Verdict verdict;
    std::size_t state;
    std::optional<std::uint64_t> radius;  // none: any policy
    bool is_about_finite = false;         // "unsafe", however many differences
};

class CertificateCheck {
public:
    CertificateCheck(const ExplicitTask& task, const Rules& rules, const Claim& claim,
                     const Certificate& certificate)
        : task_(task), rules_(rules), claim_(claim), certificate_(certificate) {}

    const char* why_rejected() {
        if (const char* problem = read_states()) return problem;
        if (const char* problem = read_decisions()) return problem;
        if (const char* problem = read_entries()) return problem;
        for (const Entry& entry : entries_) {
            const Rules::State& state = rules_.states[entry.state];
            const char* const problem = claim_.verdict == Verdict::safe ? safe_entry(entry, state)
                                                                        : lost_entry(entry, state);
            if (problem != nullptr) return problem;
        }
        const std::uint64_t left = claim_.radius.value_or(0);
        const bool is_proved = claim_.verdict == Verdict::safe
                                   ? is_covered(claim_.state, left)
                                   : rank(claim_.state, left) != kUnranked;
        return is_proved ? nullptr : "nothing is said about the state itself";
    }

private:
    static constexpr std::int64_t kUnranked = INT64_MAX;

    struct Entry {
        std::size_t state;
        std::uint64_t left;  // 0 without radius
        std::int64_t value;
    };

    const char* read_states() {
        const auto& words = certificate_.states;
        if (certificate_.claim != claim_.verdict) return "it claims something else";
        if (certificate_.stopped != StopReason::none) return "it is not complete";
        if (words.size() % ExplicitTask::kWords != 0) return "half a state";
        Bits seen = 0;
        for (std::size_t at = 0; at < words.size(); at += ExplicitTask::kWords) {
            if (!task_.is_state(&words[at])) return "not a state";
            if (has(seen, words[at])) return "a state stands there twice";
            seen |= Bits{1} << words[at];
            states_.push_back(words[at]);
        }
        if (states_.empty() || states_[0] != claim_.state) return "it is about another state";
        return nullptr;
    }

    const char* read_decisions() const {
        const bool has_policy = claim_.radius || claim_.is_about_finite;
        if (certificate_.decisions.size() != (has_policy ? states_.size() : 0))
            return "wrong number of decisions";
        for (std::size_t i = 0; i < certificate_.decisions.size(); ++i) {
            const Rules::State& state = rules_.states[states_[i]];
            const std::int64_t decision =
                state.is_terminal ? Certificate::kNothing : state.offers[state.decision].action;
            if (certificate_.decisions[i] != decision) return "not the policy's decision";
        }
        return nullptr;
    }

    const char* read_entries() {
        const std::size_t count = certificate_.entry_states.size();
        if (certificate_.entry_values.size() != count) return "wrong number of values";
        if (certificate_.entries_left.size() != (claim_.radius ? count : 0))
            return "wrong number of differences left";
        for (std::size_t i = 0; i < count; ++i) {
            if (certificate_.entry_states[i] >= states_.size()) return "an entry about nobody";
            const std::uint64_t left = claim_.radius ? certificate_.entries_left[i] : 0;
            if (left > claim_.radius.value_or(0)) return "too many differences left";
            const Entry entry{states_[certificate_.entry_states[i]], left,
                              certificate_.entry_values[i]};
            for (const Entry& other : entries_) {
                if (other.state == entry.state && other.left == left) return "two entries for one";
            }
            entries_.push_back(entry);
        }
        return nullptr;
    }

    // Terminal without fail, or chosen for with as many differences left or fewer.
    bool is_covered(std::size_t state, std::uint64_t left) const {
        const Rules::State& rules = rules_.states[state];
        if (rules.is_terminal) return !rules.is_fail;
        return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
            return entry.state == state && entry.left <= left;
        });
    }

    const char* safe_entry(const Entry& entry, const Rules::State& state) const {
        if (state.is_terminal) return "a choice in a terminal state";
        std::size_t number = 0;
        while (number < state.offers.size() && state.offers[number].action != entry.value) ++number;
        if (number == state.offers.size()) return "the chosen action is not applicable";
        const bool differs = claim_.radius && number != state.decision;
        if (differs && entry.left == 0) return "one difference too many";
        for (std::size_t t = 0; t < rules_.size(); ++t) {
            if (has(state.offers[number].outcomes, t) && !is_covered(t, entry.left - differs))
                return "an outcome is not covered";
        }
        return nullptr;
    }

    // The least rank of entries with as many differences left or more.
    std::int64_t rank(std::size_t state, std::uint64_t left) const {
        std::int64_t least = kUnranked;
        for (const Entry& entry : entries_) {
            if (entry.state == state && entry.left >= left) least = std::min(least, entry.value);
        }
        return least;
    }

    std::int64_t least_outcome(const Offer& offer, std::uint64_t left) const {
        std::int64_t least = kUnranked;
        for (std::size_t t = 0; t < rules_.size(); ++t) {
            if (has(offer.outcomes, t)) least = std::min(least, rank(t, left));
        }
        return least;
    }

    const char* lost_entry(const Entry& entry, const Rules::State& state) const {
        if (entry.value < 0 || entry.value == kUnranked) return "not a rank";
        if (state.is_fail) return nullptr;
        if (state.is_terminal) return "a terminal state that does not fail has a rank";
        for (std::size_t i = 0; i < state.offers.size(); ++i) {
            const bool differs = claim_.radius && i != state.decision;
            if (differs && entry.left == 0) continue;
            const std::int64_t least = least_outcome(state.offers[i], entry.left - differs);
            // Without any bound, differing into whatever is ranked does not help: it never ends.
            const bool may_be_any = claim_.is_about_finite && i != state.decision;
            if (may_be_any ? least == kUnranked : least >= entry.value)
                return "an action has no outcome of smaller rank";
        }
        return nullptr;
    }

    const ExplicitTask& task_;
    const Rules& rules_;
    const Claim& claim_;
    const Certificate& certificate_;
    std::vector<std::size_t> states_;
    std::vector<Entry> entries_;
};

inline const char* why_rejected(const ExplicitTask& task, const Rules& rules, const Claim& claim,
                                const Certificate& certificate) {
    return CertificateCheck(task, rules, claim, certificate).why_rejected();
}

}  // namespace surefoot::tests
