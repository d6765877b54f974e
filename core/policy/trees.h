/*
  Tree ensembles.

  What it does: finds the leaf of every tree and adds the leaves' values, in the order of the trees
  and in the precision of the original. Guarantee: the same comparisons and sums as the library that
  trained the trees. Cost: a comparison per level and tree; eight trees are walked at once, so that
  the processor never waits for one. When to use it: whenever the policy is a tree ensemble. Paper:
  none needed.

  A walk does not test for leaves: a leaf leads to itself until all trees of the group are done. Its
  threshold is not a number, which no input reaches.
*/
#pragma once

#include <memory>

#include "policy/scorer.h"

namespace surefoot {

struct TreesSpec {
    std::size_t num_inputs = 0;
    std::size_t num_outputs = 0;
    std::vector<std::int32_t> roots;
    std::vector<std::int32_t> features;  // -1: a leaf
    std::vector<double> thresholds;      // left if the input is less
    std::vector<std::int32_t> left;      // of a leaf: the position of its first value
    std::vector<std::int32_t> right;     // of a leaf: the output it adds to, -1 for all
    std::vector<double> values;
    std::vector<double> base;
    bool has_float_inputs = false;  // inputs are rounded to float before they are compared
    bool has_float_sums = false;
    bool is_base_last = false;  // added to the sum of the trees instead of before them
    double divide_by = 1;
};

class Trees : public Scorer {
public:
    // Throws std::invalid_argument if the nodes are no trees or a number is out of range.
    explicit Trees(const TreesSpec& spec);

    std::size_t num_inputs() const override { return num_inputs_; }
    std::size_t num_outputs() const override { return base_.size(); }
    void scores(const double* inputs, double* scores, ScorerMemory& memory) const override;

    // The children of a node stand side by side.
    struct Node {
        double threshold;  // right if the input is at least that
        std::uint32_t feature;
        std::uint32_t child;  // the left one; of a leaf: itself
    };

    struct Leaf {
        std::uint32_t first;  // of its values
        std::int32_t output;  // -1: all
    };

    bool has_float_inputs() const { return has_float_inputs_; }
    bool has_float_sums() const { return has_float_sums_; }
    bool is_base_last() const { return is_base_last_; }
    double divide_by() const { return divide_by_; }
    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<Leaf>& leaves() const { return leaves_; }  // by node
    const std::vector<std::uint32_t>& roots() const { return roots_; }
    const std::vector<double>& values() const { return values_; }
    const std::vector<double>& base() const { return base_; }

private:
    static constexpr std::size_t kGroup = 8;  // trees that are walked together

    void place(const TreesSpec& spec, std::size_t root);
    void place_leaf(const TreesSpec& spec, std::size_t from, std::uint32_t to);
    template <typename T>
    void add_up(const std::uint32_t* leaves, double* scores) const;

    std::size_t num_inputs_;
    bool has_float_inputs_;
    bool has_float_sums_;
    bool is_base_last_;
    double divide_by_;
    std::vector<Node> nodes_;
    std::vector<Leaf> leaves_;  // by node
    std::vector<std::uint32_t> roots_;
    std::vector<std::uint32_t> depths_;  // by group
    std::vector<double> values_;
    std::vector<double> base_;
};

}  // namespace surefoot
