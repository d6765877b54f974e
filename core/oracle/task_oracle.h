/*
  An oracle with its name, for a task as it is.

  TaskOracle makes the oracle of that name and the views of the task that it needs: silent steps
  made visible where the task has any, pairs of state and differences left where a radius is given.
  It takes and gives states of the plain task.
*/
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "oracle/certificate.h"
#include "oracle/deviations.h"
#include "oracle/graph.h"
#include "task/forced_task.h"

namespace surefoot {

struct OracleOptions {
    std::string name;
    Graph::Ordering ordering;             // with the policy, if there is one
    std::optional<std::uint64_t> radius;  // none: any policy
};

class TaskOracle {
public:
    // Throws std::invalid_argument for an unknown name and for what an oracle cannot do.
    TaskOracle(const Task& task, const OracleOptions& options);

    // With a radius, `spent` of its differences are gone already; they must not be more than it.
    Answer decide(const Word* state, Budget& budget, std::uint64_t spent = 0);

    // If `first` is given, all its outcomes must be known to be safe: the evidence is then that of
    // a safe state where `first` is taken, whatever the oracle takes there.
    Certificate certificate(const Word* state, Budget& budget,
                            std::optional<ActionId> first = std::nullopt);

    // Only of the oracle `deviations`, and of states that decide() gave a verdict on.
    std::optional<std::uint32_t> deviations(const Word* state) const;

    // False if a question is being answered: there is one at a time.
    bool begin_question() { return !is_busy_.exchange(true); }
    void end_question() { is_busy_ = false; }

    const Task& task() const { return task_; }
    std::uint64_t num_states() const { return oracle_->num_states(); }
    std::uint64_t bytes() const { return oracle_->bytes(); }

private:
    const Word* viewed(const Word* state, std::uint64_t spent);
    ActionId viewed(const Word* state, ActionId action) const;

    const Task& task_;
    const Task* view_;  // what the oracle runs on
    std::unique_ptr<ForcedTask> forced_;
    std::unique_ptr<RadiusTask> pairs_;
    std::optional<std::uint64_t> radius_;
    std::unique_ptr<Oracle> oracle_;
    Deviations* deviations_ = nullptr;
    std::vector<Word> pair_;
    std::atomic<bool> is_busy_ = false;
};

}  // namespace surefoot
