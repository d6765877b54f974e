/*
  Tasks written down as tables, for tests.

  ExplicitTask numbers its states from 0; table[state][action] are the outcomes in order, none if
  the action is not applicable there. The last `num_silent` actions are silent. Fail and goal states
  may have applicable actions: nobody should take them. A state is packed as its number and its
  part.

  SideBySide is a task made of several parts that nothing leads out of: one oracle can be asked
  about a hundred small tasks. The parts have the same actions.

  While `steps_until_error` is not 0 every step counts it down, and the one that reaches 0 throws a
  ModelError.
*/
#pragma once

#include <string>
#include <vector>

#include "task/task.h"

namespace surefoot::tests {

using Outcomes = std::vector<std::uint32_t>;
using Table = std::vector<std::vector<Outcomes>>;

class ExplicitTask : public Task {
public:
    Table table;
    std::vector<bool> fail;
    std::vector<bool> goal;
    std::size_t num_silent = 0;
    std::uint32_t part = 0;
    mutable std::uint32_t steps_until_error = 0;

    ExplicitTask() = default;
    ExplicitTask(Table outcomes, const Outcomes& fails, const Outcomes& goals = {},
                 std::size_t silent = 0)
        : table(std::move(outcomes)),
          fail(table.size(), false),
          goal(table.size(), false),
          num_silent(silent) {
        for (std::uint32_t state : fails) fail[state] = true;
        for (std::uint32_t state : goals) goal[state] = true;
        std::size_t actions = 0;
        for (const auto& row : table) actions = std::max(actions, row.size());
        for (auto& row : table) row.resize(actions);
    }

    std::size_t size() const { return table.size(); }

    static constexpr std::size_t kWords = 2;
    std::size_t words() const override { return kWords; }
    std::size_t bits() const override { return 64 * kWords; }
    std::size_t num_actions() const override { return table.empty() ? 0 : table[0].size(); }
    std::size_t first_silent() const override { return num_actions() - num_silent; }
    bool is_state(const Word* state) const override {
        return state[0] < size() && state[1] == part;
    }
    std::unique_ptr<Stepper> stepper() const override;

    StateKind kind(Word state) const {
        if (fail[state]) return StateKind::fail;
        return goal[state] ? StateKind::goal : StateKind::open;
    }

    void count_step(Word state) const {
        if (steps_until_error == 0 || --steps_until_error > 0) return;
        throw ModelError("test", -1, -1, "", {state});
    }

    void pack(Word state, Word* words) const {
        words[0] = state;
        words[1] = part;
    }

    // As one can write it into a test.
    std::string text() const;
};

class ExplicitStepper : public Stepper {
public:
    explicit ExplicitStepper(const ExplicitTask& task) : task_(task) {}

    StateKind kind(const Word* state) override {
        task_.count_step(state[0]);
        return task_.kind(state[0]);
    }

    bool is_fail(const Word* state) override {
        task_.count_step(state[0]);
        return task_.fail[state[0]];
    }

    void expand(const Word* state, Expansion& expansion) override {
        expansion.kind = kind(state);
        if (expansion.kind != StateKind::open) return;
        for (std::uint32_t a = 0; a < task_.num_actions(); ++a) add(state, a, expansion);
    }

    void next_choice(const Word* state, ActionId from, Expansion& expansion) override {
        expansion.clear();
        expansion.kind = kind(state);
        if (expansion.kind != StateKind::open) return;
        for (std::uint32_t a = index(from); a < task_.num_actions(); ++a) {
            if (add(state, a, expansion)) return;
        }
    }

    void applicable(const Word* state, std::vector<ActionId>& actions) override {
        task_.count_step(state[0]);
        actions.clear();
        for (std::uint32_t a = 0; a < task_.num_actions(); ++a) {
            if (!task_.table[state[0]][a].empty()) actions.push_back(ActionId{a});
        }
    }

    void outcomes(const Word* state, ActionId action, Expansion& expansion) override {
        expansion.clear();
        expansion.kind = kind(state);
        add(state, index(action), expansion);
    }

    std::vector<std::int64_t> enabled_edges(const Word*) override { return {}; }

private:
    bool add(const Word* state, std::uint32_t action, Expansion& expansion) {
        const Outcomes& outcomes = task_.table[state[0]][action];
        if (outcomes.empty()) return false;
        constexpr std::size_t kWords = ExplicitTask::kWords;
        const auto begin = static_cast<std::uint32_t>(expansion.words.size() / kWords);
        for (std::uint32_t outcome : outcomes) task_.pack(outcome, expansion.words.extend(kWords));
        const auto count = static_cast<std::uint32_t>(outcomes.size());
        expansion.choices.push_back({ActionId{action}, begin, begin + count});
        return true;
    }

    const ExplicitTask& task_;
};

inline std::unique_ptr<Stepper> ExplicitTask::stepper() const {
    return std::make_unique<ExplicitStepper>(*this);
}

inline std::string ExplicitTask::text() const {
    const auto list = [](std::size_t count, auto&& part) {
        std::string text = "{";
        for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + part(i);
        return text + "}";
    };
    const auto numbers = [&](const std::vector<bool>& flags) {
        Outcomes set;
        for (std::uint32_t i = 0; i < flags.size(); ++i) {
            if (flags[i]) set.push_back(i);
        }
        return list(set.size(), [&](std::size_t i) { return std::to_string(set[i]); });
    };
    const std::string rows = list(size(), [&](std::size_t s) {
        return list(num_actions(), [&](std::size_t a) {
            const Outcomes& outcomes = table[s][a];
            return list(outcomes.size(),
                        [&](std::size_t i) { return std::to_string(outcomes[i]); });
        });
    });
    return "ExplicitTask(" + rows + ", " + numbers(fail) + ", " + numbers(goal) + ", " +
           std::to_string(num_silent) + ")";
}

class SideBySide : public Task {
public:
    // Not empty; part `i` has the number `i`.
    explicit SideBySide(std::vector<const ExplicitTask*> parts) : parts_(std::move(parts)) {}

    std::size_t words() const override { return ExplicitTask::kWords; }
    std::size_t bits() const override { return 64 * words(); }
    std::size_t num_actions() const override { return parts_[0]->num_actions(); }
    std::size_t first_silent() const override { return parts_[0]->first_silent(); }
    bool is_state(const Word* state) const override {
        return state[1] < parts_.size() && parts_[state[1]]->is_state(state);
    }
    std::unique_ptr<Stepper> stepper() const override;

private:
    std::vector<const ExplicitTask*> parts_;
};

class SideBySideStepper : public Stepper {
public:
    explicit SideBySideStepper(const std::vector<const ExplicitTask*>& parts) : parts_(parts) {}

    StateKind kind(const Word* state) override { return of(state).kind(state); }
    bool is_fail(const Word* state) override { return of(state).is_fail(state); }
    void expand(const Word* state, Expansion& expansion) override {
        of(state).expand(state, expansion);
    }
    void next_choice(const Word* state, ActionId from, Expansion& expansion) override {
        of(state).next_choice(state, from, expansion);
    }
    void applicable(const Word* state, std::vector<ActionId>& actions) override {
        of(state).applicable(state, actions);
    }
    void outcomes(const Word* state, ActionId action, Expansion& expansion) override {
        of(state).outcomes(state, action, expansion);
    }
    std::vector<std::int64_t> enabled_edges(const Word*) override { return {}; }

private:
    ExplicitStepper of(const Word* state) const { return ExplicitStepper(*parts_[state[1]]); }

    const std::vector<const ExplicitTask*>& parts_;
};

inline std::unique_ptr<Stepper> SideBySide::stepper() const {
    return std::make_unique<SideBySideStepper>(parts_);
}

}  // namespace surefoot::tests
