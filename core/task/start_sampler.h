/*
  Start states drawn again and again from one task.

  StartSampler keeps what drawing needs: the enumerator of the start condition and, once somebody
  has drawn from it or asked for the count, its diagram, which may take seconds to build. Threads
  may share one: they take turns.
*/
#pragma once

#include <mutex>
#include <optional>

#include "task/start_diagram.h"
#include "task/starts.h"

namespace surefoot {

class StartSampler {
public:
    // The task must outlive the sampler.
    explicit StartSampler(const CompiledTask& task) : starts_(task) {}

    // `count` states, each drawn uniformly and independently from all start states: by counting
    // them or, where that is not possible, by listing all; where a real variable is free, by
    // drawing from the ranges until the condition holds, `max_tries` times for each at most. Empty
    // if there are none.
    StartEnumerator::Sample sample(std::size_t count, std::uint64_t max_tries, Random& random,
                                   Budget& budget);

    // How many start states there are; none if they cannot be counted without listing them, or the
    // budget ended.
    std::optional<StartDiagram::Count> count(Budget& budget);

private:
    // The diagram, built if it was not yet; null if there is none. `stopped` says if the budget
    // ended first: then the next one to ask begins again.
    const StartDiagram* diagram(Budget& budget, StopReason& stopped);

    const StartEnumerator starts_;
    std::mutex mutex_;
    bool is_built_ = false;
    std::optional<StartDiagram> diagram_;
};

}  // namespace surefoot
