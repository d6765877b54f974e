#include "verify/tree_scores.h"

#include <cmath>

namespace surefoot {

namespace {

// The least key from `lo` to `hi` for which `is_reached`, which once true stays true; hi + 1 if
// there is none.
template <typename IsReached>
Key first_key(Key lo, Key hi, IsReached is_reached) {
    if (!is_reached(hi)) return hi + 1;
    while (lo < hi) {
        const Key middle =
            lo +
            static_cast<Key>((static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo)) / 2);
        if (is_reached(middle))
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

}  // namespace

TreeScores::TreeScores(const BoxInputs& inputs, const Trees& trees)
    : trees_(trees),
      nodes_(trees.nodes().size()),
      outputs_(trees.base().size()),
      lo_(outputs_),
      hi_(outputs_) {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) place(inputs, n);
    for (std::uint32_t root : trees.roots()) {
        std::uint32_t node = root;
        while (trees.nodes()[node].child != node) node = trees.nodes()[node].child;
        output_of_.push_back(trees.leaves()[node].output);
    }
    // Trees whose leaves go to different outputs are treated like those with vectors.
    for (std::size_t t = 0; t < output_of_.size(); ++t) {
        std::vector<std::uint32_t> open{trees.roots()[t]};
        while (!open.empty()) {
            const std::uint32_t node = open.back();
            open.pop_back();
            if (nodes_[node].variable == kLeaf && trees.nodes()[node].child == node) {
                if (trees.leaves()[node].output != output_of_[t]) output_of_[t] = -1;
                continue;
            }
            const std::uint32_t child = trees.nodes()[node].child;
            open.push_back(child);
            open.push_back(child + 1);
        }
    }
    measure_scale();
}

void TreeScores::place(const BoxInputs& inputs, std::uint32_t number) {
    const Trees::Node& from = trees_.nodes()[number];
    Node& to = nodes_[number];
    if (from.child == number) {
        to = {kLeaf, number, number, 0};
        return;
    }
    const std::uint32_t feature = from.feature;
    const auto goes_right = [&](Key key) {
        double input = inputs.value(feature, key);
        if (trees_.has_float_inputs()) input = static_cast<float>(input);
        return input >= from.threshold;
    };
    const std::uint32_t left = from.child;
    const std::uint32_t right = from.child + 1;
    if (inputs.is_constant(feature)) {
        const std::uint32_t only = goes_right(0) ? right : left;
        to = {0, only, only, std::numeric_limits<Key>::min()};
        return;
    }
    const Key lo = inputs.lo(feature);
    const Key hi = inputs.hi(feature);
    const std::uint32_t variable = inputs.variable(feature);
    if (inputs.is_falling(feature)) {
        const Key cut = first_key(lo, hi, [&](Key key) { return !goes_right(key); });
        to = {variable, right, left, cut};
    } else {
        const Key cut = first_key(lo, hi, goes_right);
        to = {variable, left, right, cut};
    }
}

double TreeScores::value_of(std::uint32_t node, std::uint32_t output) const {
    const Trees::Leaf& leaf = trees_.leaves()[node];
    if (leaf.output < 0) return trees_.values()[leaf.first + output];
    return static_cast<std::uint32_t>(leaf.output) == output ? trees_.values()[leaf.first] : 0;
}

// -- bounds -------------------------------------------------------------------------------------

void TreeScores::set_box(const Box& box) {
    leaves_.clear();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < output_of_.size(); ++t) {
        const std::int32_t output = output_of_[t];
        const std::size_t count = output < 0 ? outputs_ : 1;
        const std::size_t first = leaves_.size();
        leaves_.resize(first + count, Extent{kInfinity, -kInfinity});
        stack_.assign(1, trees_.roots()[t]);
        while (!stack_.empty()) {
            const std::uint32_t at = stack_.back();
            stack_.pop_back();
            const Node& node = nodes_[at];
            if (node.variable != kLeaf) {
                const bool goes_low = box.lo[node.variable] < node.cut;
                const bool goes_high = box.hi[node.variable] >= node.cut;
                if (goes_high) stack_.push_back(node.high);
                if (goes_low) stack_.push_back(node.low);
                continue;
            }
            for (std::size_t o = 0; o < count; ++o) {
                const double value = value_of(at, output < 0 ? static_cast<std::uint32_t>(o)
                                                             : static_cast<std::uint32_t>(output));
                Extent& extent = leaves_[first + o];
                extent.lo = std::min(extent.lo, value);
                extent.hi = std::max(extent.hi, value);
            }
        }
    }
    if (trees_.has_float_sums())
        add_up<float>();
    else
        add_up<double>();
}

// As Trees::add_up does, at both ends.
template <typename T>
void TreeScores::add_up() {
    const auto add = [](double& sum, double value) {
        sum = static_cast<T>(static_cast<T>(sum) + static_cast<T>(value));
    };
    for (std::size_t o = 0; o < outputs_; ++o) {
        const double base =
            trees_.is_base_last() ? 0 : static_cast<double>(static_cast<T>(trees_.base()[o]));
        lo_[o] = hi_[o] = base;
    }
    const Extent* extent = leaves_.data();
    for (std::int32_t output : output_of_) {
        const std::size_t begin = output < 0 ? 0 : static_cast<std::size_t>(output);
        const std::size_t end = output < 0 ? outputs_ : begin + 1;
        for (std::size_t o = begin; o < end; ++o, ++extent) {
            add(lo_[o], extent->lo);
            add(hi_[o], extent->hi);
        }
    }
    may_be_no_number_ = false;
    for (std::size_t o = 0; o < outputs_; ++o) {
        for (double* sum : {&lo_[o], &hi_[o]}) {
            if (trees_.is_base_last()) add(*sum, trees_.base()[o]);
            if (trees_.divide_by() != 1) *sum = static_cast<T>(*sum / trees_.divide_by());
            may_be_no_number_ |= !std::isfinite(*sum);
        }
    }
}

bool TreeScores::is_better(std::uint32_t a, std::uint32_t b, bool is_tie_enough) {
    return lo_[a] > hi_[b] || (is_tie_enough && lo_[a] == hi_[b]);
}

// -- splitting ----------------------------------------------------------------------------------

// The extent of a subtree; notes for each cut how much it narrows it.
TreeScores::Extent TreeScores::note_drops(std::uint32_t at, std::uint32_t output, const Box& box) {
    const Node& node = nodes_[at];
    if (node.variable == kLeaf) {
        const double value = value_of(at, output);
        return {value, value};
    }
    const bool goes_low = box.lo[node.variable] < node.cut;
    const bool goes_high = box.hi[node.variable] >= node.cut;
    if (!goes_low) return note_drops(node.high, output, box);
    if (!goes_high) return note_drops(node.low, output, box);
    const Extent low = note_drops(node.low, output, box);
    const Extent high = note_drops(node.high, output, box);
    const Extent all{std::min(low.lo, high.lo), std::max(low.hi, high.hi)};
    const double size = (all.hi - all.lo) - ((low.hi - low.lo) + (high.hi - high.lo)) / 2;
    drops_.push_back({{node.variable, node.cut}, size});
    return all;
}

std::optional<Cut> TreeScores::split(const Box& box, std::uint32_t a, std::uint32_t b) {
    drops_.clear();
    for (std::size_t t = 0; t < output_of_.size(); ++t) {
        for (std::uint32_t output : {a, b}) {
            if (output_of_[t] >= 0 && static_cast<std::uint32_t>(output_of_[t]) != output) continue;
            note_drops(trees_.roots()[t], output, box);
        }
    }
    std::sort(drops_.begin(), drops_.end(), [](const Drop& x, const Drop& y) {
        return std::pair(x.cut.variable, x.cut.key) < std::pair(y.cut.variable, y.cut.key);
    });
    std::optional<Drop> best;
    for (std::size_t i = 0; i < drops_.size();) {
        Drop all{drops_[i].cut, 0};
        for (; i < drops_.size() && drops_[i].cut == all.cut; ++i) all.size += drops_[i].size;
        if (box.is_divided_by(all.cut) && (!best || all.size > best->size)) best = all;
    }
    return best ? std::optional(best->cut) : std::nullopt;
}

// -- exact sums ---------------------------------------------------------------------------------

// Find a unit of which all leaves are whole multiples, if sums of them fit 120 bits.
void TreeScores::measure_scale() {
    int least = 2000;
    int most = -2000;
    const auto note = [&](double value) {
        if (value == 0) return;
        int exponent = 0;
        double part = std::frexp(value, &exponent);
        most = std::max(most, exponent);
        constexpr int kBits = 53;
        auto whole = static_cast<std::int64_t>(std::ldexp(part, kBits));
        exponent -= kBits;
        while (whole % 2 == 0) {
            whole /= 2;
            ++exponent;
        }
        least = std::min(least, exponent);
    };
    for (double value : trees_.values()) note(value);
    for (double value : trees_.base()) note(value);
    // Rounding moves each sum by less than half of this.
    double total = 0;
    for (double value : trees_.values()) total = std::max(total, std::abs(value));
    double largest = 0;
    for (double value : trees_.base()) largest = std::max(largest, std::abs(value));
    const auto additions = static_cast<double>(trees_.roots().size() + 2);
    const double unit = trees_.has_float_sums() ? 0x1p-23 : 0x1p-52;
    rounding_ = 4 * additions * unit * (additions * total + largest) / trees_.divide_by();
    constexpr int kMaxBits = 100;
    has_scale_ = least <= most && most - least < kMaxBits;
    scale_ = least;
}

TreeScores::Exact TreeScores::exact(double value) const {
    if (value == 0) return 0;
    int exponent = 0;
    constexpr int kBits = 53;
    const auto whole = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), kBits));
    const int shift = exponent - kBits - scale_;
    const Exact wide = whole;
    return shift >= 0 ? wide * (Exact{1} << shift) : wide / (Exact{1} << -shift);
}

bool TreeScores::could_differ(std::uint32_t a, std::uint32_t b) {
    if (lo_[a] - hi_[b] > rounding_) return false;
    if (!has_scale_) return true;
    Exact least = exact(trees_.base()[a]);
    Exact most = exact(trees_.base()[b]);
    const Extent* extent = leaves_.data();
    for (std::int32_t output : output_of_) {
        const std::size_t begin = output < 0 ? 0 : static_cast<std::size_t>(output);
        const std::size_t end = output < 0 ? outputs_ : begin + 1;
        for (std::size_t o = begin; o < end; ++o, ++extent) {
            if (o == a) least += exact(extent->lo);
            if (o == b) most += exact(extent->hi);
        }
    }
    return b < a ? least <= most : least < most;
}

}  // namespace surefoot
