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
    bool may_be_no_number() override;
    double most(std::uint32_t output) override {
        find(output);
        return hi_[output];
    }
    std::optional<Cut> split(const Box& box, std::uint32_t a, std::uint32_t b) override;
    bool could_differ(std::uint32_t a, std::uint32_t b) override;

    double least(std::uint32_t output) {
        find(output);
        return lo_[output];
    }
    double spread(std::uint32_t output) { return most(output) - least(output); }

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
        double lo = std::numeric_limits<double>::infinity();
        double hi = -std::numeric_limits<double>::infinity();

        void join(const Extent& other) {
            lo = std::min(lo, other.lo);
            hi = std::max(hi, other.hi);
        }
    };

    struct Drop {
        Cut cut;
        double size;
    };

    void place(const BoxInputs& inputs, std::uint32_t number);
    std::int32_t output_of(std::uint32_t root) const;
    void find_extents();
    void measure_scale();
    Exact exact(double value) const;
    void find(std::uint32_t output);
    Extent leaf_extent(std::uint32_t root, std::uint32_t output);
    template <typename T>
    void add_up(std::uint32_t output);
    Extent note_drops(std::uint32_t node, std::uint32_t output, const Box& box);
    double value_of(std::size_t node, std::size_t output) const;

    const Trees& trees_;
    std::vector<Node> nodes_;
    std::size_t outputs_;
    bool has_vectors_ = false;                          // leaves of a tree go to several outputs
    std::vector<Extent> extents_;                       // by node, and output if there are vectors
    std::vector<std::vector<std::uint32_t>> trees_of_;  // by output: their roots
    Box box_;
    std::vector<bool> is_known_;               // by output, as what follows
    std::vector<std::vector<Extent>> leaves_;  // of its trees
    std::vector<double> lo_;
    std::vector<double> hi_;
    std::vector<std::uint32_t> stack_;
    std::vector<Drop> drops_;
    bool is_moderate_ = false;  // no sum is too large for a number
    double rounding_ = 0;       // differences that are larger are the same in exact sums
    bool has_scale_ = false;
    int scale_ = 0;  // exact sums count units of 2 to this
};

}  // namespace surefoot
