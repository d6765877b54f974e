#include "fuzz/runner.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"

namespace surefoot {

namespace {

constexpr std::size_t kMaxLayerPart =
    1024;  // states that are expanded between two looks at the clock
constexpr std::uint64_t kPathFactor = 0xa0761d6478bd642fULL;
constexpr int kPerturbTries = 100;
constexpr std::uint32_t kMaxSerial = 0x7fffffff;  // stamps are twice that, and one more

CutReason reason_of(StopReason reason) {
    switch (reason) {
        case StopReason::seconds: return CutReason::seconds;
        case StopReason::memory:
        case StopReason::states: return CutReason::memory;
        default: return CutReason::interrupted;
    }
}

// The place of a state in an array that grows with the ids it meets.
std::uint32_t& at(std::vector<std::uint32_t>& array, StateId id) {
    if (index(id) >= array.size())
        array.resize(std::max<std::size_t>(index(id) + std::size_t{1}, array.size() * 3 / 2));
    return array[index(id)];
}

bool has_changed_value(const FuzzRun& run) {
    return std::any_of(run.changes.begin(), run.changes.end(),
                       [](const Change& change) { return change.variable >= 0; });
}

}  // namespace

Runner::Runner(const Task& task, const Policy& policy, const Layout* layout,
               const FuzzOptions& options, Poll poll)
    : task_(task),
      layout_(layout),
      options_(options),
      poll_(std::move(poll)),
      graph_(task, policy, options.guidance),
      stepper_(task.stepper()) {}

void Runner::use(std::shared_ptr<GraphNodes> nodes) {
    if (graph_.nodes() == nodes) return;
    graph_.use(std::move(nodes));
    stamps_ = std::vector<std::uint32_t>();
    marks_ = std::vector<std::uint32_t>();
    serial_ = 0;
    lookahead_serial_ = 0;
}

FuzzRun Runner::run(std::uint64_t number, std::uint32_t strategy, const Word* start,
                    std::shared_ptr<GraphNodes> nodes) {
    use(std::move(nodes));
    strategy_ = options_.strategies[strategy];
    Random random(options_.seed, number);
    FuzzRun run;
    run.strategy = strategy;
    if (options_.perturb == Perturb::none)
        run.states.assign(start, start + task_.words());
    else
        perturb(run, start, random);
    if (run.reason != CutReason::none) return run;
    try {
        begin(run.states.data());
        follow(run, random);
    } catch (const ModelError&) {
        if (!has_changed_value(run)) throw;
        run.end = RunEnd::cut;
        run.reason = CutReason::model_error;
    }
    graph_.tell();
    run.steps = path_.size() - 1;
    run.path_hash = path_hash();
    if (run.end == RunEnd::fail) write(run);
    run.is_done = true;
    return run;
}

void Runner::begin(const Word* start) {
    if (++serial_ > kMaxSerial) {
        std::fill(stamps_.begin(), stamps_.end(), 0);
        serial_ = 1;
    }
    const StateId id = graph_.add(start);
    path_.assign(1, id);
    at(stamps_, id) = 2 * serial_;
    open_ = graph_.kind(id) == StateKind::goal ? 0 : 1;
}

void Runner::follow(FuzzRun& run, Random& random) {
    while (true) {
        const StateId here = path_.back();
        graph_.expand(here);
        note_expanded(here);
        if (is_over(run, here) || stops(run, 1)) return;
        const auto target = look_ahead(run, here, random);
        if (target) {
            append(*target);
            continue;
        }
        if (run.reason != CutReason::none) return;
        run.reason = open_ == 0 ? CutReason::nothing_fails : CutReason::exhausted;
        return;
    }
}

bool Runner::is_over(FuzzRun& run, StateId here) const {
    const RunEnd end = graph_.ending(here);
    if (end != RunEnd::none) {
        run.end = end;
        return true;
    }
    if (open_ == 0 && !options_.goes_on) {
        run.reason = CutReason::nothing_fails;
        return true;
    }
    if (path_.size() - 1 < options_.max_steps) return false;
    run.reason = CutReason::steps;
    return true;
}

bool Runner::stops(FuzzRun& run, std::uint64_t expanded) {
    const StopReason reason = poll_({graph_.size(), expanded, path_.size(), bytes(), 0});
    if (reason == StopReason::none) return false;
    run.reason = reason_of(reason);
    return true;
}

void Runner::note_expanded(StateId id) {
    const std::uint32_t seen = 2 * serial_;
    if (at(stamps_, id) == seen + 1) return;
    at(stamps_, id) = seen + 1;
    if (graph_.kind(id) != StateKind::open) return;
    --open_;
    for (StateId outcome : graph_.outcomes(id)) {
        std::uint32_t& stamp = at(stamps_, outcome);
        if (stamp >= seen) continue;
        stamp = seen;
        open_ += graph_.kind(outcome) != StateKind::goal;
    }
}

// -- the lookahead --------------------------------------------------------------------------------

std::optional<std::size_t> Runner::look_ahead(FuzzRun& run, StateId here, Random& random) {
    if (++lookahead_serial_ == 0) {
        std::fill(marks_.begin(), marks_.end(), 0);
        lookahead_serial_ = 1;
    }
    at(marks_, here) = lookahead_serial_;
    seen_.assign(1, {here, 0});
    std::size_t layer = 0;
    const std::uint64_t steps_left = options_.max_steps - (path_.size() - 1);
    for (std::uint64_t depth = 1;; ++depth) {
        const std::size_t end = seen_.size();
        if (!expand_layer(run, layer, end)) return std::nullopt;
        layer = end;
        if (layer == seen_.size()) return std::nullopt;
        if (sees_fail(layer))
            return strategy_.bias == Bias::uniform ? pick(layer, random) : pick_fail(layer, random);
        const bool is_last = depth >= steps_left ||
                             depth >= strategy_.lookahead.value_or(depth + 1) ||
                             seen_.size() > strategy_.lookahead_states.value_or(seen_.size());
        if (is_last || has_unique_least(layer)) return pick(layer, random);
    }
}

// Expand what was seen from `begin` to `end`, and see what follows; false if the run was stopped.
bool Runner::expand_layer(FuzzRun& run, std::size_t begin, std::size_t end) {
    for (std::size_t part = begin; part < end; part += kMaxLayerPart) {
        const std::size_t part_end = std::min(part + kMaxLayerPart, end);
        layer_.clear();
        for (std::size_t i = part; i < part_end; ++i) layer_.push_back(seen_[i].id);
        graph_.expand(layer_);
        for (std::size_t i = part; i < part_end; ++i) add_outcomes(i);
        if (end - begin > 1 && stops(run, part_end - part)) return false;
    }
    return true;
}

void Runner::add_outcomes(std::size_t parent) {
    const StateId id = seen_[parent].id;
    note_expanded(id);
    for (StateId outcome : graph_.outcomes(id)) {
        std::uint32_t& mark = at(marks_, outcome);
        if (mark == lookahead_serial_) continue;
        mark = lookahead_serial_;
        seen_.push_back({outcome, static_cast<std::uint32_t>(parent)});
    }
}

bool Runner::has_unique_least(std::size_t layer) {
    if (layer + 1 == seen_.size()) return true;
    double least = graph_.distance(seen_[layer].id);
    std::size_t count = 1;
    for (std::size_t i = layer + 1; i < seen_.size(); ++i) {
        const double distance = graph_.distance(seen_[i].id);
        if (distance < least) count = 0;
        least = std::min(least, distance);
        count += distance == least;
    }
    return count == 1;
}

bool Runner::sees_fail(std::size_t layer) const {
    return std::any_of(seen_.begin() + static_cast<std::ptrdiff_t>(layer), seen_.end(),
                       [&](const Seen& seen) { return graph_.kind(seen.id) == StateKind::fail; });
}

// One of the fail states of the last layer, which has some.
std::size_t Runner::pick_fail(std::size_t layer, Random& random) const {
    std::size_t picked = layer;
    std::uint64_t count = 0;
    for (std::size_t i = layer; i < seen_.size(); ++i) {
        if (graph_.kind(seen_[i].id) != StateKind::fail) continue;
        if (random.below(++count) == 0) picked = i;
    }
    return picked;
}

std::size_t Runner::pick(std::size_t layer, Random& random) {
    if (strategy_.bias == Bias::uniform) return 1 + random.below(std::uint64_t{seen_.size() - 1});
    if (strategy_.bias == Bias::weighted) return pick_weighted(random);
    std::size_t picked = layer;
    std::uint64_t count = 0;
    double least = graph_.distance(seen_[layer].id);
    for (std::size_t i = layer; i < seen_.size(); ++i) {
        const double distance = graph_.distance(seen_[i].id);
        if (distance > least) continue;
        if (distance < least) count = 0;
        least = distance;
        if (random.below(++count) == 0) picked = i;
    }
    return picked;
}

// Weights are relative to the nearest state, so that those of far ones are not all 0.
std::size_t Runner::pick_weighted(Random& random) {
    double least = graph_.distance(seen_[1].id);
    for (std::size_t i = 2; i < seen_.size(); ++i)
        least = std::min(least, graph_.distance(seen_[i].id));
    weights_.clear();
    double total = 0;
    for (std::size_t i = 1; i < seen_.size(); ++i) {
        const double distance = graph_.distance(seen_[i].id);
        total += distance == least ? 1 : std::exp(least - distance);
        weights_.push_back(total);
    }
    const double at = random.unit() * total;
    const auto found = std::upper_bound(weights_.begin(), weights_.end(), at);
    const auto position = static_cast<std::size_t>(found - weights_.begin());
    return 1 + std::min(position, weights_.size() - 1);
}

// Go to what was seen at `target`, along its parents.
void Runner::append(std::size_t target) {
    const std::size_t end = path_.size();
    for (std::size_t at = target; at != 0; at = seen_[at].parent) path_.push_back(seen_[at].id);
    std::reverse(path_.begin() + static_cast<std::ptrdiff_t>(end), path_.end());
    if (path_.size() - 1 > options_.max_steps) path_.resize(options_.max_steps + 1);
}

// -- perturbed starts -----------------------------------------------------------------------------

void Runner::perturb(FuzzRun& run, const Word* start, Random& random) {
    for (int tries = 0; tries < kPerturbTries; ++tries) {
        run.changes.clear();
        std::vector<Word> state = reached_state(run, start, random);
        run.reached = state;
        const bool is_changed = run.reason == CutReason::none && change_all(run, state, random);
        run.states = std::move(state);
        if (is_changed || run.reason != CutReason::none) return;
    }
    run.changes.clear();
    run.states = run.reached;
}

// Make all changes; false if that leads to the end of runs, or to an error of the model.
bool Runner::change_all(FuzzRun& run, std::vector<Word>& state, Random& random) {
    try {
        for (std::uint64_t i = 0; i < options_.changes; ++i) {
            if (!change(run, state, random)) return false;
        }
        return stepper_->kind(state.data()) == StateKind::open;
    } catch (const ModelError&) {
        if (!has_changed_value(run)) throw;
        return false;
    }
}

// A state that is not terminal, anywhere on a run of the policy.
std::vector<Word> Runner::reached_state(FuzzRun& run, const Word* start, Random& random) {
    begin(start);
    while (path_.size() <= options_.max_steps) {
        const StateId here = path_.back();
        graph_.expand(here);
        note_expanded(here);
        if (graph_.ending(here) != RunEnd::none || stops(run, 1)) break;
        const auto outcomes = graph_.outcomes(here);
        path_.push_back(outcomes[random.below(std::uint64_t{outcomes.size()})]);
    }
    const std::uint64_t count = std::max<std::size_t>(path_.size() - 1, 1);
    const Word* const state = graph_.state(path_[random.below(count)]);
    return {state, state + task_.words()};
}

bool Runner::change(FuzzRun& run, std::vector<Word>& state, Random& random) {
    const bool is_value =
        options_.perturb == Perturb::values ||
        (options_.perturb == Perturb::both && random.below(std::uint64_t{2}) == 0);
    return is_value ? change_value(run, state, random) : take_action(run, state, random);
}

bool Runner::change_value(FuzzRun& run, std::vector<Word>& state, Random& random) {
    const std::size_t v = random.below(std::uint64_t{layout_->num_variables()});
    const VariableSpec& variable = layout_->variable(v);
    std::int64_t value = 0;
    if (variable.type == Type::real) {
        const double span = variable.real_upper - variable.real_lower;
        if (!std::isfinite(span) || span == 0) return false;
        value = std::bit_cast<std::int64_t>(
            std::min(variable.real_lower + random.unit() * span, variable.real_upper));
    } else {
        const std::uint64_t span = layout_->field(v).span;
        if (span == 0) return false;
        const std::uint64_t stored = layout_->field(v).stored(state.data());
        const std::uint64_t other = random.below(span);  // any but the one that is there
        value = static_cast<std::int64_t>((other < stored ? other : other + 1) +
                                          static_cast<std::uint64_t>(variable.lower));
    }
    layout_->set(state.data(), v, value);
    run.changes.push_back({static_cast<std::int64_t>(v), value, state});
    return true;
}

bool Runner::take_action(FuzzRun& run, std::vector<Word>& state, Random& random) {
    if (stepper_->kind(state.data()) != StateKind::open) return false;
    stepper_->applicable(state.data(), applicable_);
    if (applicable_.empty()) return false;
    // Silent actions are taken only where nothing else is applicable.
    const ActionId silent{static_cast<std::uint32_t>(task_.first_silent())};
    if (applicable_.front() < silent)
        applicable_.erase(std::lower_bound(applicable_.begin(), applicable_.end(), silent),
                          applicable_.end());
    const ActionId action = applicable_[random.below(std::uint64_t{applicable_.size()})];
    stepper_->outcomes(state.data(), action, expansion_);
    const std::size_t width = task_.words();
    const Word* const outcome =
        expansion_.words.data() +
        random.below(std::uint64_t{expansion_.words.size() / width}) * width;
    state.assign(outcome, outcome + width);
    run.changes.push_back({-1, static_cast<std::int64_t>(index(action)), state});
    return true;
}

std::uint64_t Runner::path_hash() const {
    std::uint64_t hash = 0;
    for (StateId id : path_)
        hash = fold_multiply(hash ^ hash_words(graph_.state(id), task_.words()), kPathFactor);
    return hash;
}

void Runner::write(FuzzRun& run) {
    run.states.clear();
    for (std::size_t i = 0; i < path_.size(); ++i) {
        const Word* const state = graph_.state(path_[i]);
        run.states.insert(run.states.end(), state, state + task_.words());
        if (i + 1 == path_.size()) break;
        run.actions.push_back(graph_.action_to(path_[i], path_[i + 1]));
    }
}

}  // namespace surefoot
