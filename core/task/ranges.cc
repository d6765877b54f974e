#include "task/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

Range without_raising(Range range) {
    range.raises_here = false;
    return range;
}

Range absolute(const Range& a, Type type) {
    if (type == Type::real) {
        const double least = std::max({0.0, a.real_lo, -a.real_hi});
        return without_raising(reals(least, std::max(-a.real_lo, a.real_hi)));
    }
    const Wide least = std::max({Wide{0}, Wide{a.lo}, -Wide{a.hi}});
    return integers(least, std::max(-Wide{a.lo}, Wide{a.hi}));
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

template <typename Number>
Range compared(Op op, Bounds<Number> a, Bounds<Number> b) {
    const bool is_point = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
    const bool is_apart = a.hi < b.lo || b.hi < a.lo;
    const auto truth = [](bool is_true, bool is_false) {
        return integers(is_true ? 1 : 0, is_false ? 0 : 1);
    };
    switch (op) {
        case Op::equal: return truth(is_point, is_apart);
        case Op::not_equal: return truth(is_apart, is_point);
        case Op::less: return truth(a.hi < b.lo, a.lo >= b.hi);
        case Op::less_equal: return truth(a.hi <= b.lo, a.lo > b.hi);
        case Op::greater: return truth(a.lo > b.hi, a.hi <= b.lo);
        default: return truth(a.lo >= b.hi, a.hi < b.lo);
    }
}

Range comparison(Op op, Type type, const Range& a, const Range& b) {
    if (type == Type::real)
        return compared<double>(op, {a.real_lo, a.real_hi}, {b.real_lo, b.real_hi});
    return compared<std::int64_t>(op, {a.lo, a.hi}, {b.lo, b.hi});
}

}  // namespace

Range integer_range(std::int64_t lo, std::int64_t hi) { return integers(lo, hi); }

Range real_range(double lo, double hi) { return without_raising(reals(lo, hi)); }

Range hull(const Range& a, const Range& b, Type type) {
    return without_raising(
        type == Type::real ? reals(std::min(a.real_lo, b.real_lo), std::max(a.real_hi, b.real_hi))
                           : integers(std::min(a.lo, b.lo), std::max(a.hi, b.hi)));
}

Range operation_range(const Node& node, Type operand_type, const Range& a, const Range& b,
                      const Range& c) {
    switch (node.op) {
        case Op::constant:
            return node.type == Type::real ? real_range(as_real(node.bits), as_real(node.bits))
                                           : integers(node.bits, node.bits);
        case Op::to_real: return reals(static_cast<double>(a.lo), static_cast<double>(a.hi));
        case Op::logical_not: return integers(1 - a.hi, 1 - a.lo);
        case Op::logical_and: return integers(a.lo & b.lo, a.hi & b.hi);
        case Op::logical_or: return integers(a.lo | b.lo, a.hi | b.hi);
        case Op::implies: return integers((1 - a.hi) | b.lo, (1 - a.lo) | b.hi);
        case Op::ite:
            if (a.lo == a.hi) return without_raising(a.lo != 0 ? b : c);
            return hull(b, c, node.type);
        case Op::negate:
            return node.type == Type::real ? real_range(-a.real_hi, -a.real_lo)
                                           : integers(-Wide{a.hi}, -Wide{a.lo});
        case Op::add:
        case Op::subtract:
        case Op::multiply: return arithmetic(node.op, node.type, a, b);
        case Op::divide: return quotient(a, b);
        case Op::modulo: return remainder(b);
        case Op::minimum:
        case Op::maximum: return extreme(a, b, node.type, node.op == Op::minimum);
        case Op::absolute: return absolute(a, node.type);
        case Op::power: return raising(node.type);
        case Op::logarithm: return raising(Type::real);
        case Op::floor:
        case Op::ceil:
        case Op::truncate: return operand_type == Type::real ? rounded(a) : without_raising(a);
        case Op::sign: return integers(-1, 1);
        case Op::raise: return raising(node.type);
        case Op::guarded: return hull(a, b, node.type);
        default: return comparison(node.op, operand_type, a, b);
    }
}

}  // namespace surefoot
