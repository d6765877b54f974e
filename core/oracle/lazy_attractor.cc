#include "oracle/lazy_attractor.h"

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
        if (answer.stopped == StopReason::none && store_.size() > budget.max_states())
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
            if (!has_lost_action(state)) break;
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
    return static_cast<Phase>(from.phase) == Phase::active && edge >= from.link;
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
    stepper_->next_choice(store_[StateId{state}], ActionId{from}, expansion_);
    if (expansion_.choices.empty()) {
        if (is_first) {
            settle(state);  // a dead end
        } else {
            lose(state);
        }
        return true;
    }
    const Choice choice = expansion_.choices.front();
    ++counts_.pairs;
    const bool is_possible = find_outcomes(choice);
    if (!is_possible) {
        nodes_[state].action = index(choice.action);
        return false;
    }
    depend(state, choice.action);
    return true;
}

// Put the outcomes into found_; return whether none of them is known to be unsafe.
bool LazyAttractor::find_outcomes(const Choice& choice) {
    found_.clear();
    if (choice.end - choice.begin > 1) {
        for (std::uint32_t i = choice.begin; i < choice.end; ++i)
            store_.prefetch(store_.hash(expansion_.words.data() + i * width_));
    }
    for (std::uint32_t i = choice.begin; i < choice.end; ++i) {
        ++counts_.outcomes;
        found_.push_back(insert(expansion_.words.data() + i * width_));
        if (phase(found_.back()) == Phase::unsafe) return false;
    }
    return true;
}

// The first outcome is looked at first.
void LazyAttractor::depend(std::uint32_t state, ActionId action) {
    if (edges_.size() + found_.size() >= kUnlinked) throw std::length_error("too many outcomes");
    activate(state);
    nodes_[state].action = index(action);
    nodes_[state].link = static_cast<std::uint32_t>(edges_.size());
    for (std::uint32_t to : found_) {
        const auto edge = static_cast<std::uint32_t>(edges_.size());
        edges_.push_back({state, to, kUnlinked});
        link(edge);
    }
    for (auto to = found_.rbegin(); to != found_.rend(); ++to) push_undecided(*to);
}

// The state is unsafe: whoever currently depends on it has to look again.
void LazyAttractor::lose(std::uint32_t state) {
    Node& node = nodes_[state];
    std::uint32_t edge = node.dependants;
    node.phase = static_cast<std::uint32_t>(Phase::unsafe);
    node.link = next_rank_++;
    node.dependants = kNone;
    for (; edge != kNone; edge = edges_[edge].next) {
        if (is_current(edge)) work_.push_back(edges_[edge].from);
    }
    if (!dominance_) return;
    const Word* const pair = store_[StateId{state}];
    std::uint64_t& unsafe_to = bounds_of(pair).unsafe_to;
    unsafe_to = std::max(unsafe_to, pair[width_ - 1] + 1);
}

void LazyAttractor::settle(std::uint32_t state) {
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
    const Dominance::Bounds bounds = dominance_->of_state[index(base)];
    const Word left = state[width_ - 1];
    std::uint32_t id = 0;
    if (left < bounds.safe_from && left >= bounds.unsafe_to) {
        id = insert_exact(state);
    } else {
        pair_.assign(state, state + width_);
        pair_.back() = left < bounds.unsafe_to ? bounds.unsafe_to - 1 : bounds.safe_from;
        id = insert_exact(pair_.data());
    }
    return id;
}

std::uint32_t LazyAttractor::insert_exact(const Word* state) {
    const auto [id, is_new] = store_.insert(state);
    if (is_new) {
        nodes_.push_back({static_cast<std::uint32_t>(Phase::unseen), kNoAction, kNone, kNone});
        if (dominance_) {
            Dominance::Bounds& bounds = bounds_of(state);
            dominance_->older.push_back(bounds.newest);
            bounds.newest = index(id);
        }
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
                                work_.bytes() + active_.capacity() * sizeof(std::uint32_t);
    if (!dominance_) return bytes;
    return bytes + dominance_->states.peak_bytes() +
           dominance_->of_state.capacity() * sizeof(Dominance::Bounds) +
           dominance_->older.capacity() * sizeof(std::uint32_t);
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

// Of all pairs that decide this one: a safe one, or the unsafe one of least rank. The rank of the
// strongest may be too large: it may have been lost after the one that was needed.
Known LazyAttractor::known_pair(const Word* pair) const {
    Known best;
    const auto base = dominance_->states.find(pair);
    if (!base) return best;
    const Word left = pair[width_ - 1];
    for (std::uint32_t id = dominance_->of_state[index(*base)].newest; id != kNone;
         id = dominance_->older[id]) {
        const Known known = known_of(id);
        const Word its_left = store_[StateId{id}][width_ - 1];
        if (known.verdict == Verdict::safe && its_left <= left) return known;
        const bool decides = known.verdict == Verdict::unsafe && its_left >= left;
        if (decides && (best.verdict == Verdict::unknown || known.rank < best.rank)) best = known;
    }
    return best;
}

}  // namespace surefoot
