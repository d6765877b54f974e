/*
  Many runs of a task at once, for those who learn to act.

  What it does: keeps `count` runs. A step takes the given action in each of them, with an outcome
  drawn uniformly; silent actions are taken at once, where nothing else is applicable. A run that
  has ended is begun anew, in one of the start states. Guarantee: what run `i` does depends on the
  task, the start states, the seed, `i` and the actions only. Cost: one expansion of one action per
  run and step. Paper: none needed.

  Numbers stand in rows, one for each run: what a policy would be fed (Inputs), which outputs are
  applicable (masks), and how far it is to what the runs should come to, if somebody says what that
  is (Guidance). There are two of each: where the step led (`next`), and where the run is now, which
  is elsewhere if it has been begun anew.
*/
#pragma once

#include <memory>
#include <optional>

#include "base/random.h"
#include "base/run_end.h"
#include "policy/inputs.h"
#include "task/guidance.h"

namespace surefoot {

class Environments {
public:
    struct Spec {
        std::vector<Word> starts;
        std::size_t count = 1;
        std::uint64_t max_steps = 0;  // a run is cut then
        std::vector<InputSpec> inputs;
        std::vector<ActionId> outputs;
        const Guidance* guidance = nullptr;  // none: all distances are 0
    };

    struct Rows {
        std::vector<Word> states;
        std::vector<float> inputs;
        std::vector<std::uint8_t> masks;
        std::vector<double> distances;
    };

    // The task and the guidance must stay. Throws std::invalid_argument if there is no start state.
    Environments(const CompiledTask& task, Spec spec);

    // Begin all runs. Throws std::invalid_argument if hardly a start state leaves a choice, and
    // ModelError, after which runs have to be begun again.
    void reset(std::uint64_t seed);

    // Take action outputs[actions[i]] in run i. Throws std::invalid_argument, before anything is
    // done, if one is not applicable, and what reset() throws.
    void step(const std::int32_t* actions);

    std::size_t count() const { return spec_.count; }
    std::size_t num_inputs() const { return inputs_.size(); }
    std::size_t num_outputs() const { return spec_.outputs.size(); }
    Rows& now() { return now_; }
    Rows& next() { return next_; }
    std::vector<std::uint8_t>& results() { return results_; }

private:
    void check_actions(const std::int32_t* actions) const;
    void step_all(const std::int32_t* actions);
    RunEnd step_one(std::size_t i, std::int32_t action);
    void begin(std::size_t i);
    RunEnd arrive(std::size_t i, Word* state);
    void take(std::size_t i, ActionId action, Word* state);
    void fill(Rows& rows, std::size_t i, bool is_over);
    Word* state(Rows& rows, std::size_t i) { return rows.states.data() + i * width_; }

    Spec spec_;
    std::size_t width_;
    std::size_t first_silent_;
    Inputs inputs_;
    std::unique_ptr<Stepper> stepper_;
    std::optional<Guide> guide_;
    std::vector<std::uint32_t> output_of_;  // by action; the number of outputs if it is none
    std::vector<Random> random_;
    std::vector<std::uint64_t> steps_;
    Rows now_;
    Rows next_;
    std::vector<std::uint8_t> results_;
    std::vector<ActionId> applicable_;  // where the last run arrived
    Expansion expansion_;
};

}  // namespace surefoot
