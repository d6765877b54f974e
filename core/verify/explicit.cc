#include "verify/explicit.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "search/policy_graph.h"
#include "task/forced_task.h"
#include "task/start_diagram.h"
#include "verify/crew.h"

namespace surefoot {

// -- what was reached ---------------------------------------------------------------------------

ReachedStates::ReachedStates(std::size_t words_per_state) : width_(words_per_state) {
    shards_.reserve(kShards);
    for (std::uint32_t s = 0; s < kShards; ++s) shards_.emplace_back(width_);
}

std::uint64_t ReachedStates::size() const {
    std::uint64_t size = 0;
    for (const Shard& shard : shards_) size += shard.store.size();
    return size;
}

std::uint64_t ReachedStates::bytes() const {
    std::uint64_t bytes = 0;
    for (const Shard& shard : shards_) bytes += shard.store.bytes() + shard.parents.bytes();
    return bytes;
}

std::vector<Word> ReachedStates::copy(std::uint64_t first, std::uint64_t count) const {
    std::vector<Word> words;
    for (const Shard& shard : shards_) {
        const std::uint64_t size = shard.store.size();
        for (; first < size && count > 0; ++first, --count) {
            const Word* const state = shard.store[StateId{static_cast<std::uint32_t>(first)}];
            words.insert(words.end(), state, state + width_);
        }
        if (count == 0) break;
        first -= size;
    }
    return words;
}

namespace {

using Place = ReachedStates::Place;

constexpr std::uint32_t kShards = ReachedStates::kShards;
constexpr std::uint64_t kPart = 1024;  // states that are expanded at once
constexpr std::uint64_t kPartIfSlow = 32;
constexpr std::uint64_t kMaxParts = 256;           // of a block
constexpr std::uint64_t kBlockOutcomes = 1 << 20;  // about as many in a block
constexpr std::uint64_t kStartsAtOnce = 1 << 16;
constexpr std::uint32_t kAhead = 8;  // states whose line of the table is on its way

// -- outcomes -----------------------------------------------------------------------------------

// States with their parents, in the order in which they came.
struct Unsorted {
    WordBuffer words;
    std::vector<std::uint64_t> hashes;
    std::vector<Place> parents;

    void clear() {
        words.clear();
        hashes.clear();
        parents.clear();
    }
    void add(const Word* state, std::size_t width, Place parent) {
        words.append(state, width);
        hashes.push_back(hash_words(state, width));
        parents.push_back(parent);
    }
};

// The same, shard by shard; those of a shard in the order in which they came.
struct Sorted {
    std::vector<Word> words;
    std::vector<std::uint32_t> hashes;
    std::vector<Place> parents;
    std::array<std::uint32_t, kShards + 1> begins;

    void take(const Unsorted& from, std::size_t width) {
        const std::size_t count = from.hashes.size();
        begins.fill(0);
        for (std::uint64_t hash : from.hashes) ++begins[ReachedStates::shard_of(hash) + 1];
        for (std::uint32_t s = 0; s < kShards; ++s) begins[s + 1] += begins[s];
        std::array<std::uint32_t, kShards> next;
        std::copy_n(begins.begin(), kShards, next.begin());
        words.resize(count * width);
        hashes.resize(count);
        parents.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t to = next[ReachedStates::shard_of(from.hashes[i])]++;
            std::copy_n(from.words.data() + i * width, width, words.data() + to * width);
            hashes[to] = static_cast<std::uint32_t>(from.hashes[i] >> 32);
            parents[to] = from.parents[i];
        }
    }
};

// What a part of a layer leads to, or the first thing that stops the search there.
struct Part {
    Sorted outcomes;
    std::vector<Place> fails;
    bool is_over = false;  // one fail is all that was wanted
    std::exception_ptr error;

    bool is_stop() const { return is_over || error != nullptr; }
};

void insert_all(ReachedStates& reached, std::uint32_t shard, const Sorted& from) {
    const std::size_t width = reached.words_per_state();
    const std::uint32_t end = from.begins[shard + 1];
    for (std::uint32_t i = from.begins[shard]; i < end; ++i) {
        if (i + kAhead < end) reached.prefetch(shard, from.hashes[i + kAhead]);
        reached.insert(shard, from.words.data() + i * width, from.hashes[i], from.parents[i]);
    }
}

// -- layers -------------------------------------------------------------------------------------

// The states of equal depth: in each shard those from a number on, up to another one.
class Layer {
public:
    Layer() { begins_.fill(0), ends_.fill(0); }

    // Go on to what was inserted behind this layer.
    void advance(const ReachedStates& reached) {
        total_ = 0;
        for (std::uint32_t s = 0; s < kShards; ++s) {
            begins_[s] = ends_[s];
            ends_[s] = reached.size(s);
            total_ += ends_[s] - begins_[s];
        }
    }

    std::uint64_t size() const { return total_; }

    // The places at the positions first .. last - 1.
    void places(std::uint64_t first, std::uint64_t last, std::vector<Place>& places) const {
        places.clear();
        std::uint64_t before = 0;
        for (std::uint32_t s = 0; s < kShards && before < last; ++s) {
            const std::uint64_t count = ends_[s] - begins_[s];
            const std::uint64_t from = std::max(first, before);
            const std::uint64_t to = std::min(last, before + count);
            for (std::uint64_t i = from; i < to; ++i) {
                const auto number = static_cast<std::uint32_t>(begins_[s] + (i - before));
                places.push_back(ReachedStates::place(s, number));
            }
            before += count;
        }
    }

private:
    std::array<std::uint32_t, kShards> begins_;
    std::array<std::uint32_t, kShards> ends_;
    std::uint64_t total_ = 0;
};

// Expands states: belongs to one thread.
class Expander {
public:
    Expander(const Task& task, const Policy& policy, const ReachedStates& reached,
             bool is_one_enough)
        : is_unfiltered_(policy.is_unfiltered()),
          decider_(policy.decider()),
          reached_(reached),
          width_(task.words()),
          is_one_enough_(is_one_enough),
          questions_(task.words()) {
        if (task.first_silent() < task.num_actions()) forced_.emplace(task);
        stepper_ = forced_ ? forced_->stepper() : task.stepper();
    }

    // What the states at these positions of the layer lead to.
    void expand(const Layer& layer, std::uint64_t first, std::uint64_t last, Part& part) {
        part.fails.clear();
        part.is_over = false;
        part.error = nullptr;
        outcomes_.clear();
        try {
            layer.places(first, last, places_);
            look(part.fails);
            part.is_over = is_one_enough_ && !part.fails.empty();
            if (part.is_stop()) return;
            decide();
            part.outcomes.take(outcomes_, width_);
        } catch (...) {
            part.error = std::current_exception();
        }
    }

private:
    // The states that fail: the first one alone if that is enough. Leaves questions for those where
    // the policy decides.
    void look(std::vector<Place>& fails) {
        questions_.clear();
        asked_.clear();
        for (Place place : places_) {
            const Word* const state = reached_[place];
            const StateKind kind = stepper_->look(state, applicable_);
            if (kind == StateKind::fail) {
                fails.push_back(place);
                if (is_one_enough_) return;
                continue;
            }
            if (kind == StateKind::goal || applicable_.empty()) continue;
            if (forced_ && applicable_.front() == forced_->forced()) {
                take(place, applicable_.front());
                continue;
            }
            asked_.push_back(place);
            questions_.add(state, applicable_);
        }
    }

    void decide() {
        if (asked_.empty()) return;
        decisions_.resize(asked_.size());
        decider_->decide_all(questions_, decisions_.data());
        for (std::size_t i = 0; i < asked_.size(); ++i) {
            const auto applicable = questions_.applicable(i);
            const bool is_possible =
                std::binary_search(applicable.begin(), applicable.end(), decisions_[i]);
            if (!is_possible && is_unfiltered_) continue;  // the run ends here
            if (!is_possible)
                check_decision(decisions_[i], questions_.state(i), width_, applicable);
            take(asked_[i], decisions_[i]);
        }
    }

    void take(Place place, ActionId action) {
        stepper_->outcomes(reached_[place], action, expansion_);
        if (expansion_.words.size() == 0)
            throw std::runtime_error("an applicable action has no outcome");
        for (std::size_t at = 0; at < expansion_.words.size(); at += width_)
            outcomes_.add(expansion_.words.data() + at, width_, place);
    }

    bool is_unfiltered_;
    std::unique_ptr<Decider> decider_;
    const ReachedStates& reached_;
    std::size_t width_;
    bool is_one_enough_;
    std::optional<ForcedTask> forced_;
    std::unique_ptr<Stepper> stepper_;
    std::vector<Place> places_;
    std::vector<Place> asked_;
    std::vector<ActionId> applicable_;
    std::vector<ActionId> decisions_;
    Questions questions_;
    Expansion expansion_;
    Unsorted outcomes_;
};

// -- the search ---------------------------------------------------------------------------------

class Search {
public:
    Search(const Task& task, const Policy& policy, std::uint64_t workers, std::uint64_t max_runs,
           Budget& budget, ReachedStates& reached)
        : max_runs_(max_runs),
          task_(task),
          policy_(policy),
          budget_(budget),
          reached_(reached),
          part_size_(task.is_slow() ? kPartIfSlow : kPart),
          crew_(workers) {
        for (std::uint64_t w = 0; w < workers; ++w) {
            expanders_.push_back(std::make_unique<Expander>(task, policy, reached, max_runs == 1));
        }
    }

    void add_starts(const StartSource& starts) {
        const std::size_t width = task_.words();
        const StopReason stopped = starts([&](const Word* state) {
            starts_.add(state, width, ReachedStates::kNoPlace);
            if (starts_.hashes.size() >= kStartsAtOnce) flush_starts();
            const std::uint64_t states = known_.states + starts_.hashes.size();
            if (!is_stopped()) result_.stopped = budget_.poll({states, 0, 0, known_.bytes, 0});
            return !is_stopped();
        });
        if (!is_stopped()) result_.stopped = stopped;
        flush_starts();
        result_.starts = reached_.size();
        result_.starts_complete = !is_stopped();
    }

    void run() {
        go_through();
        for (Place fail : fails_) trace(fail);
    }

    void go_through() {
        layer_.advance(reached_);
        while (layer_.size() > 0) {
            for (std::uint64_t at = 0; at < layer_.size();) {
                if (!is_stopped()) result_.stopped = budget_.look(progress());
                if (is_stopped() || do_block(at)) return;
            }
            layer_.advance(reached_);
            if (layer_.size() > 0) ++result_.depth;
        }
    }

    ExplicitResult take_result() { return std::move(result_); }

private:
    bool is_stopped() const { return result_.stopped != StopReason::none; }

    void flush_starts() {
        if (parts_.empty()) parts_.resize(1);
        parts_.front().outcomes.take(starts_, task_.words());
        starts_.clear();
        insert(1);
        known_ = progress();
    }

    // Expand a block of the layer from a position on, which moves on. Returns whether that was the
    // end. How large the block is depends on what was found before, and on nothing else.
    bool do_block(std::uint64_t& at) {
        const std::uint64_t left = (layer_.size() - at + part_size_ - 1) / part_size_;
        const std::uint64_t count = std::min(left, block_parts_);
        if (parts_.size() < count) parts_.resize(count);
        const std::uint64_t first = at;
        at = std::min(at + count * part_size_, layer_.size());
        expand(first, at, count);
        if (is_stopped()) return true;
        for (std::uint64_t i = 0; i < count; ++i) {
            if (parts_[i].error) std::rethrow_exception(parts_[i].error);
            for (Place fail : parts_[i].fails) {
                fails_.push_back(fail);
                if (fails_.size() == max_runs_) return true;
            }
        }
        result_.expanded += at - first;
        insert(count);
        return false;
    }

    void expand(std::uint64_t first, std::uint64_t last, std::uint64_t count) {
        std::atomic<std::uint64_t> next = 0;
        std::atomic<std::uint64_t> first_stop = count;  // what is behind it is not needed
        std::atomic<bool> is_over = false;
        together(count, [&](std::size_t worker) {
            while (!is_over.load(std::memory_order_relaxed)) {
                const std::uint64_t i = next.fetch_add(1);
                if (i >= count || i > first_stop.load()) return;
                const std::uint64_t begin = first + i * part_size_;
                expanders_[worker]->expand(layer_, begin, std::min(begin + part_size_, last),
                                           parts_[i]);
                if (parts_[i].is_stop()) note_first(first_stop, i);
                if (worker != 0) continue;
                result_.stopped = budget_.look(progress());
                if (is_stopped()) is_over.store(true);
            }
        });
    }

    static void note_first(std::atomic<std::uint64_t>& first, std::uint64_t number) {
        std::uint64_t known = first.load();
        while (number < known && !first.compare_exchange_weak(known, number)) {
        }
    }

    // Insert the outcomes of so many parts, each shard by one thread and part by part.
    void insert(std::uint64_t count) {
        std::uint64_t outcomes = 0;
        for (std::uint64_t i = 0; i < count; ++i) outcomes += parts_[i].outcomes.hashes.size();
        std::atomic<std::uint32_t> next = 0;
        together(outcomes / part_size_, [&](std::size_t) {
            for (std::uint32_t shard = next.fetch_add(1); shard < kShards;
                 shard = next.fetch_add(1)) {
                for (std::uint64_t i = 0; i < count; ++i)
                    insert_all(reached_, shard, parts_[i].outcomes);
            }
        });
        const std::uint64_t per_part = std::max<std::uint64_t>(outcomes / count, 1);
        block_parts_ = std::clamp<std::uint64_t>(kBlockOutcomes / per_part, 1, kMaxParts);
        buffer_bytes_ = outcomes * (task_.words() * sizeof(Word) + 2 * sizeof(Place));
        check_limits();
    }

    // Small work is done by the caller alone: that takes less time than to wake up others.
    void together(std::uint64_t size, const Crew::Work& work) {
        if (size > 1)
            crew_.work(work);
        else
            work(0);
    }

    void check_limits() {
        if (is_stopped()) return;
        std::uint32_t largest = 0;
        for (std::uint32_t s = 0; s < kShards; ++s) largest = std::max(largest, reached_.size(s));
        const std::uint64_t room = ReachedStates::kMaxInShard - largest;
        if (reached_.size() > budget_.max_states() || room < 4 * kBlockOutcomes)
            result_.stopped = StopReason::states;
        else if (progress().bytes > budget_.max_bytes())
            result_.stopped = StopReason::memory;
    }

    // The run from a start state to this one.
    void trace(Place fail) {
        std::vector<Place> path{fail};
        while (reached_.parent(path.back()) != ReachedStates::kNoPlace)
            path.push_back(reached_.parent(path.back()));
        std::reverse(path.begin(), path.end());
        PolicyGraph graph(task_, policy_);
        FailingRun run;
        for (std::size_t i = 0; i < path.size(); ++i) {
            const Word* const state = reached_[path[i]];
            run.states.insert(run.states.end(), state, state + task_.words());
            if (i + 1 == path.size()) break;
            const StateId id = graph.add(state);
            graph.expand(id);
            run.actions.push_back(graph.action_to(id, graph.add(reached_[path[i + 1]])));
        }
        result_.runs.push_back(std::move(run));
    }

    Progress progress() const {
        return {reached_.size(), result_.expanded, result_.depth, reached_.bytes() + buffer_bytes_,
                0};
    }

    std::uint64_t max_runs_;
    std::vector<Place> fails_;
    const Task& task_;
    const Policy& policy_;
    Budget& budget_;
    ReachedStates& reached_;
    std::uint64_t part_size_;
    std::vector<std::unique_ptr<Expander>> expanders_;
    std::vector<Part> parts_;
    std::uint64_t block_parts_ = 16;
    std::uint64_t buffer_bytes_ = 0;
    Unsorted starts_;
    Progress known_;  // when start states were last inserted
    Layer layer_;
    ExplicitResult result_;
    Crew crew_;  // goes first: its threads use what is above
};

}  // namespace

ExplicitResult verify_explicit(const Task& task, const Policy& policy, const StartSource& starts,
                               std::uint64_t workers, std::uint64_t max_runs, Budget& budget,
                               ReachedStates& reached) {
    if (task.is_slow() || policy.is_slow()) budget.look_always();
    Search search(task, policy, std::max<std::uint64_t>(workers, 1),
                  std::max<std::uint64_t>(max_runs, 1), budget, reached);
    search.add_starts(starts);
    search.run();
    return search.take_result();
}

StopReason too_many_starts(const StartEnumerator& starts, std::size_t words_per_state,
                           Budget& budget) {
    constexpr std::uint64_t kBesideState = 14;  // at least: slots of the table, and the parent
    StopReason stopped = StopReason::none;
    const auto diagram = StartDiagram::make(starts, budget, stopped);
    if (!diagram || stopped != StopReason::none) return stopped;
    if (diagram->total() > budget.max_states()) return StopReason::states;
    const std::uint64_t bytes = words_per_state * sizeof(Word) + kBesideState;
    return diagram->total() > budget.max_bytes() / bytes ? StopReason::memory : StopReason::none;
}

}  // namespace surefoot
