#include "task/expression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <unordered_set>

namespace surefoot {

namespace {

using Wide = __int128;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
// Half of what a double can hold: bounds are computed with rounding, so stay clear of the edge.
constexpr double kLargeReal = std::numeric_limits<double>::max() / 4;

Range integers(Wide lo, Wide hi) {
    Range range;
    range.raises_here = lo < kMin || hi > kMax;
    range.lo = static_cast<std::int64_t>(std::clamp<Wide>(lo, kMin, kMax));
    range.hi = static_cast<std::int64_t>(std::clamp<Wide>(hi, kMin, kMax));
    return range;
}

Range booleans() { return integers(0, 1); }

Range reals(double lo, double hi) {
    Range range;
    range.raises_here = !(lo >= -kLargeReal && hi <= kLargeReal);
    range.real_lo = range.raises_here ? -std::numeric_limits<double>::max() : lo;
    range.real_hi = range.raises_here ? std::numeric_limits<double>::max() : hi;
    return range;
}

Range any_real() { return reals(-std::numeric_limits<double>::infinity(), 0); }

template <typename Number>
struct Bounds {
    Number lo;
    Number hi;
};

template <typename Number>
Bounds<Number> product(Number a_lo, Number a_hi, Number b_lo, Number b_hi) {
    const auto [lo, hi] = std::minmax({a_lo * b_lo, a_lo * b_hi, a_hi * b_lo, a_hi * b_hi});
    return {lo, hi};
}

Range integer_product(const Range& a, const Range& b) {
    const auto bounds = product<Wide>(a.lo, a.hi, b.lo, b.hi);
    return integers(bounds.lo, bounds.hi);
}

Range real_product(const Range& a, const Range& b) {
    const auto bounds = product<double>(a.real_lo, a.real_hi, b.real_lo, b.real_hi);
    return reals(bounds.lo, bounds.hi);
}

Range quotient(const Range& a, const Range& b) {
    if (b.real_lo <= 0 && b.real_hi >= 0) return any_real();
    // The corners are divided just as a run divides; rounding is monotone, so they bound every
    // quotient.
    const auto [lo, hi] = std::minmax({a.real_lo / b.real_lo, a.real_lo / b.real_hi,
                                       a.real_hi / b.real_lo, a.real_hi / b.real_hi});
    return reals(lo, hi);
}

Range remainder(const Range& b) {
    Range range = integers(std::min<Wide>(0, Wide{b.lo} + 1), std::max<Wide>(0, Wide{b.hi} - 1));
    range.raises_here = b.lo <= 0 && b.hi >= 0;
    return range;
}

Range rounded(const Range& a) {
    constexpr double kEdge = 9e18;
    if (a.real_lo < -kEdge || a.real_hi > kEdge) {
        Range range = integers(kMin, kMax);
        range.raises_here = true;
        return range;
    }
    return integers(static_cast<Wide>(std::floor(a.real_lo)),
                    static_cast<Wide>(std::ceil(a.real_hi)));
}

Range hull(const Range& a, const Range& b, Type type) {
    if (type == Type::real)
        return reals(std::min(a.real_lo, b.real_lo), std::max(a.real_hi, b.real_hi));
    return integers(std::min(a.lo, b.lo), std::max(a.hi, b.hi));
}

Range without_raising(Range range) {
    range.raises_here = false;
    return range;
}

Range absolute(const Range& a, Type type) {
    if (type == Type::real) return without_raising(reals(0, std::max(-a.real_lo, a.real_hi)));
    return integers(0, std::max(-Wide{a.lo}, Wide{a.hi}));
}

Range extreme(const Range& a, const Range& b, Type type, bool is_minimum) {
    Range range;
    if (type == Type::real) {
        range.real_lo =
            is_minimum ? std::min(a.real_lo, b.real_lo) : std::max(a.real_lo, b.real_lo);
        range.real_hi =
            is_minimum ? std::min(a.real_hi, b.real_hi) : std::max(a.real_hi, b.real_hi);
    } else {
        range.lo = is_minimum ? std::min(a.lo, b.lo) : std::max(a.lo, b.lo);
        range.hi = is_minimum ? std::min(a.hi, b.hi) : std::max(a.hi, b.hi);
    }
    return range;
}

Range arithmetic(Op op, Type type, const Range& a, const Range& b) {
    if (type == Type::real) {
        if (op == Op::add) return reals(a.real_lo + b.real_lo, a.real_hi + b.real_hi);
        if (op == Op::subtract) return reals(a.real_lo - b.real_hi, a.real_hi - b.real_lo);
        return real_product(a, b);
    }
    if (op == Op::add) return integers(Wide{a.lo} + b.lo, Wide{a.hi} + b.hi);
    if (op == Op::subtract) return integers(Wide{a.lo} - b.hi, Wide{a.hi} - b.lo);
    return integer_product(a, b);
}

// Any value, or an error.
Range raising(Type type) {
    Range range = type == Type::real      ? any_real()
                  : type == Type::integer ? integers(kMin, kMax)
                                          : booleans();
    range.raises_here = true;
    return range;
}

}  // namespace

int operand_count(Op op) {
    switch (op) {
        case Op::constant:
        case Op::variable:
        case Op::raise: return 0;
        case Op::cell:
        case Op::to_real:
        case Op::logical_not:
        case Op::negate:
        case Op::absolute:
        case Op::floor:
        case Op::ceil:
        case Op::truncate:
        case Op::sign: return 1;
        case Op::ite: return 3;
        default: return 2;
    }
}

NodeId Pool::add(const Node& node) {
    check(node);
    Range range = range_of(node);
    range.raises = range.raises_here;
    const NodeId operands[] = {node.a, node.b, node.c};
    for (int i = 0; i < operand_count(node.op); ++i) range.raises |= ranges_[operands[i]].raises;
    if (node.op == Op::guarded) range.raises = false;
    nodes_.push_back(node);
    ranges_.push_back(range);
    return static_cast<NodeId>(nodes_.size() - 1);
}

void Pool::check(const Node& node) const {
    const NodeId operands[] = {node.a, node.b, node.c};
    for (int i = 0; i < operand_count(node.op); ++i) {
        if (operands[i] >= nodes_.size()) throw std::invalid_argument("operand after its user");
    }
    const std::size_t variables = layout_->num_all();
    if (node.op == Op::variable && node.a >= variables)
        throw std::invalid_argument("no such variable");
    if (node.op == Op::cell &&
        (node.c == 0 || node.b >= variables || node.c > variables - node.b)) {
        throw std::invalid_argument("no such array");
    }
    if (node.op == Op::guarded && nodes_[node.b].op != Op::constant)
        throw std::invalid_argument("fallback not constant");
    if (node.op > Op::guarded) throw std::invalid_argument("no such operator");
}

Range Pool::range_of(const Node& node) const {
    const auto variable = [this](std::size_t v) {
        const VariableSpec& spec = layout_->variable(v);
        return spec.type == Type::real ? without_raising(reals(spec.real_lower, spec.real_upper))
                                       : integers(spec.lower, spec.upper);
    };
    const auto operand = [this](NodeId id) -> const Range& { return ranges_[id]; };
    switch (node.op) {
        case Op::constant:
            return node.type == Type::real
                       ? without_raising(reals(as_real(node.bits), as_real(node.bits)))
                       : integers(node.bits, node.bits);
        case Op::variable: return variable(node.a);
        case Op::cell: {
            const auto [known, is_new] =
                cell_ranges_.try_emplace({node.b, node.c}, variable(node.b));
            for (std::uint32_t i = 1; is_new && i < node.c; ++i) {
                known->second =
                    without_raising(hull(known->second, variable(node.b + i), node.type));
            }
            Range range = known->second;
            const Range& at = operand(node.a);
            range.raises_here = at.lo < 0 || at.hi >= static_cast<std::int64_t>(node.c);
            return range;
        }
        case Op::to_real:
            return reals(static_cast<double>(operand(node.a).lo),
                         static_cast<double>(operand(node.a).hi));
        case Op::ite: return without_raising(hull(operand(node.b), operand(node.c), node.type));
        case Op::negate:
            return node.type == Type::real
                       ? without_raising(reals(-operand(node.a).real_hi, -operand(node.a).real_lo))
                       : integers(-Wide{operand(node.a).hi}, -Wide{operand(node.a).lo});
        case Op::add:
        case Op::subtract:
        case Op::multiply: return arithmetic(node.op, node.type, operand(node.a), operand(node.b));
        case Op::divide: return quotient(operand(node.a), operand(node.b));
        case Op::modulo: return remainder(operand(node.b));
        case Op::minimum:
        case Op::maximum:
            return extreme(operand(node.a), operand(node.b), node.type, node.op == Op::minimum);
        case Op::absolute: return absolute(operand(node.a), node.type);
        case Op::power: return raising(node.type);
        case Op::logarithm: return raising(Type::real);
        case Op::floor:
        case Op::ceil:
        case Op::truncate:
            return nodes_[node.a].type == Type::real ? rounded(operand(node.a))
                                                     : without_raising(operand(node.a));
        case Op::sign: return integers(-1, 1);
        case Op::raise: return raising(node.type);
        case Op::guarded: return without_raising(hull(operand(node.a), operand(node.b), node.type));
        default: return booleans();
    }
}

std::vector<std::uint32_t> Pool::variables_of(NodeId root, std::size_t limit) const {
    std::vector<std::uint32_t> variables;
    std::vector<NodeId> open{root};
    std::vector<NodeId> seen;
    // Operands stand before their users, so taking the largest first meets every node once.
    while (!open.empty()) {
        std::pop_heap(open.begin(), open.end());
        const NodeId id = open.back();
        open.pop_back();
        if (!seen.empty() && seen.back() == id) continue;
        seen.push_back(id);
        const Node& node = nodes_[id];
        if (node.op == Op::variable) variables.push_back(node.a);
        if (node.op == Op::cell) {
            const std::size_t count = std::min<std::size_t>(node.c, limit + 1);
            for (std::uint32_t i = 0; i < count; ++i) variables.push_back(node.b + i);
        }
        const NodeId operands[] = {node.a, node.b, node.c};
        for (int i = 0; i < operand_count(node.op); ++i) {
            open.push_back(operands[i]);
            std::push_heap(open.begin(), open.end());
        }
    }
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
    return variables;
}

std::vector<NodeId> Pool::conjuncts_of(NodeId root) const {
    std::vector<NodeId> conjuncts;
    std::vector<NodeId> open{root};
    std::unordered_set<NodeId> seen;
    while (!open.empty()) {
        const NodeId id = open.back();
        open.pop_back();
        if (!seen.insert(id).second) continue;
        if (nodes_[id].op == Op::logical_and) {
            open.push_back(nodes_[id].b);
            open.push_back(nodes_[id].a);
        } else {
            conjuncts.push_back(id);
        }
    }
    return conjuncts;
}

}  // namespace surefoot
