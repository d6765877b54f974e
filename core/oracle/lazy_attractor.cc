#include "oracle/lazy_attractor.h"

#include <algorithm>

namespace surefoot {

LazyAttractor::LazyAttractor(const Task& task, bool has_pairs)
    : stepper_(task.stepper()),
      width_(task.words()),
      is_slow_(task.is_slow()),
      store_(task.words()) {
    if (task.num_actions() >= kNoAction) throw std::length_error("too many actions");
    if (has_pairs) dominance_ = std::make_unique<Dominance>(width_ - 1);
}

Answer LazyAttractor::decide(const Word* state, Budget& budget) {
    counts_ = Answer{};
    if (is_slow_) budget.look_always();
    first_new_ = store_.size();
    const std::uint32_t root = insert(state);
    Answer answer;
    try {
        run(root, budget, answer);
    } catch (...) {
        finish(false);
        throw;
    }
    finish(answer.verdict == Verdict::safe);
    answer.expanded = counts_.expanded;
    answer.pairs = counts_.pairs;
    answer.outcomes = counts_.outcomes;
    answer.seconds = budget.seconds();
    return answer;
}

void LazyAttractor::run(std::uint32_t root, Budget& budget, Answer& answer) {
    push_undecided(root);
    while (work_.size() > 0 && phase(root) != Phase::unsafe) {
        const std::uint32_t state = work_[work_.size() - 1];
        work_.shrink(work_.size() - 1);
        look_at(state, state == root);
        const Progress progress{store_.size(), counts_.expanded, work_.size(), bytes(), 0};
        answer.stopped = budget.poll(progress);
        if (answer.stopped == StopReason::none && store_.size() - first_new_ > budget.max_states())
            answer.stopped = StopReason::states;
        if (answer.stopped != StopReason::none) break;
    }
    if (phase(root) == Phase::unsafe) {
        answer.verdict = Verdict::unsafe;
    } else if (work_.size() == 0) {
        answer.verdict = Verdict::safe;
    }
    if (answer.verdict != Verdict::unknown) answer.stopped = StopReason::none;
}

void LazyAttractor::look_at(std::uint32_t state, bool is_root) {
    switch (phase(state)) {
        case Phase::fresh:
            if (is_root || is_wanted(state)) advance(state);
            break;
        case Phase::idle:
            if (is_root || is_wanted(state)) take_up(state);
            break;
        case Phase::active:
            if (!nodes_[state].has_lost) break;
            if (is_root || is_wanted(state)) {
                advance(state);
            } else {
                set_phase(state, Phase::fresh);  // goes on behind the lost action if it is needed
            }
            break;
        default: break;  // decided since it was put on the stack
    }
}

// Whether somebody active currently depends on the state. Unlinks dependants that do not, so that
// they are not looked at again.
bool LazyAttractor::is_wanted(std::uint32_t state) {
    std::uint32_t& last = nodes_[state].dependants;
    while (last != kNone) {
        if (is_current(last)) return true;
        Edge& edge = edges_[last];
        last = edge.next;
        edge.next = kUnlinked;
    }
    return false;
}

bool LazyAttractor::is_current(std::uint32_t edge) const {
    const Node& from = nodes_[edges_[edge].from];
    return static_cast<Phase>(from.phase) == Phase::active && edge >= from.link && !from.has_lost;
}

bool LazyAttractor::has_lost_action(std::uint32_t state) const {
    for (std::size_t e = nodes_[state].link; e < edges_.size() && edges_[e].from == state; ++e) {
        if (phase(edges_[e].to) == Phase::unsafe) return true;
    }
    return false;
}

// An earlier question left the state undecided: go on from there.
void LazyAttractor::take_up(std::uint32_t state) {
    if (has_lost_action(state)) return advance(state);
    activate(state);
    for (std::size_t e = nodes_[state].link; e < edges_.size() && edges_[e].from == state; ++e) {
        if (edges_[e].next == kUnlinked) link(static_cast<std::uint32_t>(e));
        push_undecided(edges_[e].to);
    }
}

void LazyAttractor::link(std::uint32_t edge) {
    std::uint32_t& last = nodes_[edges_[edge].to].dependants;
    edges_[edge].next = last;
    last = edge;
}

// Make the next action without an outcome known to be unsafe the current one.
void LazyAttractor::advance(std::uint32_t state) {
    ++counts_.expanded;
    while (!take_next(state)) {
    }
}

// Look at the next action; return whether that settled what is to become of the state.
bool LazyAttractor::take_next(std::uint32_t state) {
    const bool is_first = nodes_[state].action == kNoAction;
    const std::uint32_t from = is_first ? 0 : nodes_[state].action + 1;
    const Fetched fetched = fetch(state, ActionId{from});
    if (fetched.choice == nullptr) {
        if (is_first) {
            settle(state);  // a dead end
        } else {
            lose(state);
        }
        return true;
    }
    ++counts_.pairs;
    const ActionId action = fetched.choice->action;
    if (!find_outcomes(fetched)) {
        nodes_[state].action = index(action);
        return false;
    }
    depend(state, action);
    return true;
}

// The first choice of an action not below `from`.
LazyAttractor::Fetched LazyAttractor::fetch(std::uint32_t state, ActionId from) {
    const Word* const words = store_[StateId{state}];
    if (nodes_[state].tries < kManyTries) {
        stepper_->next_choice(words, from, expansion_);
        nodes_[state].tries = nodes_[state].tries + 1;
        const auto& choices = expansion_.choices;
        return {&expansion_, choices.empty() ? nullptr : &choices.front()};
    }
    auto found = rests_.find(state);
    if (found == rests_.end()) {
        Rest made;
        stepper_->expand(words, made.expansion);  // may throw: then there is no rest
        rest_bytes_ += made.expansion.words.size() * sizeof(Word);
        found = rests_.emplace(state, std::move(made)).first;
    }
    Rest& rest = found->second;
    const auto& choices = rest.expansion.choices;
    while (rest.next < choices.size() && choices[rest.next].action < from) ++rest.next;
    const bool is_there = rest.next < choices.size();
    return {&rest.expansion, is_there ? &choices[rest.next] : nullptr};
}

// Put the outcomes into found_; return whether none of them is known to be unsafe.
bool LazyAttractor::find_outcomes(const Fetched& fetched) {
    found_.clear();
    const auto [begin, end] = std::pair(fetched.choice->begin, fetched.choice->end);
    const Word* const words = fetched.expansion->words.data();
    for (std::uint32_t i = begin; i < end && end - begin > 1; ++i)
        store_.prefetch(store_.hash(words + i * width_));
    for (std::uint32_t i = begin; i < end; ++i) {
        ++counts_.outcomes;
        found_.push_back(insert(words + i * width_));
        if (phase(found_.back()) == Phase::unsafe) return false;
    }
    return true;
}

// The first outcome is looked at first.
void LazyAttractor::depend(std::uint32_t state, ActionId action) {
    if (edges_.size() + found_.size() >= kUnlinked) throw std::length_error("too many outcomes");
    activate(state);
    nodes_[state].has_lost = 0;
    nodes_[state].action = index(action);
    nodes_[state].link = static_cast<std::uint32_t>(edges_.size());
    for (std::uint32_t to : found_) {
        const auto edge = static_cast<std::uint32_t>(edges_.size());
        edges_.push_back({state, to, kUnlinked});
        link(edge);
    }
    for (auto to = found_.rbegin(); to != found_.rend(); ++to) push_undecided(*to);
}

// The state is unsafe: whoever currently depends on it has to look again, once for each action: it
// may depend on thousands that are lost together.
void LazyAttractor::lose(std::uint32_t state) {
    Node& node = nodes_[state];
    std::uint32_t edge = node.dependants;
    node.phase = static_cast<std::uint32_t>(Phase::unsafe);
    if (node.tries == kManyTries) forget_rest(state);
    node.link = next_rank_++;
    node.dependants = kNone;
    for (; edge != kNone; edge = edges_[edge].next) {
        if (!is_current(edge)) continue;
        nodes_[edges_[edge].from].has_lost = 1;
        work_.push_back(edges_[edge].from);
    }
    if (!dominance_) return;
    const Word* const pair = store_[StateId{state}];
    Dominance::Bounds& bounds = bounds_of(pair);
    if (pair[width_ - 1] < bounds.unsafe_to) return;
    bounds.unsafe_to = pair[width_ - 1] + 1;
    bounds.raised.push_back(state);
    ++dominance_->num_raised;
}

void LazyAttractor::forget_rest(std::uint32_t state) {
    const auto found = rests_.find(state);
    if (found == rests_.end()) return;
    rest_bytes_ -= found->second.expansion.words.size() * sizeof(Word);
    rests_.erase(found);
}

void LazyAttractor::settle(std::uint32_t state) {
    if (nodes_[state].tries == kManyTries) forget_rest(state);
    set_phase(state, Phase::safe);
    if (!dominance_) return;
    const Word* const pair = store_[StateId{state}];
    std::uint64_t& safe_from = bounds_of(pair).safe_from;
    safe_from = std::min(safe_from, pair[width_ - 1]);
}

// A state may stand on the stack several times: whoever needs it now does not wait until those who
// asked for it before have their turn.
void LazyAttractor::push_undecided(std::uint32_t state) {
    if (phase(state) == Phase::fresh || phase(state) == Phase::idle) work_.push_back(state);
}

void LazyAttractor::activate(std::uint32_t state) {
    if (phase(state) != Phase::active && state < first_new_) active_.push_back(state);
    set_phase(state, Phase::active);
}

void LazyAttractor::finish(bool is_settled) {
    work_.shrink(0);
    const auto leave = [&](std::uint32_t state) {
        if (phase(state) != Phase::active) return;
        if (is_settled) {
            settle(state);
        } else {
            set_phase(state, Phase::idle);
        }
    };
    for (std::uint32_t state : active_) leave(state);
    for (std::uint32_t state = first_new_; state < store_.size(); ++state) leave(state);
    active_.clear();
}

// The state, or the pair that decides it by dominance.
std::uint32_t LazyAttractor::insert(const Word* state) {
    if (!dominance_) return insert_exact(state);
    const auto [base, is_new] = dominance_->states.insert(state);
    if (is_new) dominance_->of_state.emplace_back();
    const Dominance::Bounds& bounds = dominance_->of_state[index(base)];
    const Word left = state[width_ - 1];
    if (left < bounds.safe_from && left >= bounds.unsafe_to) return insert_exact(state);
    pair_.assign(state, state + width_);
    pair_.back() = left < bounds.unsafe_to ? bounds.unsafe_to - 1 : bounds.safe_from;
    return insert_exact(pair_.data());
}

std::uint32_t LazyAttractor::insert_exact(const Word* state) {
    const auto [id, is_new] = store_.insert(state);
    if (is_new) {
        nodes_.push_back(
            {static_cast<std::uint32_t>(Phase::unseen), 0, 0, kNoAction, kNone, kNone});
    }
    if (phase(index(id)) == Phase::unseen) see(index(id));
    return index(id);
}

// If the kind cannot be computed, the state stays unseen: whoever meets it next must not take it
// for one that was found not to fail.
void LazyAttractor::see(std::uint32_t state) {
    const StateKind kind = stepper_->kind(store_[StateId{state}]);
    set_phase(state, Phase::fresh);
    if (kind == StateKind::fail) lose(state);
    if (kind == StateKind::goal) settle(state);
}

LazyAttractor::Dominance::Bounds& LazyAttractor::bounds_of(const Word* pair) {
    return dominance_->of_state[index(*dominance_->states.find(pair))];
}

std::uint64_t LazyAttractor::bytes() const {
    const std::uint64_t bytes = store_.peak_bytes() + nodes_.bytes() + edges_.bytes() +
                                work_.bytes() + active_.capacity() * sizeof(std::uint32_t) +
                                rest_bytes_;
    if (!dominance_) return bytes;
    return bytes + dominance_->states.peak_bytes() +
           dominance_->of_state.capacity() * sizeof(Dominance::Bounds) +
           dominance_->num_raised * sizeof(std::uint32_t);
}

Known LazyAttractor::known(const Word* state) const {
    if (dominance_) return known_pair(state);
    const auto id = store_.find(state);
    return id ? known_of(index(*id)) : Known{};
}

Known LazyAttractor::known_of(std::uint32_t state) const {
    const Node& node = nodes_[state];
    const Word* const words = store_[StateId{state}];
    switch (phase(state)) {
        case Phase::safe: {
            const bool is_terminal = node.action == kNoAction;
            return {Verdict::safe, is_terminal ? Known::kNoAction : ActionId{node.action}, 0,
                    words};
        }
        case Phase::unsafe: return {Verdict::unsafe, Known::kNoAction, node.link, words};
        default: return {};
    }
}

// The pair that decides this one. Of unsafe ones that of least rank: the strongest may have been
// lost after the one that was needed. That is the first with as many left that raised the bound.
Known LazyAttractor::known_pair(const Word* pair) const {
    const auto base = dominance_->states.find(pair);
    if (!base) return {};
    const Dominance::Bounds& bounds = dominance_->of_state[index(*base)];
    const Word left = pair[width_ - 1];
    if (left >= bounds.safe_from) {
        std::vector<Word> safe(pair, pair + width_);
        safe.back() = bounds.safe_from;
        return known_of(index(*store_.find(safe.data())));
    }
    const auto first = std::lower_bound(
        bounds.raised.begin(), bounds.raised.end(), left,
        [&](std::uint32_t id, Word wanted) { return store_[StateId{id}][width_ - 1] < wanted; });
    return first == bounds.raised.end() ? Known{} : known_of(*first);
}

}  // namespace surefoot
