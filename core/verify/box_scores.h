/*
  The scores of a policy over a box of states.

  BoxScores bounds what a Scorer computes, rounding included, for all states of a box.

  Trees: the least and the greatest leaf of each tree that states of the box come to, added just as
  the scorer adds. Rounding is monotone, so these are bounds of what it computes. Thresholds are
  turned into cuts of variables when the scores are made: a box is held against whole numbers only.
  Networks: bounds of score differences (network_bounds.h). Both together: the sum of both.

  Exact sums of the same leaves may order two actions otherwise than the rounded ones do, where
  scores are close; could_differ says whether that is possible in a box.
*/
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "policy/scored_policy.h"
#include "verify/box.h"

namespace surefoot {

class BoxScores {
public:
    virtual ~BoxScores() = default;

    // Look at this box from now on.
    virtual void set_box(const Box& box) = 0;

    // Whether output `a` scores more than `b` in all states of the box; or as much, if that is
    // enough.
    virtual bool is_better(std::uint32_t a, std::uint32_t b, bool is_tie_enough) = 0;

    // Whether scores may be no numbers somewhere in the box.
    virtual bool may_be_no_number() = 0;

    // A rough guide to who may win: the larger, the likelier.
    virtual double most(std::uint32_t output) = 0;

    // A cut of the box that tells two outputs apart; none if nothing more can be told.
    virtual std::optional<Cut> split(const Box& box, std::uint32_t a, std::uint32_t b) = 0;

    // Whether exact sums may put `b` before `a` somewhere in the box.
    virtual bool could_differ(std::uint32_t a, std::uint32_t b) = 0;
};

// Nothing if boxes cannot be scored by this scorer.
std::unique_ptr<BoxScores> make_box_scores(const Layout& layout, const ScoredPolicy& policy);

}  // namespace surefoot
