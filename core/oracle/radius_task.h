/*
  Pairs of a state and the differences left.

  RadiusTask is the task in which a run may differ from a policy a bounded number of times. Its
  states are those of the task and one more word, the number of differences that remain. Action
  kPolicyAction is what the policy decides (or the forced step, where nothing is to be decided) and
  keeps that number; action 1 + a is any other action `a`, and lowers it. So a state is r-safe iff
  the pair of the state and r is safe here, and every oracle decides r-safety as it decides safety.

  A pair that is safe stays safe with more differences left, an unsafe one stays unsafe with fewer.

  Decisions are kept: the policy is asked once per state. So a RadiusTask belongs to one
  oracle, and to one thread at a time.
*/
#pragma once

#include <optional>

#include "policy/policy.h"
#include "search/state_store.h"
#include "task/task.h"

namespace surefoot {

class RadiusTask : public Task {
public:
    static constexpr ActionId kPolicyAction{0};

    // `forced` is the action of `task` that stands for silent steps, if it has any.
    RadiusTask(const Task& task, const Policy& policy, std::optional<ActionId> forced)
        : task_(task),
          is_policy_slow_(policy.is_slow()),
          decider_(policy.decider()),
          forced_(forced),
          decided_(task.words()) {}

    std::size_t words() const override { return task_.words() + 1; }
    std::size_t bits() const override { return task_.bits() + 64; }
    std::size_t num_actions() const override { return task_.num_actions() + 1; }
    std::size_t first_silent() const override { return num_actions(); }
    bool is_state(const Word* state) const override { return task_.is_state(state); }
    bool is_slow() const override { return task_.is_slow() || is_policy_slow_; }
    std::unique_ptr<Stepper> stepper() const override;

    // The policy's decision in a state of the task in which `applicable` is to be decided among.
    ActionId decision(const Word* state, const std::vector<ActionId>& applicable) const;

    bool is_forced(ActionId action) const { return forced_ == action; }
    const Task& task() const { return task_; }

private:
    const Task& task_;
    bool is_policy_slow_;
    std::unique_ptr<Decider> decider_;
    std::optional<ActionId> forced_;
    mutable StateStore decided_;
    mutable std::vector<ActionId> decisions_;
};

}  // namespace surefoot
