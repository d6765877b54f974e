#include "verify/formula.h"

#include <cmath>

#include "task/ranges.h"

namespace surefoot {

namespace {

using Wide = __int128;

constexpr std::size_t kMaxLinearNodes = 4096;
constexpr int kMaxDepth = 200;
constexpr std::size_t kMaxHull = 64;  // parts of a disjunction whose hull is taken

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
    const std::int64_t q = a / b;
    return q * b > a ? q - 1 : q;
}

std::int64_t ceil_quotient(std::int64_t a, std::int64_t b) { return -floor_quotient(-a, b); }

struct Sum {
    std::int64_t lo = 0;
    std::int64_t hi = 0;
};

Sum sum_of(const LinearBound& bound, const Box& box) {
    Sum sum;
    for (const auto& [v, factor] : bound.terms) {
        sum.lo += factor * (factor > 0 ? box.lo[v] : box.hi[v]);
        sum.hi += factor * (factor > 0 ? box.hi[v] : box.lo[v]);
    }
    return sum;
}

Op negated(Op op) {
    switch (op) {
        case Op::equal: return Op::not_equal;
        case Op::not_equal: return Op::equal;
        case Op::less: return Op::greater_equal;
        case Op::less_equal: return Op::greater;
        case Op::greater: return Op::less_equal;
        default: return Op::less;
    }
}

bool is_comparison(Op op) { return op >= Op::equal && op <= Op::greater_equal; }

}  // namespace

void subtract(Box all, const Box& part, std::vector<Box>& to) {
    for (std::size_t v = 0; v < all.size(); ++v) {
        if (all.lo[v] < part.lo[v]) {
            to.push_back(all);
            to.back().hi[v] = part.lo[v] - 1;
            all.lo[v] = part.lo[v];
        }
        if (all.hi[v] > part.hi[v]) {
            to.push_back(all);
            to.back().lo[v] = part.hi[v] + 1;
            all.hi[v] = part.hi[v];
        }
    }
}

Cut middle_cut(const Layout& layout, const Box& box, std::uint32_t variable) {
    const Key lo = box.lo[variable];
    const Key hi = box.hi[variable];
    Key middle = lo + static_cast<Key>(
                          (static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo)) / 2);
    if (layout.variable(variable).type == Type::real)
        middle = std::clamp(key_of_real(real_of_key(lo) / 2 + real_of_key(hi) / 2), lo, hi - 1);
    return {variable, middle + 1};
}

// -- linear bounds ------------------------------------------------------------------------------

Truth LinearBound::evaluate(const Box& box) const {
    const Sum sum = sum_of(*this, box);
    if (sum.hi < lower || sum.lo > upper) return Truth::no;
    return sum.lo >= lower && sum.hi <= upper ? Truth::yes : Truth::maybe;
}

bool LinearBound::propagate(Box& box, bool& has_changed) const {
    Sum sum = sum_of(*this, box);
    if (sum.hi < lower || sum.lo > upper) return false;
    if (sum.lo >= lower && sum.hi <= upper) return true;
    for (const auto& [v, factor] : terms) {
        Key& lo = box.lo[v];
        Key& hi = box.hi[v];
        if (lo == hi) continue;
        const std::int64_t own_lo = factor * (factor > 0 ? lo : hi);
        const std::int64_t own_hi = factor * (factor > 0 ? hi : lo);
        // factor * x lies between these two.
        const std::int64_t least = lower - (sum.hi - own_hi);
        const std::int64_t most = upper - (sum.lo - own_lo);
        const Key new_lo =
            factor > 0 ? ceil_quotient(least, factor) : ceil_quotient(-most, -factor);
        const Key new_hi =
            factor > 0 ? floor_quotient(most, factor) : floor_quotient(-least, -factor);
        if (new_lo <= lo && new_hi >= hi) continue;
        lo = std::max(lo, new_lo);
        hi = std::min(hi, new_hi);
        if (lo > hi) return false;
        has_changed = true;
        sum.lo += factor * (factor > 0 ? lo : hi) - own_lo;
        sum.hi += factor * (factor > 0 ? hi : lo) - own_hi;
    }
    return true;
}

bool is_tame(const Layout& layout, const LinearBound& bound) {
    constexpr Wide kLimit = Wide{1} << 60;
    Wide total = 0;
    for (const auto& [v, factor] : bound.terms) {
        const VariableSpec& spec = layout.variable(v);
        if (spec.type == Type::real) return false;
        const Wide lower = spec.type == Type::boolean ? 0 : spec.lower;
        const Wide upper = spec.type == Type::boolean ? 1 : spec.upper;
        const Wide size = factor < 0 ? -Wide{factor} : Wide{factor};
        total += size * std::max(lower < 0 ? -lower : lower, upper < 0 ? -upper : upper);
        if (total > kLimit) return false;
    }
    return true;
}

// -- ranges -------------------------------------------------------------------------------------

const Range& Intervals::evaluate(NodeId root, const Box& box) {
    if (orders_.size() < pool_->size()) orders_.resize(pool_->size());
    std::vector<NodeId>& order = orders_[root];
    if (order.empty()) {
        std::vector<NodeId> open{root};
        std::vector<bool> is_known(root + 1);
        while (!open.empty()) {
            const NodeId id = open.back();
            open.pop_back();
            if (is_known[id]) continue;
            is_known[id] = true;
            order.push_back(id);
            const Node& node = (*pool_)[id];
            const NodeId operands[] = {node.a, node.b, node.c};
            for (int i = 0; i < operand_count(node.op); ++i) open.push_back(operands[i]);
        }
        std::sort(order.begin(), order.end());
    }
    for (NodeId id : order) {
        const Node& node = (*pool_)[id];
        Range range = evaluate_node(node, box);
        range.raises = may_raise(node, range);
        ranges_[id] = range;
    }
    return ranges_[root];
}

Range Intervals::evaluate_node(const Node& node, const Box& box) {
    const auto variable = [&](std::size_t v) {
        return pool_->layout().variable(v).type == Type::real
                   ? real_range(real_of_key(box.lo[v]), real_of_key(box.hi[v]))
                   : integer_range(box.lo[v], box.hi[v]);
    };
    const auto operand = [this](NodeId id) { return id == kNoNode ? Range{} : ranges_[id]; };
    switch (node.op) {
        case Op::variable: return variable(node.a);
        case Op::cell: {
            const Range& at = ranges_[node.a];
            const auto last = static_cast<std::int64_t>(node.c) - 1;
            const std::int64_t begin = std::clamp<std::int64_t>(at.lo, 0, last);
            const std::int64_t end = std::clamp<std::int64_t>(at.hi, 0, last);
            Range range = variable(node.b + static_cast<std::size_t>(begin));
            for (std::int64_t i = begin + 1; i <= end; ++i)
                range = hull(range, variable(node.b + static_cast<std::size_t>(i)), node.type);
            range.raises_here = at.lo < 0 || at.hi > last;
            return range;
        }
        case Op::constant:
        case Op::raise: return operation_range(node, node.type, {}, {}, {});
        default:
            return operation_range(node, (*pool_)[node.a].type, operand(node.a), operand(node.b),
                                   operand(node.c));
    }
}

// An operand that is surely not evaluated raises nothing.
bool Intervals::may_raise(const Node& node, const Range& own) const {
    if (own.raises_here) return true;
    if (node.op == Op::guarded) return false;
    const int count = operand_count(node.op);
    if (count == 0) return false;
    const Range& a = ranges_[node.a];
    if (a.raises) return true;
    if (count == 1) return false;
    const bool is_decided = node.op != Op::ite && a.lo == a.hi;
    if (node.op == Op::logical_and && is_decided && a.lo == 0) return false;
    if (node.op == Op::implies && is_decided && a.lo == 0) return false;
    if (node.op == Op::logical_or && is_decided && a.lo == 1) return false;
    if (node.op == Op::ite)
        return (a.hi != 0 && ranges_[node.b].raises) || (a.lo == 0 && ranges_[node.c].raises);
    return ranges_[node.b].raises;
}

// -- making formulas ----------------------------------------------------------------------------

Formulas::Id Formulas::put(Formula formula) {
    formulas_.push_back(std::move(formula));
    return static_cast<Id>(formulas_.size() - 1);
}

Formulas::Id Formulas::add(NodeId root, bool is_positive) {
    // A condition that is not there holds everywhere.
    if (root == kNoNode) return build_parts(is_positive ? Kind::all : Kind::any, {});
    // What may raise an error keeps its order of evaluation.
    if (pool_->range(root).raises) return build_other(root, is_positive);
    return build(root, is_positive, 0);
}

Formulas::Id Formulas::build_other(NodeId root, bool is_positive) {
    Formula formula;
    formula.node = root;
    formula.is_positive = is_positive;
    return put(std::move(formula));
}

Formulas::Id Formulas::build_parts(Kind kind, std::vector<Id> parts) {
    Formula formula;
    formula.kind = kind;
    for (Id part : parts) {
        if (formulas_[part].kind == kind) {
            const std::vector<Id> inner = formulas_[part].parts;
            formula.parts.insert(formula.parts.end(), inner.begin(), inner.end());
        } else {
            formula.parts.push_back(part);
        }
    }
    return put(std::move(formula));
}

Formulas::Id Formulas::build(NodeId root, bool is_positive, int depth) {
    const Node node = (*pool_)[root];
    if (depth > kMaxDepth) return build_other(root, is_positive);
    const auto both = [&](Kind kind, bool left, bool right) {
        const Id a = build(node.a, left, depth + 1);
        const Id b = build(node.b, right, depth + 1);
        return build_parts(kind, {a, b});
    };
    switch (node.op) {
        case Op::constant:
            return build_parts((node.bits != 0) == is_positive ? Kind::all : Kind::any, {});
        case Op::logical_not: return build(node.a, !is_positive, depth + 1);
        case Op::logical_and: {
            // Long conjunctions lean to one side: take them at once.
            std::vector<Id> parts;
            for (NodeId part : pool_->conjuncts_of(root))
                parts.push_back(build(part, is_positive, depth + 1));
            return build_parts(is_positive ? Kind::all : Kind::any, std::move(parts));
        }
        case Op::logical_or:
            return both(is_positive ? Kind::any : Kind::all, is_positive, is_positive);
        case Op::implies:
            return both(is_positive ? Kind::any : Kind::all, !is_positive, is_positive);
        case Op::variable:
            if (node.type == Type::boolean) {
                Formula formula;
                formula.kind = Kind::keys;
                formula.variable = node.a;
                formula.lo = formula.hi = is_positive ? 1 : 0;
                return put(std::move(formula));
            }
            return build_other(root, is_positive);
        default: break;
    }
    if (is_comparison(node.op)) return build_comparison(root, is_positive);
    return build_other(root, is_positive);
}

Formulas::Id Formulas::build_comparison(NodeId root, bool is_positive) {
    const Node& node = (*pool_)[root];
    const Op op = is_positive ? node.op : negated(node.op);
    if (const auto keys = build_keys(node, op)) return *keys;
    if ((*pool_)[node.a].type == Type::integer) {
        if (const auto linear = build_linear(node, op)) return *linear;
    }
    return build_other(root, is_positive);
}

// The value of an expression that has only one, as bits.
std::optional<std::int64_t> Formulas::only_value(NodeId node) const {
    const Range& range = pool_->range(node);
    if (range.raises) return std::nullopt;
    if ((*pool_)[node].type == Type::real) {
        if (range.real_lo != range.real_hi) return std::nullopt;
        return as_bits(range.real_lo);
    }
    return range.lo == range.hi ? std::optional(range.lo) : std::nullopt;
}

// A variable against a constant of its own type.
std::optional<Formulas::Id> Formulas::build_keys(const Node& node, Op op) {
    NodeId other = node.b;
    const Node* left = &(*pool_)[node.a];
    if (left->op != Op::variable) {
        left = &(*pool_)[node.b];
        other = node.a;
        op = mirrored(op);
    }
    const auto bits = only_value(other);
    if (left->op != Op::variable || !bits || left->type != (*pool_)[other].type)
        return std::nullopt;
    const Node variable = *left;
    const Key key = key_of(variable.type, *bits);
    constexpr Key kLeast = std::numeric_limits<Key>::min();
    constexpr Key kMost = std::numeric_limits<Key>::max();
    const auto atom = [&](Key lo, Key hi) {
        Formula formula;
        formula.kind = Kind::keys;
        formula.variable = variable.a;
        formula.lo = lo;
        formula.hi = hi;
        return put(std::move(formula));
    };
    if (key <= kLeast + 1 || key >= kMost - 1) return std::nullopt;
    switch (op) {
        case Op::equal: return atom(key, key);
        case Op::not_equal: {
            const Id below = atom(kLeast, key - 1);
            const Id above = atom(key + 1, kMost);
            return build_parts(Kind::any, {below, above});
        }
        case Op::less: return atom(kLeast, key - 1);
        case Op::less_equal: return atom(kLeast, key);
        case Op::greater: return atom(key + 1, kMost);
        default: return atom(key, kMost);
    }
}

std::optional<Formulas::Id> Formulas::build_linear(const Node& node, Op op) {
    const auto left = as_linear_sum(*pool_, node.a, kMaxLinearNodes);
    const auto right = as_linear_sum(*pool_, node.b, kMaxLinearNodes);
    if (!left || !right) return std::nullopt;
    std::map<std::uint32_t, std::int64_t> factors = left->factors;
    for (const auto& [v, factor] : right->factors) factors[v] -= factor;
    LinearBound bound;
    for (const auto& [v, factor] : factors) {
        if (factor != 0) bound.terms.emplace_back(v, factor);
    }
    const Wide wide = Wide{right->constant} - left->constant;
    if (!is_tame(pool_->layout(), bound) || wide > LinearBound::kNone / 2 ||
        wide < -LinearBound::kNone / 2)
        return std::nullopt;
    const auto limit = static_cast<std::int64_t>(wide);  // the sum against it
    const auto atom = [&](std::int64_t lower, std::int64_t upper) {
        Formula formula;
        formula.kind = Kind::linear;
        formula.bound = bound;
        formula.bound.lower = lower;
        formula.bound.upper = upper;
        return put(std::move(formula));
    };
    constexpr std::int64_t kNone = LinearBound::kNone;
    switch (op) {
        case Op::equal: return atom(limit, limit);
        case Op::not_equal: {
            const Id below = atom(-kNone, limit - 1);
            const Id above = atom(limit + 1, kNone);
            return build_parts(Kind::any, {below, above});
        }
        case Op::less: return atom(-kNone, limit - 1);
        case Op::less_equal: return atom(-kNone, limit);
        case Op::greater: return atom(limit + 1, kNone);
        default: return atom(limit, kNone);
    }
}

// -- using them ---------------------------------------------------------------------------------

Truth Formulas::evaluate(Id id, const Box& box, bool& raises) {
    const Formula& formula = formulas_[id];
    switch (formula.kind) {
        case Kind::keys: {
            const Key lo = box.lo[formula.variable];
            const Key hi = box.hi[formula.variable];
            if (hi < formula.lo || lo > formula.hi) return Truth::no;
            return lo >= formula.lo && hi <= formula.hi ? Truth::yes : Truth::maybe;
        }
        case Kind::linear: return formula.bound.evaluate(box);
        case Kind::all: {
            Truth found = Truth::yes;
            for (Id part : formula.parts) {
                found = std::min(found, evaluate(part, box, raises));
                if (found == Truth::no) break;
            }
            return found;
        }
        case Kind::any: {
            Truth found = Truth::no;
            for (Id part : formula.parts) {
                found = std::max(found, evaluate(part, box, raises));
                if (found == Truth::yes) break;
            }
            return found;
        }
        case Kind::other: break;
    }
    const Range& range = intervals_.evaluate(formula.node, box);
    raises |= range.raises;
    if (range.lo != range.hi) return Truth::maybe;
    return (range.lo != 0) == formula.is_positive ? Truth::yes : Truth::no;
}

bool Formulas::assume(Id id, Box& box) {
    const Formula& formula = formulas_[id];
    switch (formula.kind) {
        case Kind::keys: {
            Key& lo = box.lo[formula.variable];
            Key& hi = box.hi[formula.variable];
            lo = std::max(lo, formula.lo);
            hi = std::min(hi, formula.hi);
            return lo <= hi;
        }
        case Kind::linear: {
            bool has_changed = false;
            return formula.bound.propagate(box, has_changed);
        }
        case Kind::all:
            for (Id part : formula.parts) {
                if (!assume(part, box)) return false;
            }
            return true;
        case Kind::any: return assume_any(formula, box);
        case Kind::other: break;
    }
    bool raises = false;
    return evaluate(id, box, raises) != Truth::no || raises;
}

bool Formulas::assume_any(const Formula& formula, Box& box) {
    if (formula.parts.size() > kMaxHull) {
        bool raises = false;
        for (Id part : formula.parts) {
            if (evaluate(part, box, raises) != Truth::no || raises) return true;
        }
        return false;
    }
    std::optional<Box> all;
    for (Id part : formula.parts) {
        Box narrowed = box;
        if (!assume(part, narrowed)) continue;
        if (all)
            all->join(narrowed);
        else
            all = std::move(narrowed);
    }
    if (!all) return false;
    box = std::move(*all);
    return true;
}

std::optional<Cut> Formulas::split(Id id, const Box& box) {
    bool raises = false;
    if (evaluate(id, box, raises) != Truth::maybe && !raises) return std::nullopt;
    const Formula& formula = formulas_[id];
    const auto widest = [&](const auto& variables) -> std::optional<Cut> {
        std::optional<std::uint32_t> best;
        for (std::uint32_t v : variables) {
            if (v >= box.size() || box.lo[v] == box.hi[v]) continue;
            if (!best || box.width(v) > box.width(*best)) best = v;
        }
        if (!best) return std::nullopt;
        return middle_cut(pool_->layout(), box, *best);
    };
    switch (formula.kind) {
        case Kind::keys: {
            const Cut low{formula.variable, formula.lo};
            return box.is_divided_by(low) ? low : Cut{formula.variable, formula.hi + 1};
        }
        case Kind::linear: {
            std::vector<std::uint32_t> variables;
            for (const auto& [v, _] : formula.bound.terms) variables.push_back(v);
            return widest(variables);
        }
        case Kind::all:
        case Kind::any:
            for (Id part : formula.parts) {
                if (const auto cut = split(part, box)) return cut;
            }
            return std::nullopt;
        case Kind::other: break;
    }
    return widest(pool_->variables_of(formula.node));
}

void Formulas::collect_cuts(Id id, std::vector<Cut>& cuts) const {
    const Formula& formula = formulas_[id];
    for (Id part : formula.parts) collect_cuts(part, cuts);
    const auto add = [&](std::uint32_t variable, Key key) { cuts.push_back({variable, key}); };
    if (formula.kind == Kind::keys) {
        if (formula.lo != std::numeric_limits<Key>::min()) add(formula.variable, formula.lo);
        if (formula.hi != std::numeric_limits<Key>::max()) add(formula.variable, formula.hi + 1);
    }
    if (formula.kind == Kind::linear && formula.bound.terms.size() == 1) {
        const auto& [v, factor] = formula.bound.terms.front();
        const LinearBound& bound = formula.bound;
        if (bound.lower != -LinearBound::kNone)
            add(v, factor > 0 ? ceil_quotient(bound.lower, factor)
                              : floor_quotient(-bound.lower, -factor) + 1);
        if (bound.upper != LinearBound::kNone)
            add(v, factor > 0 ? floor_quotient(bound.upper, factor) + 1
                              : ceil_quotient(-bound.upper, -factor));
    }
}

void Formulas::collect_mixed(Id id, std::vector<std::uint32_t>& variables) const {
    const Formula& formula = formulas_[id];
    for (Id part : formula.parts) collect_mixed(part, variables);
    if (formula.kind == Kind::linear && formula.bound.terms.size() > 1) {
        for (const auto& [v, _] : formula.bound.terms) variables.push_back(v);
    }
    if (formula.kind == Kind::other) {
        const auto read = pool_->variables_of(formula.node);
        if (read.size() > 1) variables.insert(variables.end(), read.begin(), read.end());
    }
}

}  // namespace surefoot
