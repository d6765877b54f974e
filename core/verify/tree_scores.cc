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
      trees_of_(outputs_),
      is_known_(outputs_),
      leaves_(outputs_),
      lo_(outputs_),
      hi_(outputs_) {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) place(inputs, n);
    for (std::uint32_t root : trees.roots()) {
        const std::int32_t output = output_of(root);
        has_vectors_ |= output < 0;
        for (std::size_t o = 0; o < outputs_; ++o) {
            if (output < 0 || static_cast<std::size_t>(output) == o) trees_of_[o].push_back(root);
        }
    }
    find_extents();
    measure_scale();
}

// The output that a tree adds to; -1 if its leaves go to several.
std::int32_t TreeScores::output_of(std::uint32_t root) const {
    std::optional<std::int32_t> only;
    std::vector<std::uint32_t> open{root};
    while (!open.empty()) {
        const std::uint32_t node = open.back();
        open.pop_back();
        const std::uint32_t child = trees_.nodes()[node].child;
        if (child != node) {
            open.push_back(child);
            open.push_back(child + 1);
            continue;
        }
        const std::int32_t output = trees_.leaves()[node].output;
        if (only.value_or(output) != output) return -1;
        only = output;
    }
    return *only;
}

// The least and the greatest leaf below each node. Children have higher numbers.
void TreeScores::find_extents() {
    const std::size_t columns = has_vectors_ ? outputs_ : 1;
    extents_.resize(nodes_.size() * columns);
    for (std::size_t n = nodes_.size(); n-- > 0;) {
        const std::uint32_t child = trees_.nodes()[n].child;
        for (std::size_t c = 0; c < columns; ++c) {
            Extent& extent = extents_[n * columns + c];
            if (child == n) {
                const auto of = trees_.leaves()[n].output;
                const double value = value_of(n, has_vectors_ ? c : static_cast<std::size_t>(of));
                extent = {value, value};
                continue;
            }
            extent = extents_[child * columns + c];
            extent.join(extents_[(child + std::size_t{1}) * columns + c]);
        }
    }
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

double TreeScores::value_of(std::size_t node, std::size_t output) const {
    const Trees::Leaf& leaf = trees_.leaves()[node];
    if (leaf.output < 0) return trees_.values()[leaf.first + output];
    return static_cast<std::size_t>(leaf.output) == output ? trees_.values()[leaf.first] : 0;
}

// -- bounds -------------------------------------------------------------------------------------

void TreeScores::set_box(const Box& box) {
    box_ = box;
    std::fill(is_known_.begin(), is_known_.end(), false);
}

// Find the bounds of an output, unless they are known. Many are never asked for: those of actions
// that are not applicable.
void TreeScores::find(std::uint32_t output) {
    if (is_known_[output]) return;
    is_known_[output] = true;
    leaves_[output].clear();
    for (std::uint32_t root : trees_of_[output])
        leaves_[output].push_back(leaf_extent(root, output));
    if (trees_.has_float_sums())
        add_up<float>(output);
    else
        add_up<double>(output);
}

// The least and the greatest leaf that states of the box come to. A subtree that cannot add to what
// is known is not looked at.
TreeScores::Extent TreeScores::leaf_extent(std::uint32_t root, std::uint32_t output) {
    const std::size_t columns = has_vectors_ ? outputs_ : 1;
    const std::size_t column = has_vectors_ ? output : 0;
    Extent found;
    stack_.assign(1, root);
    while (!stack_.empty()) {
        const std::uint32_t at = stack_.back();
        stack_.pop_back();
        const Extent& below = extents_[at * columns + column];
        if (below.lo >= found.lo && below.hi <= found.hi) continue;
        const Node& node = nodes_[at];
        if (node.variable == kLeaf) {
            found.join(below);
            continue;
        }
        if (box_.hi[node.variable] >= node.cut) stack_.push_back(node.high);
        if (box_.lo[node.variable] < node.cut) stack_.push_back(node.low);
    }
    return found;
}

// As Trees::add_up does, at both ends.
template <typename T>
void TreeScores::add_up(std::uint32_t output) {
    const auto add = [](double& sum, double value) {
        sum = static_cast<T>(static_cast<T>(sum) + static_cast<T>(value));
    };
    const double base = trees_.base()[output];
    double lo = trees_.is_base_last() ? 0 : static_cast<double>(static_cast<T>(base));
    double hi = lo;
    for (const Extent& extent : leaves_[output]) {
        add(lo, extent.lo);
        add(hi, extent.hi);
    }
    for (double* sum : {&lo, &hi}) {
        if (trees_.is_base_last()) add(*sum, base);
        if (trees_.divide_by() != 1) *sum = static_cast<T>(*sum / trees_.divide_by());
    }
    lo_[output] = lo;
    hi_[output] = hi;
}

bool TreeScores::may_be_no_number() {
    if (is_moderate_) return false;
    for (std::uint32_t o = 0; o < outputs_; ++o) {
        if (!std::isfinite(least(o)) || !std::isfinite(most(o))) return true;
    }
    return false;
}

bool TreeScores::is_better(std::uint32_t a, std::uint32_t b, bool is_tie_enough) {
    return least(a) > most(b) || (is_tie_enough && least(a) == most(b));
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
    for (std::uint32_t output : {a, b}) {
        for (std::uint32_t root : trees_of_[output]) note_drops(root, output, box);
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
    const double limit = trees_.has_float_sums() ? std::numeric_limits<float>::max()
                                                 : std::numeric_limits<double>::max();
    const auto is_finite = [](double value) { return std::isfinite(value); };
    is_moderate_ = std::all_of(trees_.values().begin(), trees_.values().end(), is_finite) &&
                   2 * (additions * total + largest) / std::min(trees_.divide_by(), 1.0) < limit;
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
    if (least(a) - most(b) > rounding_) return false;
    if (!has_scale_) return true;
    Exact least = exact(trees_.base()[a]);
    Exact most = exact(trees_.base()[b]);
    for (const Extent& extent : leaves_[a]) least += exact(extent.lo);
    for (const Extent& extent : leaves_[b]) most += exact(extent.hi);
    return b < a ? least <= most : least < most;
}

}  // namespace surefoot
