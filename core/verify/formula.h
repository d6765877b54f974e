/*
  Conditions over boxes.

  Formulas turns conditions into conjunctions and disjunctions of atoms: a linear sum of integers
  between two bounds, a variable between two keys, or anything else, which is evaluated by ranges.

  evaluate says whether a condition holds in all states of a box, in none, or may be one way or the
  other (`maybe` is always sound), and whether it may raise an evaluation error. assume cuts away
  states in which the condition does not hold, as far as a box can be cut; it never cuts away
  others. split names a cut that brings a `maybe` nearer to an answer.
*/
#pragma once

#include <optional>

#include "task/expression.h"
#include "task/linear.h"
#include "verify/box.h"

namespace surefoot {

enum class Truth : std::uint8_t { no, maybe, yes };

// lower <= sum of factor * variable <= upper, over integers and Booleans.
struct LinearBound {
    static constexpr std::int64_t kNone = std::int64_t{1} << 62;  // no bound, with a sign

    std::vector<std::pair<std::uint32_t, std::int64_t>> terms;
    std::int64_t lower = -kNone;
    std::int64_t upper = kNone;

    Truth evaluate(const Box& box) const;
    // Narrow the box to where it holds; false if that is nowhere.
    bool propagate(Box& box, bool& has_changed) const;
};

// Whether no sum over values of the variables comes near what 64 bits hold.
bool is_tame(const Layout& layout, const LinearBound& bound);

// Ranges of expressions over a box.
class Intervals {
public:
    explicit Intervals(const Pool& pool) : pool_(&pool), ranges_(pool.size()) {}

    // `raises` of the result: whether evaluating may raise an error, somewhere in the box.
    const Range& evaluate(NodeId root, const Box& box);

private:
    Range evaluate_node(const Node& node, const Box& box);
    bool may_raise(const Node& node, const Range& own) const;

    const Pool* pool_;
    std::vector<Range> ranges_;
    std::vector<std::vector<NodeId>> orders_;  // by root: the nodes below it, operands first
};

class Formulas {
public:
    using Id = std::uint32_t;

    explicit Formulas(const Pool& pool) : pool_(&pool), intervals_(pool) {}

    // The condition, or that it does not hold.
    Id add(NodeId root, bool is_positive = true);

    Truth evaluate(Id id, const Box& box, bool& raises);
    bool assume(Id id, Box& box);
    std::optional<Cut> split(Id id, const Box& box);

    // The cuts that atoms about single variables make.
    void collect_cuts(Id id, std::vector<Cut>& cuts) const;
    // The variables of atoms that are about several.
    void collect_mixed(Id id, std::vector<std::uint32_t>& variables) const;

    Intervals& intervals() { return intervals_; }

private:
    enum class Kind : std::uint8_t { all, any, linear, keys, other };

    struct Formula {
        Kind kind = Kind::other;
        std::vector<Id> parts;  // all, any
        LinearBound bound;      // linear
        std::uint32_t variable = 0;
        Key lo = 0;  // keys
        Key hi = 0;
        NodeId node = kNoNode;  // other
        bool is_positive = true;
    };

    Id put(Formula formula);
    Id build(NodeId root, bool is_positive, int depth);
    Id build_parts(Kind kind, std::vector<Id> parts);
    Id build_comparison(NodeId root, bool is_positive);
    std::optional<Id> build_linear(const Node& node, Op op);
    std::optional<std::int64_t> only_value(NodeId node) const;
    std::optional<Id> build_keys(const Node& node, Op op);
    Id build_other(NodeId root, bool is_positive);
    bool assume_any(const Formula& formula, Box& box);

    const Pool* pool_;
    Intervals intervals_;
    std::vector<Formula> formulas_;
};

}  // namespace surefoot
