/*
  The task with silent steps made visible.

  No policy chooses a silent action. Where nothing else is applicable the environment takes one:
  ForcedTask shows that as a single action, forced(), whose outcomes are those of all applicable
  silent actions. Where something else is applicable silent actions are left out.
*/
#pragma once

#include "task/task.h"

namespace surefoot {

class ForcedTask : public Task {
public:
    explicit ForcedTask(const Task& task) : task_(task) {}

    std::size_t words() const override { return task_.words(); }
    std::size_t bits() const override { return task_.bits(); }
    std::size_t num_actions() const override { return task_.first_silent() + 1; }
    std::size_t first_silent() const override { return num_actions(); }
    bool is_state(const Word* state) const override { return task_.is_state(state); }
    bool is_slow() const override { return task_.is_slow(); }
    std::unique_ptr<Stepper> stepper() const override;

    ActionId forced() const { return ActionId{static_cast<std::uint32_t>(task_.first_silent())}; }

private:
    const Task& task_;
};

}  // namespace surefoot
