/*
  The truth about small tasks, computed plainly from the definitions. Shares nothing with the core.

  Rules reads the table of an ExplicitTask once more: what one may choose in each state, with
  outcomes as sets of bits. Truth is what is safe, what is safe within r differences of the policy,
  and how many differences are needed, each as a fixed point. by_definition() tries all policies.
*/
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explicit_task.h"

namespace surefoot::tests {

using Bits = std::uint32_t;

inline bool has(Bits set, std::size_t state) { return (set >> state & 1) != 0; }
inline bool is_subset(Bits set, Bits of) { return (set & ~of) == 0; }

constexpr std::int64_t kForced = -1;  // as an action

struct Offer {
    std::int64_t action;
    Bits outcomes;
};

struct Rules {
    struct State {
        bool is_fail = false;
        bool is_terminal = false;
        bool is_forced = false;
        std::vector<Offer> offers;  // by ascending action; of terminal states none
        std::size_t decision = 0;   // of the policy: number of the offer; 0 in forced states
    };

    std::vector<State> states;

    explicit Rules(const ExplicitTask& task) : states(task.size()) {
        for (std::size_t s = 0; s < task.size(); ++s) {
            State& state = states[s];
            state.is_fail = task.fail[s];
            if (!task.fail[s] && !task.goal[s]) read(task, s, state);
            state.is_terminal = state.offers.empty();
        }
    }

    std::size_t size() const { return states.size(); }
    Bits all() const { return (Bits{1} << size()) - 1; }

private:
    static void read(const ExplicitTask& task, std::size_t s, State& state) {
        Bits silent = 0;
        for (std::size_t a = 0; a < task.num_actions(); ++a) {
            Bits outcomes = 0;
            for (std::uint32_t outcome : task.table[s][a]) outcomes |= Bits{1} << outcome;
            if (outcomes == 0) continue;
            if (a >= task.num_actions() - task.num_silent) {
                silent |= outcomes;
            } else {
                state.offers.push_back({static_cast<std::int64_t>(a), outcomes});
            }
        }
        state.is_forced = state.offers.empty() && silent != 0;
        if (state.is_forced) state.offers.push_back({kForced, silent});
    }
};

struct Truth {
    static constexpr std::size_t kMaxRadius = 3;
    static constexpr std::uint32_t kNever = 0xffffffffU;

    Bits safe = 0;
    Bits within[kMaxRadius + 1] = {};       // by r: the r-safe states
    std::vector<std::uint32_t> deviations;  // J by state; kNever if infinite

    explicit Truth(const Rules& rules) {
        find_safe(rules);
        find_within(rules);
        find_deviations(rules);
    }

    bool is_safe(std::size_t state, std::optional<std::uint64_t> radius) const {
        return has(radius ? within[*radius] : safe, state);
    }

private:
    // The greatest set of states that do not fail and can stay inside.
    void find_safe(const Rules& rules) {
        safe = rules.all();
        for (Bits before = 0; before != safe;) {
            before = safe;
            for (std::size_t s = 0; s < rules.size(); ++s) {
                bool stays = rules.states[s].is_terminal;
                for (const Offer& offer : rules.states[s].offers)
                    stays |= is_subset(offer.outcomes, safe);
                if (rules.states[s].is_fail || !stays) safe &= ~(Bits{1} << s);
            }
        }
    }

    // The same on pairs of a state and the differences left, all numbers at once.
    void find_within(const Rules& rules) {
        for (Bits& set : within) set = rules.all();
        for (bool has_changed = true; has_changed;) {
            has_changed = false;
            for (std::size_t left = 0; left <= kMaxRadius; ++left) {
                for (std::size_t s = 0; s < rules.size(); ++s) {
                    if (!has(within[left], s) || stays_within(rules.states[s], left)) continue;
                    within[left] &= ~(Bits{1} << s);
                    has_changed = true;
                }
            }
        }
    }

    bool stays_within(const Rules::State& state, std::size_t left) const {
        if (state.is_fail || state.is_terminal) return !state.is_fail;
        for (std::size_t i = 0; i < state.offers.size(); ++i) {
            const bool differs = i != state.decision;
            if (differs && left == 0) continue;
            if (is_subset(state.offers[i].outcomes, within[differs ? left - 1 : left])) return true;
        }
        return false;
    }

    // Bellman's equation from 0 upwards. What needs as many differences as there are states needs
    // infinitely many: some number below was needed by nobody.
    void find_deviations(const Rules& rules) {
        const auto cap = static_cast<std::uint32_t>(rules.size());
        deviations.assign(rules.size(), 0);
        for (bool has_changed = true; has_changed;) {
            has_changed = false;
            for (std::size_t s = 0; s < rules.size(); ++s) {
                const std::uint32_t value = std::min(cap, backed_up(rules.states[s], cap));
                has_changed |= value != deviations[s];
                deviations[s] = value;
            }
        }
        for (std::uint32_t& value : deviations) {
            if (value == cap) value = kNever;
        }
    }

    std::uint32_t backed_up(const Rules::State& state, std::uint32_t cap) const {
        if (state.is_fail) return cap;
        if (state.is_terminal) return 0;
        std::uint32_t least = cap;
        for (std::size_t i = 0; i < state.offers.size(); ++i) {
            std::uint32_t value = 0;
            for (std::size_t t = 0; t < deviations.size(); ++t) {
                if (has(state.offers[i].outcomes, t)) value = std::max(value, deviations[t]);
            }
            least = std::min(least, value + (i == state.decision ? 0 : 1));
        }
        return least;
    }
};

// Try every policy (a choice per state: for these questions memory does not help). Follow all its
// runs and count the decisions that differ; a difference on a cycle counts infinitely often.
class ByDefinition {
public:
    explicit ByDefinition(const Rules& rules)
        : rules_(rules), deviations_(rules.size(), Truth::kNever), choice_(rules.size(), 0) {
        do {
            judge();
        } while (next_policy());
    }

    static std::uint64_t num_policies(const Rules& rules) {
        std::uint64_t number = 1;
        for (const auto& state : rules.states)
            number *= std::max<std::size_t>(state.offers.size(), 1);
        return number;
    }

    Bits safe() const { return safe_; }
    const std::vector<std::uint32_t>& deviations() const { return deviations_; }

private:
    bool next_policy() {
        for (std::size_t s = 0; s < rules_.size(); ++s) {
            if (choice_[s] + 1 < rules_.states[s].offers.size()) {
                ++choice_[s];
                return true;
            }
            choice_[s] = 0;
        }
        return false;
    }

    Bits step(std::size_t state) const {
        const Rules::State& rules = rules_.states[state];
        return rules.is_terminal ? 0 : rules.offers[choice_[state]].outcomes;
    }

    Bits steps(Bits from) const {
        Bits reached = 0;
        for (std::size_t s = 0; s < rules_.size(); ++s) {
            if (has(from, s)) reached |= step(s);
        }
        return reached;
    }

    // With one step at least.
    Bits reached_behind(std::size_t state) const {
        Bits reached = step(state);
        while (!is_subset(steps(reached), reached)) reached |= steps(reached);
        return reached;
    }

    void judge() {
        for (std::size_t s = 0; s < rules_.size(); ++s) {
            const Bits reached = reached_behind(s) | Bits{1} << s;
            bool fails = false;
            for (std::size_t t = 0; t < rules_.size(); ++t)
                fails |= has(reached, t) && rules_.states[t].is_fail;
            if (fails) continue;
            safe_ |= Bits{1} << s;
            deviations_[s] = std::min(deviations_[s], most_differences(s, reached));
        }
    }

    bool differs(std::size_t state) const {
        const Rules::State& rules = rules_.states[state];
        return !rules.is_terminal && choice_[state] != rules.decision;
    }

    // Longest way, counted in differences: without differences on cycles, no way has more than
    // there are states, and as many rounds find it.
    std::uint32_t most_differences(std::size_t root, Bits reached) const {
        std::vector<std::uint32_t> most(rules_.size(), 0);
        for (std::size_t s = 0; s < rules_.size(); ++s) {
            if (has(reached, s) && differs(s) && has(reached_behind(s), s)) return Truth::kNever;
        }
        for (std::size_t round = 0; round < rules_.size(); ++round) {
            for (std::size_t s = 0; s < rules_.size(); ++s) {
                std::uint32_t behind = 0;
                for (std::size_t t = 0; t < rules_.size(); ++t) {
                    if (has(reached, s) && has(step(s), t)) behind = std::max(behind, most[t]);
                }
                most[s] = behind + (differs(s) ? 1 : 0);
            }
        }
        return most[root];
    }

    const Rules& rules_;
    Bits safe_ = 0;
    std::vector<std::uint32_t> deviations_;
    std::vector<std::size_t> choice_;
};

}  // namespace surefoot::tests
