/*
  The scores of a tree ensemble over a box (box_scores.h).
*/
#pragma once

#include "policy/trees.h"
#include "verify/box_inputs.h"
#include "verify/box_scores.h"

namespace surefoot {

class TreeScores : public BoxScores {
public:
    TreeScores(const BoxInputs& inputs, const Trees& trees);

    void set_box(const Box& box) override;
    bool is_better(std::uint32_t a, std::uint32_t b, bool is_tie_enough) override;
    bool may_be_no_number() override { return may_be_no_number_; }
    double most(std::uint32_t output) override { return hi_[output]; }
    std::optional<Cut> split(const Box& box, std::uint32_t a, std::uint32_t b) override;
    bool could_differ(std::uint32_t a, std::uint32_t b) override;

    double least(std::uint32_t output) const { return lo_[output]; }
    double spread(std::uint32_t output) const { return hi_[output] - lo_[output]; }

private:
    using Exact = __int128;
    static constexpr std::uint32_t kLeaf = 0xffffffffU;

    struct Node {
        std::uint32_t variable;  // kLeaf
        std::uint32_t low;       // where values below the cut go
        std::uint32_t high;
        Key cut;
    };

    struct Extent {
        double lo;
        double hi;
    };

    struct Drop {
        Cut cut;
        double size;
    };

    void place(const BoxInputs& inputs, std::uint32_t number);
    void measure_scale();
    Exact exact(double value) const;
    template <typename T>
    void add_up();
    Extent note_drops(std::uint32_t node, std::uint32_t output, const Box& box);
    double value_of(std::uint32_t node, std::uint32_t output) const;

    const Trees& trees_;
    std::vector<Node> nodes_;
    std::size_t outputs_;
    bool may_be_no_number_ = false;
    std::vector<double> lo_;
    std::vector<double> hi_;
    std::vector<Extent> leaves_;           // by tree, and output if its leaves are vectors
    std::vector<std::int32_t> output_of_;  // by tree; -1: all
    std::vector<std::uint32_t> stack_;
    std::vector<Drop> drops_;
    double rounding_ = 0;  // differences that are larger are the same in exact sums
    bool has_scale_ = false;
    int scale_ = 0;  // exact sums count units of 2 to this
};

}  // namespace surefoot
