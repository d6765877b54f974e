#include "search/explore.h"

namespace surefoot {

namespace {

class Explorer {
public:
    Explorer(const Task& task, Budget& budget, StateStore& store)
        : budget_(budget), store_(store), stepper_(task.stepper()), width_(task.words()) {}

    void add_starts(const StartSource& starts) {
        const StopReason stopped = starts([this](const Word* state) {
            insert(state, store_.hash(state));
            if (!is_stopped()) counts_.stopped = budget_.poll(progress());
            return !is_stopped();
        });
        if (!is_stopped()) counts_.stopped = stopped;
        counts_.starts = store_.size();
        counts_.starts_complete = !is_stopped();
    }

    // Ids count up in the order of discovery, so every layer is a range of ids.
    void run() {
        std::uint32_t layer_begin = 0;
        while (layer_begin < store_.size() && !is_stopped()) {
            const std::uint32_t layer_end = store_.size();
            for (std::uint32_t id = layer_begin; id < layer_end && !is_stopped(); ++id) step(StateId{id});
            flush();
            if (store_.size() > layer_end) ++counts_.depth;
            layer_begin = layer_end;
        }
    }

    ExploreCounts counts() const {
        ExploreCounts counts = counts_;
        counts.states = store_.size();
        counts.bytes = store_.bytes();
        counts.seconds = budget_.seconds();
        return counts;
    }

private:
    struct Pending {
        std::uint64_t hash;
        std::size_t begin;
    };
    static constexpr std::size_t kMaxPending = 64;

    void step(StateId id) {
        stepper_->expand(store_[id], expansion_);
        ++counts_.expanded;
        if (expansion_.kind == StateKind::fail) ++counts_.fail;
        if (expansion_.kind == StateKind::goal) ++counts_.goal;
        if (expansion_.kind == StateKind::open && expansion_.choices.empty()) ++counts_.dead_ends;
        counts_.pairs += expansion_.choices.size();
        counts_.outcomes += expansion_.words.size() / width_;
        remember();
        if (pending_.size() >= kMaxPending) flush();
        if (!is_stopped()) counts_.stopped = budget_.poll(progress());
    }

    // Wait with the insertion until the slots asked for have come into the cache.
    void remember() {
        for (std::size_t at = 0; at < expansion_.words.size(); at += width_) {
            const std::uint64_t hash = store_.hash(expansion_.words.data() + at);
            store_.prefetch(hash);
            pending_.push_back({hash, pending_words_.size() + at});
        }
        pending_words_.insert(pending_words_.end(), expansion_.words.begin(), expansion_.words.end());
    }

    void flush() {
        for (const Pending& pending : pending_) {
            if (is_stopped()) break;
            insert(pending_words_.data() + pending.begin, pending.hash);
        }
        pending_.clear();
        pending_words_.clear();
    }

    void insert(const Word* state, std::uint64_t hash) {
        const bool is_full = store_.size() >= budget_.max_states();
        if (!is_full && store_.peak_bytes() <= budget_.max_bytes()) {
            store_.insert(state, hash);
        } else if (!store_.find(state)) {
            counts_.stopped = is_full ? StopReason::states : StopReason::memory;
        }
    }

    bool is_stopped() const { return counts_.stopped != StopReason::none; }

    Progress progress() const { return {store_.size(), counts_.expanded, counts_.depth, store_.bytes(), 0}; }

    Budget& budget_;
    StateStore& store_;
    std::unique_ptr<Stepper> stepper_;
    std::size_t width_;
    Expansion expansion_;
    std::vector<Pending> pending_;
    std::vector<Word> pending_words_;
    ExploreCounts counts_;
};

}  // namespace

ExploreCounts explore(const Task& task, const StartSource& starts, Budget& budget, StateStore& store) {
    Explorer explorer(task, budget, store);
    explorer.add_starts(starts);
    explorer.run();
    return explorer.counts();
}

}  // namespace surefoot
