/*
  The scores of a network over a box (box_scores.h).
*/
#pragma once

#include <cmath>

#include "policy/network.h"
#include "verify/box_inputs.h"
#include "verify/box_scores.h"
#include "verify/network_bounds.h"

namespace surefoot {

class NetworkScores : public BoxScores {
public:
    NetworkScores(const Layout& layout, const BoxInputs& inputs, const NetworkScorer& network)
        : layout_(layout),
          inputs_(inputs),
          bounds_(network.layers(), network.is_double()),
          lo_(inputs.size()),
          hi_(inputs.size()),
          influence_(inputs.size()) {}

    void set_box(const Box& box) override {
        for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_.range(i, box, lo_[i], hi_[i]);
        bounds_.set_box(lo_.data(), hi_.data());
    }

    bool is_better(std::uint32_t a, std::uint32_t b, bool is_tie_enough) override {
        const double least = least_difference(a, b);
        return least > 0 || (is_tie_enough && least == 0);
    }

    bool may_be_no_number() override {
        for (std::size_t o = 0; o < bounds_.num_outputs(); ++o) {
            if (!std::isfinite(bounds_.lower(o)) || !std::isfinite(bounds_.upper(o))) return true;
        }
        return false;
    }

    double most(std::uint32_t output) override { return bounds_.upper(output); }
    double least_difference(std::uint32_t a, std::uint32_t b) {
        return bounds_.least_difference(a, b);
    }
    // The largest absolute value.
    double size(std::uint32_t output) {
        return std::max(std::abs(bounds_.lower(output)), std::abs(bounds_.upper(output)));
    }

    std::optional<Cut> split(const Box& box, std::uint32_t a, std::uint32_t b) override {
        bounds_.influence(a, b, influence_.data());
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            if (inputs_.is_constant(i)) continue;
            const std::uint32_t v = inputs_.variable(i);
            if (box.lo[v] == box.hi[v]) continue;
            if (!best || influence_[i] > influence_[*best]) best = i;
        }
        if (!best) return std::nullopt;
        return middle_cut(layout_, box, inputs_.variable(*best));
    }

    bool could_differ(std::uint32_t, std::uint32_t) override { return false; }

private:
    const Layout& layout_;
    BoxInputs inputs_;
    NetworkBounds bounds_;
    std::vector<double> lo_;
    std::vector<double> hi_;
    std::vector<double> influence_;
};

}  // namespace surefoot
