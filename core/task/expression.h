/*
  Expressions as the loader hands them over: checked, typed, without names.

  Pool holds the nodes of all expressions of one task in an order in which operands stand before
  their users; a node is named by its position. Nodes may be shared. Integers and reals never meet
  in one operator: the loader inserts Op::to_real.

  Range is what a node's value can be, computed from the variables' bounds when the node is added.
  From it follows whether evaluating the node (or anything below it) can raise an evaluation error;
  what cannot raise may be evaluated eagerly, reordered and tabulated.
*/
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <vector>

#include "task/layout.h"

namespace surefoot {

enum class Op : std::uint8_t {
    constant,  // bits
    variable,  // a: variable
    cell,      // a: index node; b: first variable; c: length
    to_real,
    logical_not,
    logical_and,  // these three and ite are lazy
    logical_or,
    implies,
    ite,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    negate,
    add,
    subtract,
    multiply,
    divide,
    modulo,
    minimum,
    maximum,
    absolute,
    power,
    logarithm,
    floor,
    ceil,
    truncate,
    sign,
    raise,    // bits: the EvalError that evaluating this node raises
    guarded,  // a, or the constant b where evaluating a raises an error
};

using NodeId = std::uint32_t;
constexpr NodeId kNoNode = 0xffffffffU;

struct Node {
    Op op = Op::constant;
    Type type = Type::integer;
    NodeId a = kNoNode;
    NodeId b = kNoNode;
    NodeId c = kNoNode;
    std::int64_t bits = 0;  // the value of a constant; a real as its bit pattern
};

// The values a node can take: lo..hi for integers and Booleans, real_lo..real_hi for reals.
struct Range {
    std::int64_t lo = 0;
    std::int64_t hi = 0;
    double real_lo = 0;
    double real_hi = 0;
    bool raises_here = false;
    bool raises = false;  // here or in an operand
};

inline double as_real(std::int64_t bits) { return std::bit_cast<double>(bits); }
inline std::int64_t as_bits(double value) { return std::bit_cast<std::int64_t>(value); }

// How many operands a node has; they are its fields a, b, c in this order.
int operand_count(Op op);

// The comparison that says the same with the operands exchanged; other operators as they are.
Op mirrored(Op op);

class Pool {
public:
    explicit Pool(const Layout& layout) : layout_(&layout) {}

    // Add a node and return its position. Throws std::invalid_argument if it is malformed.
    NodeId add(const Node& node);

    const Node& operator[](NodeId id) const { return nodes_[id]; }
    const Range& range(NodeId id) const { return ranges_[id]; }
    std::size_t size() const { return nodes_.size(); }
    const Layout& layout() const { return *layout_; }

    // The variables read by the expression, ascending; a cell reads the whole array. If there are
    // more than `limit`, some `limit` + 1 of them.
    std::vector<std::uint32_t> variables_of(NodeId root,
                                            std::size_t limit = ~std::size_t{0} - 1) const;

    // The conjuncts of `root` from left to right: operands of nested conjunctions.
    std::vector<NodeId> conjuncts_of(NodeId root) const;

private:
    void check(const Node& node) const;
    Range range_of(const Node& node);

    const Layout* layout_;
    std::vector<Node> nodes_;
    std::vector<Range> ranges_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Range> cell_ranges_;  // by first and length
};

}  // namespace surefoot
