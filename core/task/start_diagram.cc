#include "task/start_diagram.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace surefoot {

namespace {

constexpr std::size_t kMaxEdges = 4'000'000;

// Whether a condition says that two variables differ.
bool is_difference(const Pool& pool, NodeId id) {
    const bool is_negated = pool[id].op == Op::logical_not;
    const Node& node = is_negated ? pool[pool[id].a] : pool[id];
    if (node.op != (is_negated ? Op::equal : Op::not_equal)) return false;
    return pool[node.a].op == Op::variable && pool[node.b].op == Op::variable;
}

}  // namespace

std::optional<StartDiagram> StartDiagram::make(const StartEnumerator& starts, Budget& budget,
                                               StopReason& stopped) {
    if (!starts.is_finite() || starts.needs_final_check_ || starts.is_empty_) return std::nullopt;
    StartDiagram diagram(starts);
    if (!diagram.build(budget, stopped) || !diagram.count()) return std::nullopt;
    return diagram;
}

// A conjunct or variable is carried from behind its first use to its last.
StartDiagram::StartDiagram(const StartEnumerator& starts)
    : starts_(starts),
      open_(starts.domains_.size() + 1),
      needed_(starts.domains_.size() + 1),
      alike_(starts.domains_.size() + 1),
      layers_(starts.domains_.size() + 1) {
    for (std::size_t c = 0; c < starts.linear_.size(); ++c) {
        const auto& factors = starts.linear_[c].factors;
        for (std::size_t d = factors.front().first + 1; d <= factors.back().first; ++d)
            open_[d].push_back(c);
    }
    for (const auto& [variable, last] : starts.read_until_) {
        for (std::size_t d = variable + 1; d <= last; ++d) needed_[d].push_back(variable);
    }
    if (starts.task_.start() != kNoNode) find_alike();
}

// Variables that must only differ from the same later ones are alike: what they leave to those is
// the set of their values. Each must have room for the values of the others.
void StartDiagram::find_alike() {
    const Pool& pool = starts_.pool_;
    std::map<std::uint32_t, std::set<std::uint32_t>> differs_from;
    std::set<std::uint32_t> others;
    for (NodeId node : pool.conjuncts_of(starts_.task_.start())) {
        const auto variables = pool.variables_of(node);
        if (variables.size() == 2 && is_difference(pool, node)) {
            differs_from[variables[0]].insert(variables[1]);
        } else if (variables.size() > 1) {
            others.insert(variables.begin(), variables.end());
        }
    }
    for (std::size_t depth = 0; depth < needed_.size(); ++depth) {
        using Bounds = std::pair<std::int64_t, std::int64_t>;
        std::map<std::pair<Bounds, std::vector<std::uint32_t>>, std::vector<std::size_t>> places;
        for (std::size_t place = 0; place < needed_[depth].size(); ++place) {
            const std::uint32_t variable = needed_[depth][place];
            const VariableSpec& spec = starts_.layout_.variable(variable);
            if (spec.type == Type::real || others.count(variable) > 0) continue;
            const auto& later = differs_from[variable];
            const auto first = later.lower_bound(static_cast<std::uint32_t>(depth));
            const std::vector<std::uint32_t> role(first, later.end());
            places[{{spec.lower, spec.upper}, role}].push_back(place);
        }
        for (auto& [role, group] : places) {
            if (group.size() > 1) alike_[depth].push_back(std::move(group));
        }
    }
}

bool StartDiagram::build(Budget& budget, StopReason& stopped) {
    keys_.assign(1, Key{});
    for (std::size_t depth = 0; depth + 1 < layers_.size(); ++depth) {
        if (!grow_layer(depth, budget, stopped)) return false;
    }
    layers_.back().counts.assign(keys_.size(), 1);
    keys_ = {};  // of no use any more, and large
    return true;
}

// Find the edges of all nodes of a layer, and with them the nodes of the next one.
bool StartDiagram::grow_layer(std::size_t depth, Budget& budget, StopReason& stopped) {
    Layer& layer = layers_[depth];
    StartEnumerator::Walk walk(starts_);
    std::map<Key, std::uint32_t> children;
    for (const Key& key : keys_) {
        layer.first_edge.push_back(static_cast<std::uint32_t>(layer.edges.size()));
        restore(depth, key, walk);
        if (!starts_.enter(walk, depth)) continue;
        for (auto next = starts_.next_value(walk, depth); next != StartEnumerator::Next::none;
             next = starts_.next_value(walk, depth)) {
            stopped = budget.poll({});
            if (stopped != StopReason::none) return false;
            if (next == StartEnumerator::Next::not_yet) continue;
            if (++num_edges_ > kMaxEdges || !fits(depth + 1, walk)) return false;
            const auto number = static_cast<std::uint32_t>(children.size());
            const auto found = children.emplace(key_of(depth + 1, walk), number).first;
            layer.edges.push_back({walk.value[depth], found->second});
        }
    }
    layer.first_edge.push_back(static_cast<std::uint32_t>(layer.edges.size()));
    layer.counts.resize(keys_.size());
    keys_.resize(children.size());
    for (const auto& [key, number] : children) keys_[number] = key;
    return true;
}

bool StartDiagram::fits(std::size_t depth, const StartEnumerator::Walk& walk) const {
    return std::all_of(open_[depth].begin(), open_[depth].end(), [&](std::size_t conjunct) {
        const __int128 sum = walk.sums[conjunct];
        return sum >= std::numeric_limits<std::int64_t>::min() &&
               sum <= std::numeric_limits<std::int64_t>::max();
    });
}

StartDiagram::Key StartDiagram::key_of(std::size_t depth, const StartEnumerator::Walk& walk) const {
    Key key;
    for (std::size_t conjunct : open_[depth])
        key.push_back(static_cast<std::int64_t>(walk.sums[conjunct]));
    for (std::uint32_t variable : needed_[depth])
        key.push_back(starts_.layout_.value(walk.state.data(), variable));
    const std::size_t begin = open_[depth].size();
    for (const std::vector<std::size_t>& places : alike_[depth]) {
        Key values;
        for (std::size_t place : places) values.push_back(key[begin + place]);
        std::sort(values.begin(), values.end());
        for (std::size_t i = 0; i < places.size(); ++i) key[begin + places[i]] = values[i];
    }
    return key;
}

void StartDiagram::restore(std::size_t depth, const Key& key, StartEnumerator::Walk& walk) const {
    std::fill(walk.sums.begin(), walk.sums.end(), 0);
    auto next = key.begin();
    for (std::size_t conjunct : open_[depth]) walk.sums[conjunct] = *next++;
    for (std::uint32_t variable : needed_[depth])
        starts_.layout_.set(walk.state.data(), variable, *next++);
}

// From the last layer backwards; false if a count does not fit.
bool StartDiagram::count() {
    constexpr Count kMost = ~Count{0} >> 1;
    for (std::size_t depth = layers_.size() - 1; depth-- > 0;) {
        Layer& layer = layers_[depth];
        const std::vector<Count>& below = layers_[depth + 1].counts;
        for (std::size_t node = 0; node < layer.counts.size(); ++node) {
            Count sum = 0;
            for (std::uint32_t e = layer.first_edge[node]; e < layer.first_edge[node + 1]; ++e) {
                const Count more = below[layer.edges[e].child];
                if (more > kMost - sum) return false;
                sum += more;
            }
            layer.counts[node] = sum;
        }
    }
    return true;
}

StartEnumerator::Sample StartDiagram::sample(std::size_t count, Random& random,
                                             Budget& budget) const {
    StartEnumerator::Sample sample;
    if (total() == 0) return sample;
    const std::size_t width = starts_.layout_.words();
    sample.states.resize(count * width);
    for (std::size_t i = 0; i < count && sample.stopped == StopReason::none; ++i) {
        write(random.below(total()), sample.states.data() + i * width);
        sample.stopped = budget.poll({});
    }
    return sample;
}

void StartDiagram::write(Count k, Word* state) const {
    std::uint32_t node = 0;
    for (std::size_t depth = 0; depth + 1 < layers_.size(); ++depth) {
        const Layer& layer = layers_[depth];
        const std::vector<Count>& below = layers_[depth + 1].counts;
        std::uint32_t e = layer.first_edge[node];
        for (; k >= below[layer.edges[e].child]; ++e) k -= below[layer.edges[e].child];
        starts_.assign(state, depth, layer.edges[e].value);
        node = layer.edges[e].child;
    }
}

}  // namespace surefoot
