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
            for (std::uint32_t id = layer_begin; id < layer_end && !is_stopped(); ++id)
                step(StateId{id});
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
    static constexpr std::size_t kBatch =
        64;  // outcomes whose table lines are on their way at a time

    void step(StateId id) {
        const std::size_t choices = batch_.choices.size();
        stepper_->expand(store_[id], batch_);
        ++counts_.expanded;
        counts_.fail += batch_.kind == StateKind::fail;
        counts_.goal += batch_.kind == StateKind::goal;
        counts_.dead_ends += batch_.kind == StateKind::open && batch_.choices.size() == choices;
        for (std::size_t at = hashes_.size() * width_; at < batch_.words.size(); at += width_) {
            hashes_.push_back(store_.hash(batch_.words.data() + at));
            store_.prefetch(hashes_.back());
        }
        if (hashes_.size() >= kBatch) flush();
        if (!is_stopped()) counts_.stopped = budget_.poll(progress());
    }

    // Insert the outcomes of the batch; by now their places in the table have come into the cache.
    void flush() {
        counts_.pairs += batch_.choices.size();
        counts_.outcomes += hashes_.size();
        for (std::size_t i = 0; i < hashes_.size() && !is_stopped(); ++i) {
            insert(batch_.words.data() + i * width_, hashes_[i]);
        }
        hashes_.clear();
        batch_.clear();
    }

    void insert(const Word* state, std::uint32_t hash) {
        const bool is_full = store_.size() >= budget_.max_states();
        if (!is_full && store_.peak_bytes() <= budget_.max_bytes()) {
            store_.insert(state, hash);
        } else if (!store_.find(state)) {
            counts_.stopped = is_full ? StopReason::states : StopReason::memory;
        }
    }

    bool is_stopped() const { return counts_.stopped != StopReason::none; }

    Progress progress() const {
        return {store_.size(), counts_.expanded, counts_.depth, store_.bytes(), 0};
    }

    Budget& budget_;
    StateStore& store_;
    std::unique_ptr<Stepper> stepper_;
    std::size_t width_;
    Expansion batch_;
    std::vector<std::uint32_t> hashes_;  // of the outcomes in the batch
    ExploreCounts counts_;
};

}  // namespace

ExploreCounts explore(const Task& task, const StartSource& starts, Budget& budget,
                      StateStore& store) {
    Explorer explorer(task, budget, store);
    explorer.add_starts(starts);
    explorer.run();
    return explorer.counts();
}

}  // namespace surefoot
