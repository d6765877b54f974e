/*
  Which strategy makes which run, where there are several: a bandit.

  Runs come in rounds of kRoundRuns. In the first, strategies take turns. In each later one every
  strategy makes a run, and the others are shared out in proportion to what the runs of each have
  found that was new; what was found long ago counts less. New are the states on a failing run that
  were on none before, and, for much less, a run that was not made before. Guarantee: the plan of a
  round depends on the runs before it only, not on the number of workers, nor on how many runs will
  follow. Cost: a look at each state of each failing run. When to use it: it is not known which
  strategy suits; none is left out, so where one finds a failing run with some probability the mix
  does, too, later.
*/
#pragma once

#include <unordered_set>

#include "fuzz/fuzz.h"

namespace surefoot {

class Mix {
public:
    static constexpr std::uint64_t kRoundRuns = 50;

    Mix(std::size_t strategies, std::size_t width);

    // The strategies of the runs of the next round.
    std::vector<std::uint32_t> plan() const;

    // What the runs of a round found: those of `runs` from `begin` to `end`.
    void learn(const std::vector<FuzzRun>& runs, std::uint64_t begin, std::uint64_t end);

private:
    struct Record {
        double found = 0;
        double runs = 0;
    };

    double gain(const FuzzRun& run);
    double promise(std::size_t strategy) const;

    std::size_t width_;  // of a state, in words
    std::vector<Record> records_;
    bool has_learned_ = false;
    std::unordered_set<std::uint64_t> paths_;   // hashes of what was seen
    std::unordered_set<std::uint64_t> states_;  // those on failing runs
};

}  // namespace surefoot
