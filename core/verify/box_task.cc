#include "verify/box_task.h"

#include <map>
#include <set>

namespace surefoot {

namespace {

constexpr std::size_t kMaxLinearNodes = 4096;
constexpr std::size_t kMaxStartBoxes = 4096;
constexpr std::size_t kMaxSearch = 20'000;
constexpr int kMaxRounds = 16;

}  // namespace

BoxTask::BoxTask(const CompiledTask& task, std::span<const Word> starts,
                 const std::vector<LinearBound>& constraints)
    : task_(task), formulas_(task.pool()) {
    const Layout& layout = task.layout();
    for (std::size_t v = 0; v < layout.num_all(); ++v) {
        const VariableSpec& spec = layout.variable(v);
        const bool is_real = spec.type == Type::real;
        has_reals_ |= is_real && !spec.is_scratch;
        bounds_.lo.push_back(is_real ? key_of_real(spec.real_lower) : spec.lower);
        bounds_.hi.push_back(is_real ? key_of_real(spec.real_upper) : spec.upper);
        if (spec.type == Type::boolean) {
            bounds_.lo.back() = 0;
            bounds_.hi.back() = 1;
        }
        if (v >= layout.num_variables()) {
            const std::int64_t bits = task.scratch_start()[v - layout.num_variables()];
            bounds_.lo.back() = bounds_.hi.back() = key_of(spec.type, bits);
        }
    }
    if (task.fail() != kNoNode) fail_ = formulas_.add(task.fail());
    if (task.goal() != kNoNode) goal_ = formulas_.add(task.goal());
    if (task.start() != kNoNode) start_ = formulas_.add(task.start());
    has_given_starts_ = !starts.empty();
    add_edges();
    find_starts(starts);
    for (const LinearBound& one : constraints) {
        constexpr std::int64_t kSmall = std::int64_t{1} << 60;
        const bool is_small = one.lower > -kSmall && one.upper < kSmall;
        if (is_small && is_tame(layout, one)) constraints_.push_back(one);
    }
    std::erase_if(starts_, [this](Box& box) { return !tighten(box); });
}

// -- edges --------------------------------------------------------------------------------------

void BoxTask::add_edges() {
    for (const EdgeSpec& spec : task_.edges()) {
        BoxEdge edge{ActionId{spec.action}, 0, 0, false, {}};
        edge.guard = formulas_.add(spec.guard);
        edge.not_guard = formulas_.add(spec.guard, false);
        for (const OutcomeSpec& outcome : spec.outcomes)
            edge.outcomes.push_back(outcome_of(outcome));
        for (const BoxOutcome& outcome : edge.outcomes)
            edge.has_chances |= !outcome.probabilities.empty();
        edges_.push_back(std::move(edge));
    }
}

BoxOutcome BoxTask::outcome_of(const OutcomeSpec& spec) const {
    const Layout& layout = task_.layout();
    BoxOutcome outcome{spec.probabilities, true, {}, spec.assignments};
    std::set<std::uint32_t> assigned;
    for (const AssignmentSpec& assignment : spec.assignments) {
        const bool is_plain = assignment.length == 0 && assignment.value != kNoNode &&
                              assignment.variable < layout.num_variables() &&
                              assignment.group == spec.assignments[0].group &&
                              assigned.insert(assignment.variable).second;
        if (!is_plain) {
            outcome.is_plain = false;
            outcome.values.clear();
            break;
        }
        BoxOutcome::Value value{assignment.variable, std::nullopt, 0, assignment.value};
        // A sum that may overflow on the way is evaluated as it is written.
        const bool raises = task_.pool().range(assignment.value).raises;
        const auto sum =
            raises ? std::nullopt : as_linear_sum(task_.pool(), assignment.value, kMaxLinearNodes);
        if (sum) {
            LinearBound bound;
            for (const auto& [v, factor] : sum->factors) {
                if (factor != 0) bound.terms.emplace_back(v, factor);
            }
            constexpr std::int64_t kSmall = std::int64_t{1} << 60;
            const bool is_small = sum->constant < kSmall && sum->constant > -kSmall;
            if (is_small && is_tame(layout, bound)) {
                value.sum = std::move(bound);
                value.constant = sum->constant;
            }
        }
        outcome.values.push_back(std::move(value));
    }
    return outcome;
}

bool BoxTask::tighten(Box& box) const {
    for (int round = 0; round < kMaxRounds; ++round) {
        bool has_changed = false;
        for (const LinearBound& constraint : constraints_) {
            if (!constraint.propagate(box, has_changed)) return false;
        }
        if (!has_changed || constraints_.size() == 1) break;
    }
    return true;
}

Truth BoxTask::is_fail(const Box& box, bool& raises) {
    return fail_ ? formulas_.evaluate(*fail_, box, raises) : Truth::no;
}

Truth BoxTask::is_goal(const Box& box, bool& raises) {
    return goal_ ? formulas_.evaluate(*goal_, box, raises) : Truth::no;
}

Truth BoxTask::is_possible(const BoxOutcome& outcome, const Box& box, bool& raises) {
    Truth found = Truth::yes;
    for (NodeId node : outcome.probabilities) {
        const Range& range = formulas_.intervals().evaluate(node, box);
        const bool is_real = task_.pool()[node].type == Type::real;
        const double lo = is_real ? range.real_lo : static_cast<double>(range.lo);
        const double hi = is_real ? range.real_hi : static_cast<double>(range.hi);
        raises |= range.raises || lo < 0;
        const Truth here = lo > 0 ? Truth::yes : hi <= 0 ? Truth::no : Truth::maybe;
        found = std::min(found, here);
    }
    return raises && found == Truth::no ? Truth::maybe : found;
}

// -- steps --------------------------------------------------------------------------------------

std::optional<Box> BoxTask::image(const BoxOutcome& outcome, const Box& from, bool& raises) {
    Box to = from;
    if (outcome.is_plain) {
        for (const BoxOutcome::Value& value : outcome.values) {
            Key lo = 0;
            Key hi = 0;
            if (value.sum) {
                lo = hi = value.constant;
                for (const auto& [v, factor] : value.sum->terms) {
                    lo += factor * (factor > 0 ? from.lo[v] : from.hi[v]);
                    hi += factor * (factor > 0 ? from.hi[v] : from.lo[v]);
                }
            } else {
                const Range& range = formulas_.intervals().evaluate(value.node, from);
                raises |= range.raises;
                const bool is_real = task_.layout().variable(value.variable).type == Type::real;
                lo = is_real ? key_of_real(range.real_lo) : range.lo;
                hi = is_real ? key_of_real(range.real_hi) : range.hi;
            }
            const Key least = bounds_.lo[value.variable];
            const Key most = bounds_.hi[value.variable];
            raises |= lo < least || hi > most;
            to.lo[value.variable] = std::max(lo, least);
            to.hi[value.variable] = std::min(hi, most);
            if (to.lo[value.variable] > to.hi[value.variable]) return std::nullopt;
        }
    } else {
        // Groups one after the other, each by what was there before it.
        std::map<std::int64_t, std::vector<AssignmentSpec>> groups;
        for (const AssignmentSpec& spec : outcome.assignments) groups[spec.group].push_back(spec);
        for (const auto& [_, group] : groups) {
            const Box before = to;
            if (!image_of_group(group, before, to, raises)) return std::nullopt;
        }
        for (std::size_t v = layout().num_variables(); v < to.size(); ++v) {
            to.lo[v] = bounds_.lo[v];
            to.hi[v] = bounds_.hi[v];
        }
    }
    if (!tighten(to)) return std::nullopt;
    return to;
}

bool BoxTask::image_of_group(std::span<const AssignmentSpec> group, const Box& from, Box& to,
                             bool& raises) {
    std::set<std::uint32_t> written;
    for (const AssignmentSpec& spec : group) {
        const auto keys = [&](NodeId node) {
            const Range& range = formulas_.intervals().evaluate(node, from);
            raises |= range.raises;
            return task_.pool()[node].type == Type::real
                       ? std::pair(key_of_real(range.real_lo), key_of_real(range.real_hi))
                       : std::pair(range.lo, range.hi);
        };
        auto [lo, hi] = keys(spec.value != kNoNode ? spec.value : spec.lower);
        if (spec.value == kNoNode) {
            const auto [upper_lo, upper_hi] = keys(spec.upper);
            raises |= upper_lo < hi;  // the interval may be empty
            hi = upper_hi;
        }
        std::uint32_t first = spec.variable;
        std::uint32_t last = spec.variable;
        if (spec.length > 0) {
            const auto [at_lo, at_hi] = keys(spec.position);
            const auto end = static_cast<Key>(spec.length) - 1;
            raises |= at_lo < 0 || at_hi > end;
            first += static_cast<std::uint32_t>(std::clamp<Key>(at_lo, 0, end));
            last += static_cast<std::uint32_t>(std::clamp<Key>(at_hi, 0, end));
        }
        for (std::uint32_t v = first; v <= last; ++v) {
            raises |= !written.insert(v).second;  // two values for one variable
            const VariableSpec& bounds = layout().variable(v);
            const bool is_real = bounds.type == Type::real;
            const Key least = bounds.type == Type::boolean ? 0
                              : is_real                    ? key_of_real(bounds.real_lower)
                                                           : bounds.lower;
            const Key most = bounds.type == Type::boolean ? 1
                             : is_real                    ? key_of_real(bounds.real_upper)
                                                          : bounds.upper;
            raises |= lo < least || hi > most;
            const Key new_lo = std::max(lo, least);
            const Key new_hi = std::min(hi, most);
            const bool is_sure = first == last;
            to.lo[v] = is_sure ? new_lo : std::min(to.lo[v], new_lo);
            to.hi[v] = is_sure ? new_hi : std::max(to.hi[v], new_hi);
            if (to.lo[v] > to.hi[v]) return false;
        }
    }
    return true;
}

bool BoxTask::preimage(const BoxOutcome& outcome, const Box& to, Box& from) {
    if (!outcome.is_plain) return true;
    std::vector<bool> is_assigned(from.size());
    for (const BoxOutcome::Value& value : outcome.values) is_assigned[value.variable] = true;
    for (std::size_t v = 0; v < from.size(); ++v) {
        if (is_assigned[v]) continue;
        from.lo[v] = std::max(from.lo[v], to.lo[v]);
        from.hi[v] = std::min(from.hi[v], to.hi[v]);
        if (from.lo[v] > from.hi[v]) return false;
    }
    for (const BoxOutcome::Value& value : outcome.values) {
        const Key lo = to.lo[value.variable];
        const Key hi = to.hi[value.variable];
        if (value.sum) {
            LinearBound bound = *value.sum;
            bound.lower = lo - value.constant;
            bound.upper = hi - value.constant;
            bool has_changed = false;
            if (!bound.propagate(from, has_changed)) return false;
            continue;
        }
        const Range& range = formulas_.intervals().evaluate(value.node, from);
        const bool is_real = task_.layout().variable(value.variable).type == Type::real;
        const Key least = is_real ? key_of_real(range.real_lo) : range.lo;
        const Key most = is_real ? key_of_real(range.real_hi) : range.hi;
        if (most < lo || least > hi) return false;
    }
    return tighten(from);
}

// -- starts -------------------------------------------------------------------------------------

void BoxTask::find_starts(std::span<const Word> given) {
    if (has_given_starts_) {
        for (std::size_t at = 0; at < given.size(); at += task_.words())
            starts_.push_back(box_of(given.data() + at));
        return;
    }
    std::size_t work = kMaxStartBoxes;
    add_starts(bounds_, work);
}

void BoxTask::add_starts(Box box, std::size_t& work) {
    if (!start_) {
        starts_.push_back(std::move(box));
        return;
    }
    for (int round = 0; round < kMaxRounds; ++round) {
        const Box before = box;
        if (!formulas_.assume(*start_, box)) return;
        if (before == box) break;
    }
    bool raises = false;
    const Truth truth = formulas_.evaluate(*start_, box, raises);
    if (truth == Truth::no && !raises) return;
    std::vector<std::uint32_t> mixed;
    formulas_.collect_mixed(*start_, mixed);
    const auto cut = formulas_.split(*start_, box);
    const bool is_done = truth == Truth::yes || work == 0 || !cut ||
                         std::find(mixed.begin(), mixed.end(), cut->variable) != mixed.end();
    if (is_done) {
        may_raise_at_start_ |= raises;
        starts_.push_back(std::move(box));
        return;
    }
    --work;
    Box below = box;
    below.hi[cut->variable] = cut->key - 1;
    box.lo[cut->variable] = cut->key;
    add_starts(std::move(below), work);
    add_starts(std::move(box), work);
}

std::optional<std::vector<Word>> BoxTask::start_in(const Box& box) {
    std::size_t work = kMaxSearch;
    for (const Box& start : starts_) {
        Box both = start;
        if (!both.intersect(box)) continue;
        if (auto found = search_start(both, work)) return found;
    }
    return std::nullopt;
}

bool BoxTask::rule_out_start(const Box& box) {
    std::size_t work = kMaxSearch;
    for (const Box& start : starts_) {
        Box both = start;
        if (both.intersect(box) && search_start(both, work)) return false;
    }
    if (work == 0) return false;
    std::vector<Box> left;
    for (Box& start : starts_) {
        if (start.meets(box))
            subtract(start, box, left);
        else
            left.push_back(std::move(start));
    }
    std::erase_if(left, [this](Box& part) { return !tighten(part); });
    starts_ = std::move(left);
    return true;
}

// Cut away what is no start state, as far as a box can be cut; false if nothing is left.
bool BoxTask::narrow_to_starts(Box& box) {
    for (int round = 0; round < kMaxRounds; ++round) {
        const Box before = box;
        if (!tighten(box)) return false;
        if (start_ && !has_given_starts_ && !formulas_.assume(*start_, box)) return false;
        if (before == box) break;
    }
    return true;
}

std::optional<std::vector<Word>> BoxTask::search_start(const Box& from, std::size_t& work) {
    std::vector<Box> open{from};
    for (; !open.empty() && work > 0; --work) {
        Box box = std::move(open.back());
        open.pop_back();
        if (!narrow_to_starts(box)) continue;
        std::uint32_t v = 0;
        while (v < layout().num_variables() && box.lo[v] == box.hi[v]) ++v;
        if (v == layout().num_variables()) {
            std::vector<Word> state = state_of(box);
            if (has_given_starts_ || task_.is_start(state.data())) return state;
            continue;
        }
        // The lowest value first, then the others.
        open.push_back(box);
        ++open.back().lo[v];
        open.push_back(std::move(box));
        open.back().hi[v] = open.back().lo[v];
    }
    return std::nullopt;
}

std::optional<std::vector<Word>> BoxTask::draw_state(Box box, Random& random) const {
    if (!tighten(box)) return std::nullopt;
    const std::uint64_t variables = layout().num_variables();
    const std::uint64_t first = variables == 0 ? 0 : random.below(variables);
    for (std::uint64_t i = 0; i < variables; ++i) {
        const std::uint64_t v = (first + i) % variables;
        if (box.width(v) > kMaxWidth) return std::nullopt;
        const auto above = static_cast<Key>(random.below(box.width(v) + 1));
        box.lo[v] = box.hi[v] = box.lo[v] + above;
        if (!tighten(box)) return std::nullopt;
    }
    return state_of(box);
}

Box BoxTask::box_of(const Word* state) const {
    Box box = bounds_;
    for (std::size_t v = 0; v < layout().num_variables(); ++v)
        box.lo[v] = box.hi[v] = key_of(layout().variable(v).type, layout().value(state, v));
    return box;
}

std::vector<Word> BoxTask::state_of(const Box& point) const {
    std::vector<Word> state(task_.words());
    for (std::size_t v = 0; v < layout().num_variables(); ++v)
        layout().set(state.data(), v, bits_of(layout().variable(v).type, point.lo[v]));
    return state;
}

}  // namespace surefoot
