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
#include "oracle/forced_task.h"
#include "oracle/graph.h"

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

    Answer decide(const Word* state, Budget& budget);
    Certificate certificate(const Word* state, Budget& budget);

    // Only of the oracle `deviations`, and of states that decide() gave a verdict on.
    std::optional<std::uint32_t> deviations(const Word* state) const;

    // False if a question is being answered: there is one at a time.
    bool begin_question() { return !is_busy_.exchange(true); }
    void end_question() { is_busy_ = false; }

    const Task& task() const { return task_; }
    std::uint64_t num_states() const { return oracle_->num_states(); }
    std::uint64_t bytes() const { return oracle_->bytes(); }

private:
    const Word* viewed(const Word* state);

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
