#include "task/starts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "task/linear.h"

namespace surefoot {

namespace {

constexpr std::uint64_t kMaxListedDomain = std::uint64_t{1} << 20;
constexpr std::size_t kMaxSumNodes = 100'000;
constexpr int kTriesPerCall = 1000;
constexpr __int128 kUnbounded = static_cast<__int128>(1) << 100;

// The value of an expression that has only one, as a real if it is taken as one.
std::optional<std::int64_t> constant_bits(const Pool& pool, NodeId id) {
    const Node& node = pool[id];
    if (node.op == Op::constant) return node.bits;
    const bool is_real = node.op == Op::to_real;
    const NodeId integer = is_real ? node.a : id;
    if (pool[integer].type != Type::integer) return std::nullopt;
    const Range& range = pool.range(integer);
    if (range.raises || range.lo != range.hi) return std::nullopt;
    return is_real ? as_bits(static_cast<double>(range.lo)) : range.lo;
}

}  // namespace

StartEnumerator::StartEnumerator(const CompiledTask& task)
    : task_(task),
      pool_(task.pool()),
      layout_(task.layout()),
      domains_(layout_.num_variables()),
      parts_(layout_.num_variables()),
      checks_(layout_.num_variables()) {
    for (std::size_t v = 0; v < domains_.size(); ++v) {
        const VariableSpec& spec = layout_.variable(v);
        domains_[v] = {spec.lower, spec.upper, spec.real_lower, spec.real_upper, {}};
    }
    std::vector<NodeId> usable;
    if (task.start() != kNoNode) {
        for (NodeId node : pool_.conjuncts_of(task.start())) {
            if (pool_.range(node).raises) needs_final_check_ = true;
            if (!needs_final_check_) usable.push_back(node);
        }
    }
    for (NodeId node : usable) narrow(node);
    for (NodeId node : usable) {
        const auto variables = pool_.variables_of(node);
        if (variables.size() == 1 && filter(node, variables[0])) continue;
        if (!add_linear(node)) add_check(node);
    }
    make_parts();
    for (std::size_t v = 0; v < domains_.size(); ++v) {
        const Domain& domain = domains_[v];
        const bool is_real = layout_.variable(v).type == Type::real;
        is_empty_ |= is_real ? domain.real_lo > domain.real_hi : domain.lo > domain.hi;
        is_finite_ &= !is_real || domain.real_lo >= domain.real_hi;
    }
}

// Use a comparison of one variable with a constant for the variable's range.
void StartEnumerator::narrow(NodeId id) {
    const Node& node = pool_[id];
    if (node.op == Op::variable) return narrow_integer(node.a, Op::equal, 1);
    if (node.op == Op::logical_not && pool_[node.a].op == Op::variable)
        return narrow_integer(pool_[node.a].a, Op::equal, 0);
    if (node.op < Op::equal || node.op > Op::greater_equal || node.op == Op::not_equal) return;
    const bool is_left = pool_[node.a].op == Op::variable;
    const Node& variable = pool_[is_left ? node.a : node.b];
    const auto bits = constant_bits(pool_, is_left ? node.b : node.a);
    if (variable.op != Op::variable || !bits) return;
    const Op op = is_left ? node.op : mirrored(node.op);
    if (variable.type == Type::real) {
        narrow_real(variable.a, op, as_real(*bits));
    } else {
        narrow_integer(variable.a, op, *bits);
    }
}

void StartEnumerator::narrow_integer(std::uint32_t variable, Op op, std::int64_t bound) {
    Domain& domain = domains_[variable];
    const bool is_strict = op == Op::less || op == Op::greater;
    const bool at_edge = op == Op::less ? bound == std::numeric_limits<std::int64_t>::min()
                                        : bound == std::numeric_limits<std::int64_t>::max();
    if (is_strict && at_edge) {
        is_empty_ = true;
        return;
    }
    if (op == Op::equal || op == Op::greater_equal || op == Op::greater)
        domain.lo = std::max(domain.lo, bound + (op == Op::greater));
    if (op == Op::equal || op == Op::less_equal || op == Op::less)
        domain.hi = std::min(domain.hi, bound - (op == Op::less));
}

// Strict bounds stay closed here; the checks see to them.
void StartEnumerator::narrow_real(std::uint32_t variable, Op op, double bound) {
    Domain& domain = domains_[variable];
    if (op != Op::less && op != Op::less_equal) domain.real_lo = std::max(domain.real_lo, bound);
    if (op != Op::greater && op != Op::greater_equal)
        domain.real_hi = std::min(domain.real_hi, bound);
}

// Evaluate a conjunct over one integer variable for each of its values; false if there are too
// many.
bool StartEnumerator::filter(NodeId node, std::uint32_t variable) {
    Domain& domain = domains_[variable];
    if (layout_.variable(variable).type == Type::real) return false;
    if (domain.lo > domain.hi) return true;
    const std::uint64_t size =
        static_cast<std::uint64_t>(domain.hi) - static_cast<std::uint64_t>(domain.lo);
    if (size >= kMaxListedDomain) return false;
    Constants constants;
    const Program program(pool_, std::span(&node, 1), constants);
    const std::uint64_t work = (size + 1) * (program.size() + 1);
    if (work > filter_work_left_) return false;
    filter_work_left_ -= work;
    Registers registers(constants, program.num_registers());
    std::vector<Word> state(layout_.words());
    if (domain.allowed.empty()) domain.allowed.assign(size + 1, true);
    for (std::uint64_t k = 0; k <= size; ++k) {
        layout_.set(state.data(), variable, domain.lo + static_cast<std::int64_t>(k));
        program.run(state.data(), nullptr, registers.base());
        if (registers.base()[program.result(0)] == 0) domain.allowed[k] = false;
    }
    return true;
}

bool StartEnumerator::add_linear(NodeId id) {
    const Node& node = pool_[id];
    if (node.op < Op::equal || node.op > Op::greater_equal || node.op == Op::not_equal)
        return false;
    if (pool_[node.a].type != Type::integer) return false;
    const auto left = as_linear_sum(pool_, node.a, kMaxSumNodes);
    const auto right = as_linear_sum(pool_, node.b, kMaxSumNodes);
    if (!left || !right) return false;
    std::map<std::uint32_t, __int128> factors(left->factors.begin(), left->factors.end());
    for (const auto& [variable, factor] : right->factors) factors[variable] -= factor;
    const __int128 bound = static_cast<__int128>(right->constant) - left->constant;
    LinearConjunct conjunct{{}, -kUnbounded, kUnbounded};
    for (const auto& [variable, factor] : factors) {
        if (factor > std::numeric_limits<std::int64_t>::max() ||
            factor < std::numeric_limits<std::int64_t>::min())
            return false;
        if (factor != 0) conjunct.factors.emplace_back(variable, static_cast<std::int64_t>(factor));
    }
    const bool is_equal = node.op == Op::equal;
    if (is_equal || node.op == Op::less_equal || node.op == Op::less)
        conjunct.upper = bound - (node.op == Op::less);
    if (is_equal || node.op == Op::greater_equal || node.op == Op::greater)
        conjunct.lower = bound + (node.op == Op::greater);
    if (conjunct.factors.empty()) {
        is_empty_ |= conjunct.lower > 0 || conjunct.upper < 0;
    } else {
        linear_.push_back(std::move(conjunct));
    }
    return true;
}

void StartEnumerator::add_check(NodeId node) {
    const auto variables = pool_.variables_of(node);
    Program program(pool_, std::span(&node, 1), constants_);
    num_registers_ = std::max(num_registers_, program.num_registers());
    if (variables.empty()) {
        Registers registers(constants_, num_registers_);
        const std::vector<Word> state(layout_.words());
        program.run(state.data(), nullptr, registers.base());
        is_empty_ |= registers.base()[program.result(0)] == 0;
        return;
    }
    for (std::uint32_t variable : variables) {
        std::uint32_t& last = read_until_[variable];
        last = std::max(last, variables.back());
    }
    checks_[variables.back()].push_back(std::move(program));
}

// For every variable of a linear conjunct, what the variables after it can still add.
void StartEnumerator::make_parts() {
    for (std::size_t c = 0; c < linear_.size(); ++c) {
        __int128 rest_min = 0;
        __int128 rest_max = 0;
        const auto& factors = linear_[c].factors;
        for (auto it = factors.rbegin(); it != factors.rend(); ++it) {
            const auto [variable, factor] = *it;
            parts_[variable].push_back({c, factor, rest_min, rest_max});
            const __int128 a = static_cast<__int128>(factor) * domains_[variable].lo;
            const __int128 b = static_cast<__int128>(factor) * domains_[variable].hi;
            rest_min += std::min(a, b);
            rest_max += std::max(a, b);
        }
    }
}

namespace {

__int128 floor_divide(__int128 a, __int128 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
__int128 ceil_divide(__int128 a, __int128 b) { return -floor_divide(-a, b); }

}  // namespace

// Set up variable `depth`: the values that its linear conjuncts leave. False if there are none.
bool StartEnumerator::enter(Walk& walk, std::size_t depth) const {
    const Domain& domain = domains_[depth];
    if (layout_.variable(depth).type == Type::real) {
        walk.value[depth] = -1;
        walk.last[depth] = 0;
        return true;
    }
    __int128 lo = domain.lo;
    __int128 hi = domain.hi;
    for (const Part& part : parts_[depth]) {
        const LinearConjunct& conjunct = linear_[part.conjunct];
        const __int128 least = conjunct.lower - walk.sums[part.conjunct] - part.rest_max;
        const __int128 most = conjunct.upper - walk.sums[part.conjunct] - part.rest_min;
        lo = std::max(
            lo, part.factor > 0 ? ceil_divide(least, part.factor) : ceil_divide(most, part.factor));
        hi = std::min(hi, part.factor > 0 ? floor_divide(most, part.factor)
                                          : floor_divide(least, part.factor));
    }
    if (lo > hi) return false;
    walk.value[depth] = static_cast<std::int64_t>(lo) - 1;
    walk.last[depth] = static_cast<std::int64_t>(hi);
    // The first value is one more than value[depth] and not yet part of the sums.
    for (const Part& part : parts_[depth])
        walk.sums[part.conjunct] += static_cast<__int128>(part.factor) * walk.value[depth];
    return true;
}

void StartEnumerator::leave(Walk& walk, std::size_t depth) const {
    for (const Part& part : parts_[depth])
        walk.sums[part.conjunct] -= static_cast<__int128>(part.factor) * walk.value[depth];
}

bool StartEnumerator::passes_checks(Walk& walk, std::size_t depth) const {
    for (const Program& check : checks_[depth]) {
        check.run(walk.state.data(), walk.scratch.data(), walk.registers.base());
        if (walk.registers.base()[check.result(0)] == 0) return false;
    }
    return true;
}

// A real variable has one value only, whatever the number.
void StartEnumerator::assign(Word* state, std::size_t variable, std::int64_t value) const {
    const bool is_real = layout_.variable(variable).type == Type::real;
    layout_.set(state, variable, is_real ? as_bits(domains_[variable].real_lo) : value);
}

// Go on to the next value of variable `depth` that passes. Tries a bounded number of values, so
// that the caller can look at the clock.
StartEnumerator::Next StartEnumerator::next_value(Walk& walk, std::size_t depth) const {
    const Domain& domain = domains_[depth];
    for (int tries = 0; walk.value[depth] < walk.last[depth]; ++tries) {
        if (tries == kTriesPerCall) return Next::not_yet;
        const std::int64_t value = ++walk.value[depth];
        for (const Part& part : parts_[depth]) walk.sums[part.conjunct] += part.factor;
        if (!domain.allowed.empty() && !domain.allowed[static_cast<std::size_t>(value - domain.lo)])
            continue;
        assign(walk.state.data(), depth, value);
        if (passes_checks(walk, depth)) return Next::found;
    }
    return Next::none;
}

StopReason StartEnumerator::enumerate(Budget& budget,
                                      const std::function<bool(const Word*)>& visit) const {
    if (is_empty_) return StopReason::none;
    const std::size_t count = domains_.size();
    Walk walk(*this);
    std::size_t depth = 0;
    bool is_entered = false;
    std::uint64_t visited = 0;
    while (true) {
        const StopReason stopped = budget.poll({visited, 0, 0, 0, 0});
        if (stopped != StopReason::none) return stopped;
        if (depth == count) {
            ++visited;
            const bool is_start = !needs_final_check_ || task_.is_start(walk.state.data());
            if (is_start && !visit(walk.state.data())) return StopReason::none;
        } else if (is_entered || enter(walk, depth)) {
            const Next next = next_value(walk, depth);
            if (next == Next::found) ++depth;
            is_entered = next != Next::found;
            if (next != Next::none) continue;
            leave(walk, depth);
        }
        // Nothing is left to try here: back to the variable before.
        if (depth == 0) return StopReason::none;
        --depth;
        is_entered = true;
    }
}

// Count, draw positions, then list again up to the last position drawn.
StartEnumerator::Sample StartEnumerator::sample_by_listing(std::size_t count, Random& random,
                                                           Budget& budget) const {
    Sample sample;
    std::uint64_t total = 0;
    sample.stopped = enumerate(budget, [&](const Word*) { return ++total != 0; });
    if (total == 0 || sample.stopped != StopReason::none) return sample;
    std::vector<std::pair<std::uint64_t, std::size_t>>
        drawn;  // position among the starts, place in the sample
    for (std::size_t i = 0; i < count; ++i) drawn.emplace_back(random.below(total), i);
    std::sort(drawn.begin(), drawn.end());
    const std::size_t width = layout_.words();
    sample.states.resize(count * width);
    std::uint64_t position = 0;
    auto next = drawn.begin();
    sample.stopped = enumerate(budget, [&](const Word* state) {
        for (; next != drawn.end() && next->first == position; ++next) {
            std::copy(state, state + width, sample.states.data() + next->second * width);
        }
        ++position;
        return next != drawn.end();
    });
    if (sample.stopped != StopReason::none) sample.states.clear();
    return sample;
}

void StartEnumerator::draw(Random& random, std::vector<Word>& state) const {
    for (std::size_t v = 0; v < domains_.size(); ++v) {
        const Domain& domain = domains_[v];
        if (layout_.variable(v).type == Type::real) {
            const double share = random.unit();
            const double value = domain.real_lo * (1 - share) + domain.real_hi * share;
            layout_.set(state.data(), v,
                        as_bits(std::clamp(value, domain.real_lo, domain.real_hi)));
        } else {
            const auto size =
                static_cast<std::uint64_t>(domain.hi) - static_cast<std::uint64_t>(domain.lo) + 1;
            const std::uint64_t k = size == 0 ? random.next() : random.below(size);
            layout_.set(state.data(), v,
                        static_cast<std::int64_t>(static_cast<std::uint64_t>(domain.lo) + k));
        }
    }
}

StartEnumerator::Sample StartEnumerator::sample_by_rejection(std::size_t count,
                                                             std::uint64_t max_tries,
                                                             Random& random, Budget& budget) const {
    Sample sample;
    if (is_empty_) return sample;
    std::vector<Word> state(layout_.words());
    for (std::size_t i = 0; i < count; ++i) {
        bool is_found = false;
        for (std::uint64_t tries = 0; tries < max_tries && !is_found; ++tries) {
            draw(random, state);
            is_found = task_.is_start(state.data());
            sample.stopped = budget.poll({});
            if (sample.stopped != StopReason::none) return sample;
        }
        if (!is_found) return sample;
        sample.states.insert(sample.states.end(), state.begin(), state.end());
    }
    return sample;
}

}  // namespace surefoot
