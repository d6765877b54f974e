#include "policy/trees.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace surefoot {

namespace {

[[noreturn]] void refuse() { throw std::invalid_argument("the nodes are no trees"); }

std::size_t checked(std::int32_t number, std::size_t bound) {
    if (number < 0 || static_cast<std::size_t>(number) >= bound) refuse();
    return static_cast<std::size_t>(number);
}

}  // namespace

Trees::Trees(const TreesSpec& spec)
    : num_inputs_(spec.num_inputs),
      has_float_inputs_(spec.has_float_inputs),
      has_float_sums_(spec.has_float_sums),
      is_base_last_(spec.is_base_last),
      divide_by_(spec.divide_by),
      values_(spec.values),
      base_(spec.base) {
    const std::size_t count = spec.features.size();
    const bool fits = spec.num_inputs > 0 && spec.num_outputs > 0 &&
                      spec.base.size() == spec.num_outputs && spec.thresholds.size() == count &&
                      spec.left.size() == count && spec.right.size() == count;
    if (!fits) throw std::invalid_argument("the sizes of the arrays do not fit");
    nodes_.reserve(count);
    for (std::int32_t root : spec.roots) place(spec, checked(root, count));
}

// Copy a tree layer by layer, the children of a node side by side.
void Trees::place(const TreesSpec& spec, std::size_t root) {
    struct Place {
        std::size_t from;
        std::uint32_t to;
    };
    const std::size_t count = spec.features.size();
    const auto add = [&] {
        if (nodes_.size() >= count) refuse();  // a node would be there twice
        nodes_.push_back({});
        leaves_.push_back({});
        return static_cast<std::uint32_t>(nodes_.size() - 1);
    };
    std::vector<Place> layer{{root, add()}};
    roots_.push_back(layer.front().to);
    std::uint32_t depth = 0;
    while (true) {
        std::vector<Place> below;
        for (const auto& [from, to] : layer) {
            if (spec.features[from] == -1) {
                place_leaf(spec, from, to);
                continue;
            }
            const std::uint32_t left = add();
            const std::uint32_t right = add();
            const auto feature =
                static_cast<std::uint32_t>(checked(spec.features[from], num_inputs_));
            nodes_[to] = {spec.thresholds[from], feature, left};
            below.push_back({checked(spec.left[from], count), left});
            below.push_back({checked(spec.right[from], count), right});
        }
        if (below.empty()) break;
        layer = std::move(below);
        ++depth;
    }
    if (roots_.size() % kGroup == 1) depths_.push_back(0);
    depths_.back() = std::max(depths_.back(), depth);
}

void Trees::place_leaf(const TreesSpec& spec, std::size_t from, std::uint32_t to) {
    const std::int32_t output = spec.right[from];
    if (output != -1) checked(output, base_.size());
    const std::size_t count = output == -1 ? base_.size() : 1;
    const std::size_t first = checked(spec.left[from], values_.size());
    if (first + count > values_.size()) refuse();
    nodes_[to] = {std::numeric_limits<double>::quiet_NaN(), 0, to};
    leaves_[to] = {static_cast<std::uint32_t>(first), output};
}

void Trees::scores(const double* inputs, double* scores, ScorerMemory& memory) const {
    if (has_float_inputs_) {
        if (memory.doubles.size() < num_inputs_) memory.doubles.resize(num_inputs_);
        for (std::size_t i = 0; i < num_inputs_; ++i)
            memory.doubles[i] = static_cast<float>(inputs[i]);
        inputs = memory.doubles.data();
    }
    auto& at = memory.numbers;
    at.assign(roots_.begin(), roots_.end());
    at.resize(depths_.size() * kGroup, roots_.empty() ? 0 : roots_.front());
    const Node* const nodes = nodes_.data();
    for (std::size_t group = 0; group < depths_.size(); ++group) {
        std::uint32_t here[kGroup];
        std::copy_n(at.data() + group * kGroup, kGroup, here);
        for (std::uint32_t level = 0; level < depths_[group]; ++level) {
            for (std::uint32_t& node : here) {
                const Node& n = nodes[node];
                node = n.child + static_cast<std::uint32_t>(inputs[n.feature] >= n.threshold);
            }
        }
        std::copy_n(here, kGroup, at.data() + group * kGroup);
    }
    if (has_float_sums_)
        add_up<float>(at.data(), scores);
    else
        add_up<double>(at.data(), scores);
}

// `scores` holds numbers of type T exactly, so adding there is adding in T.
template <typename T>
void Trees::add_up(const std::uint32_t* leaves, double* scores) const {
    const auto add = [](double& sum, double value) {
        sum = static_cast<T>(static_cast<T>(sum) + static_cast<T>(value));
    };
    const std::size_t outputs = base_.size();
    for (std::size_t o = 0; o < outputs; ++o)
        scores[o] = is_base_last_ ? 0 : static_cast<double>(static_cast<T>(base_[o]));
    for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
        const Leaf& leaf = leaves_[leaves[tree]];
        const double* const values = values_.data() + leaf.first;
        if (leaf.output >= 0) {
            add(scores[leaf.output], *values);
            continue;
        }
        for (std::size_t o = 0; o < outputs; ++o) add(scores[o], values[o]);
    }
    for (std::size_t o = 0; o < outputs; ++o) {
        if (is_base_last_) add(scores[o], base_[o]);
        if (divide_by_ != 1) scores[o] = static_cast<T>(scores[o] / divide_by_);
    }
}

}  // namespace surefoot
