#include "verify/box_search.h"

#include <map>

#include "verify/box_reached.h"
#include "verify/box_steps.h"

namespace surefoot {

namespace {

using Record = BoxReached::Record;

constexpr std::uint32_t kMaxSplits = 1'000'000;
constexpr double kThin = 0.5;               // a part of a range
constexpr std::size_t kMaxFrames = 20'000;  // of one way back
constexpr std::size_t kMaxTargets = 128;    // of one exploration
constexpr std::size_t kMaxGaps = 16;        // that one way back closes
constexpr std::size_t kMaxResolve = 2'000;  // boxes looked at to find out what a step does

// Which part of what is reached must not be: it fails, or an error happens there, or it leads to
// what is known to be bad.
struct Target {
    std::uint32_t element;
    Box region;
    std::uint64_t time;  // only records before this count
};

// Of a hull: a box, and how often the hull was split to get there.
struct Part {
    Box box;
    std::uint32_t splits;
};

// A region of a hull on the way back from a target.
struct Frame {
    std::uint32_t element;
    Box region;
    std::uint64_t time;     // only records before this count
    std::size_t next = 0;   // record to look at
    bool has_met = false;   // a record may lead here
    std::uint32_t bad = 0;  // the number of the region
};

class BoxSearch {
public:
    BoxSearch(BoxTask& task, const ScoredPolicy& policy, BoxScores& scores,
              const BoxOptions& options, Budget& budget)
        : task_(task),
          options_(options),
          budget_(budget),
          steps_(task, policy, scores),
          reached_(task, options.cuts) {}

    BoxResult run() {
        bool goes_on = true;
        while (goes_on) {
            explore();
            goes_on = result_.stopped == StopReason::none && !targets_.empty() && refine();
        }
        result_.depth = reached_.depth();
        result_.reached = reached_.size();
        const bool is_closed = targets_.empty() && result_.stopped == StopReason::none;
        if (is_closed)
            collect();
        else
            draw_bad_states();
        return std::move(result_);
    }

private:
    void explore();
    bool is_stopped();
    void visit(std::uint32_t at, Part part);
    void visit_state(std::uint32_t at, const Box& box);
    bool step(std::uint32_t at, const Part& part, bool raises);
    std::optional<Cut> cut_of_new(const Box& box);
    bool is_tiring();
    bool is_too_small(const Part& part) const;
    bool is_harmless();
    bool is_doomed(std::uint32_t at, const Box& box);
    bool leads_to_bad(std::uint32_t at);
    bool is_bad_everywhere(const BoxImage& one);
    void reach(const Record& record);
    void add_target(std::uint32_t element, Box region);
    void note_rounding();
    void split(const Part& part, const Cut& cut, std::vector<Part>& open);
    void collect();
    void draw_bad_states();

    bool refine();
    bool follow(const Target& target, std::vector<std::pair<std::uint32_t, Box>>& gaps);
    void push(std::vector<Frame>& frames, Frame frame);
    void grow(std::uint32_t at, Box& region);
    void stretch(std::uint32_t at, const Box& region, Key& bound, Key end, bool is_whole);
    bool is_surely_bad(std::uint32_t at, Box box);
    std::optional<Frame> previous(Frame& frame);
    bool resolve(const Record& record, const Box& region, Box& source);
    bool leads_into(const Box& state, ActionId action, const Box& region);
    bool is_surely(const Record& record, const Box& region, const Box& box,
                   std::optional<Cut>& cut);
    bool replay(std::uint32_t bad, const Box& starts);
    bool cut_somewhere(const Target& target);
    bool cut_before(std::uint32_t element);

    BoxTask& task_;
    const BoxOptions& options_;
    Budget& budget_;
    BoxSteps steps_;
    BoxReached reached_;
    std::vector<Part> open_;
    std::uint64_t depth_ = 0;  // of the parts at hand
    std::vector<Target> targets_;
    bool has_learned_ = false;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> followed_;  // by element, bad
    BoxResult result_;
};

// -- exploring ----------------------------------------------------------------------------------

void BoxSearch::explore() {
    targets_.clear();
    reached_.clear();
    result_.rounding = 0;
    result_.is_cut = false;
    for (const Box& box : task_.starts())
        reach({kNoElement, Record::kStateStep, 0, true, box, box});
    if (is_stopped()) return;
    open_.clear();
    const std::size_t enough = task_.has_reals() ? 1 : kMaxTargets;
    while (targets_.size() < enough) {
        auto batch = reached_.take();
        if (!batch) return;
        depth_ = batch->depth;
        for (Box& box : batch->parts) open_.push_back({std::move(box), 0});
        while (!open_.empty()) {
            Part part = std::move(open_.back());
            open_.pop_back();
            ++result_.visited;
            if (task_.tighten(part.box)) visit(batch->element, std::move(part));
            if (targets_.size() >= enough || is_stopped()) return;
        }
    }
}

bool BoxSearch::is_stopped() {
    const Progress progress{reached_.size(), result_.refinements, reached_.depth(),
                            reached_.bytes(), 0};
    result_.stopped = budget_.poll(progress);
    const bool is_enough = result_.visited >= options_.max_visited;
    if (is_enough || reached_.is_overwhelmed()) result_.stopped = StopReason::states;
    return result_.stopped != StopReason::none;
}

// See where runs go from a part of a hull.
void BoxSearch::visit(std::uint32_t at, Part part) {
    if (steps_.is_state(part.box)) {
        visit_state(at, part.box);
        return;
    }
    bool raises = false;
    const Truth fails = task_.is_fail(part.box, raises);
    if (fails == Truth::yes && !raises) {
        add_target(at, std::move(part.box));
        return;
    }
    if (fails != Truth::no || raises) {
        if (is_too_small(part)) {
            add_target(at, std::move(part.box));
            return;
        }
        const auto cut = task_.formulas().split(*task_.fail(), part.box);
        split(part, cut ? *cut : steps_.split_anywhere(part.box), open_);
        return;
    }
    if (task_.is_goal(part.box, raises) == Truth::yes && !raises) return;
    if (depth_ >= options_.max_steps) {
        result_.is_cut = true;
        return;
    }
    if (step(at, part, raises)) return;
    if (is_too_small(part)) {
        add_target(at, std::move(part.box));
        return;
    }
    const auto cut = cut_of_new(part.box);
    split(part, cut ? *cut : steps_.split(), open_);
}

// Just as states are stepped. Errors are targets, as failing states are.
void BoxSearch::visit_state(std::uint32_t at, const Box& box) {
    const std::vector<Word> state = task_.state_of(box);
    try {
        const StateKind kind = steps_.kind(state.data());
        if (kind == StateKind::fail) add_target(at, box);
        if (kind != StateKind::open) return;
        if (depth_ >= options_.max_steps) {
            result_.is_cut = true;
            return;
        }
        steps_.decide(state.data());
        steps_.look(box, reached_.edges_of(at));
        note_rounding();
    } catch (const ModelError&) {
        add_target(at, box);
        return;
    } catch (const PolicyError&) {
        add_target(at, box);
        return;
    }
    for (std::size_t i = 0; i < steps_.outcomes().size(); i += state.size()) {
        const Box image = task_.box_of(steps_.outcomes().data() + i);
        if (!reached_.covers(image)) reach({at, Record::kStateStep, 0, true, box, image});
    }
}

// Reach what a part of a hull leads to; false if it must be split first, or is a target.
bool BoxSearch::step(std::uint32_t at, const Part& part, bool raises) {
    steps_.look(part.box, reached_.edges_of(at), raises);
    const bool is_fine = steps_.find_images() && !steps_.is_unsure();
    const auto& images = steps_.images();
    if (is_fine && std::all_of(images.begin(), images.end(),
                               [&](const BoxImage& one) { return reached_.covers(one.image); })) {
        note_rounding();
        return true;
    }
    const bool is_exact = steps_.is_decided();
    // Conditions over reals may never be settled by splitting.
    const bool is_known = !steps_.has_goal() && steps_.is_applicable();
    const bool is_coarse = !is_exact && (is_known || task_.has_reals()) &&
                           (part.splits >= options_.max_splits || is_tiring());
    if (is_fine && (is_exact || (is_coarse && is_harmless()))) {
        if (is_exact) note_rounding();
        for (const BoxImage& one : images) {
            if (!reached_.covers(one.image))
                reach({at, one.edge, one.outcome, is_exact, one.source, one.image});
        }
        return true;
    }
    if (!is_exact && is_doomed(at, part.box)) return true;
    return false;
}

// Most of a box may lead to what is reached: then a cut that leaves the rest, where that is thin.
std::optional<Cut> BoxSearch::cut_of_new(const Box& box) {
    if (steps_.is_unsure() || !steps_.is_applicable()) return std::nullopt;
    Box known = box;
    for (const BoxImage& one : steps_.images()) {
        if (reached_.covers(one.image)) continue;
        const auto* const element = reached_.near(one.image);
        const BoxOutcome& outcome = task_.edges()[one.edge].outcomes[one.outcome];
        if (element == nullptr || !task_.preimage(outcome, element->hull, known))
            return std::nullopt;
    }
    std::optional<Cut> best;
    double thinnest = kThin;
    const auto consider = [&](const Cut& cut, Key from, Key to) {
        const double width = static_cast<double>(box.width(cut.variable)) + 1;
        const double share = (static_cast<double>(to) - static_cast<double>(from) + 1) / width;
        if (to < from || share > thinnest) return;
        thinnest = share;
        best = cut;
    };
    for (std::uint32_t v = 0; v < task_.layout().num_variables(); ++v) {
        consider({v, known.lo[v]}, box.lo[v], known.lo[v] - 1);
        consider({v, known.hi[v] + 1}, known.hi[v] + 1, box.hi[v]);
    }
    return best;
}

// Whether all that is new would go into hulls that have grown often enough.
bool BoxSearch::is_tiring() {
    const auto& images = steps_.images();
    return std::all_of(images.begin(), images.end(), [&](const BoxImage& one) {
        if (reached_.covers(one.image)) return true;
        const auto* const element = reached_.near(one.image);
        return element != nullptr && element->records.size() >= options_.max_growth;
    });
}

// Whether no image fails or meets anything that is known to be bad.
bool BoxSearch::is_harmless() {
    const auto& images = steps_.images();
    return std::none_of(images.begin(), images.end(), [&](const BoxImage& one) {
        bool raises = false;
        const Truth fails = task_.is_fail(one.image, raises);
        return fails != Truth::no || raises || reached_.bad_met(one.image);
    });
}

// Whether all of a box is bad: then it is the next target.
bool BoxSearch::is_doomed(std::uint32_t at, const Box& box) {
    if (!leads_to_bad(at)) return false;
    add_target(at, box);
    return true;
}

// Whether every decision that is possible in the box at hand leads to something bad.
bool BoxSearch::leads_to_bad(std::uint32_t at) {
    if (steps_.is_unsure() || steps_.has_goal() || steps_.is_forced()) return false;
    const auto& images = steps_.images();
    bool is_sure = false;
    for (ActionId action : steps_.candidates()) is_sure |= steps_.status(action) == Truth::yes;
    for (std::uint32_t e : reached_.edges_of(at)) {
        if (!steps_.is_candidate(task_.edges()[e].action) || !steps_.may_be_enabled(e)) continue;
        const bool is_bad = std::any_of(images.begin(), images.end(), [&](const BoxImage& one) {
            return one.edge == e && is_bad_everywhere(one);
        });
        if (!is_bad) return false;
    }
    return is_sure;
}

bool BoxSearch::is_bad_everywhere(const BoxImage& one) {
    bool raises = false;
    const BoxOutcome& outcome = task_.edges()[one.edge].outcomes[one.outcome];
    const bool is_possible = task_.is_possible(outcome, one.source, raises) == Truth::yes;
    if (!is_possible || raises) return false;
    return reached_.is_bad(one.image);
}

// Reach the image of a record. What is bad is the next target.
void BoxSearch::reach(const Record& record) {
    const bool is_start = record.parent == kNoElement;
    const auto bad = is_start ? std::nullopt : reached_.bad_met(record.image);
    if (bad) {
        Box image = record.image;
        Box source = record.source;
        image.intersect(*bad);
        if (record.edge == Record::kStateStep || resolve(record, image, source)) {
            add_target(record.parent, std::move(source));
            return;
        }
    }
    reached_.reach(record, is_start ? 0 : depth_ + 1);
    if (auto conflict = reached_.take_conflict())
        add_target(conflict->first, std::move(conflict->second));
}

// Whether a box over reals was split so often that nothing more comes of it.
bool BoxSearch::is_too_small(const Part& part) const {
    constexpr std::uint32_t kMore = 16;  // splits to tell what is harmless from what is not
    return task_.has_reals() && options_.max_splits < kMaxSplits &&
           part.splits >= options_.max_splits + kMore;
}

void BoxSearch::add_target(std::uint32_t element, Box region) {
    targets_.push_back({element, std::move(region), reached_.time() + 1});
}

void BoxSearch::note_rounding() { result_.rounding += steps_.could_differ(); }

void BoxSearch::split(const Part& part, const Cut& cut, std::vector<Part>& open) {
    open.push_back({part.box, part.splits + 1});
    open.back().box.lo[cut.variable] = cut.key;
    open.push_back({part.box, part.splits + 1});
    open.back().box.hi[cut.variable] = cut.key - 1;
}

void BoxSearch::collect() {
    for (std::uint32_t e = 0; e < reached_.size(); ++e) result_.boxes.push_back(reached_[e].hull);
}

// A state of each bad region, of the latest first.
void BoxSearch::draw_bad_states() {
    std::size_t drawn = 0;
    for (std::uint32_t bad = reached_.num_bad(); bad > 0 && drawn < options_.max_bad_states;) {
        Random random(0, --bad);
        const auto state = task_.draw_state(reached_.bad(bad), random);
        if (!state) continue;
        ++drawn;
        result_.bad_states.insert(result_.bad_states.end(), state->begin(), state->end());
    }
}

// -- the way back -------------------------------------------------------------------------------

// Follow the targets back. Return whether something was learned; if not, the search is over.
bool BoxSearch::refine() {
    has_learned_ = false;
    followed_.clear();
    std::vector<std::pair<std::uint32_t, Box>> gaps;
    for (const Target& target : targets_) {
        if (!follow(target, gaps)) return false;
        if (task_.has_reals()) break;  // the way back is seldom exact: one try is enough
    }
    if (task_.has_reals()) {
        result_.is_stuck = true;
        return false;
    }
    std::size_t added = 0;
    for (const auto& [element, region] : gaps) added += reached_.cut_off(element, region);
    if (added == 0 && !has_learned_) added += cut_somewhere(targets_.front());
    result_.refinements += added;
    result_.is_stuck = added == 0 && !has_learned_;
    return !result_.is_stuck;
}

// Follow a target back; false if that ends in a start state, or time is up. What was learned on the
// way: which boxes are bad, and in which elements nothing leads to them.
bool BoxSearch::follow(const Target& target, std::vector<std::pair<std::uint32_t, Box>>& gaps) {
    std::vector<Frame> frames;
    push(frames, {target.element, target.region, target.time});
    const std::size_t enough = gaps.size() + kMaxGaps;
    for (std::size_t work = 0; !frames.empty() && work < kMaxFrames; ++work) {
        if (is_stopped()) return false;
        if (gaps.size() == enough) break;
        std::optional<Frame> before = previous(frames.back());
        if (!before) {
            if (!frames.back().has_met)
                gaps.emplace_back(frames.back().element, frames.back().region);
            frames.pop_back();
        } else if (before->element != kNoElement) {
            push(frames, std::move(*before));
        } else if (replay(frames.back().bad, before->region)) {
            return false;
        }
    }
    return true;
}

// Go on with a frame, whose region is bad because it leads to that of the last one; unless others
// have gone on from there.
void BoxSearch::push(std::vector<Frame>& frames, Frame frame) {
    std::optional<std::uint32_t> known = reached_.bad_around(frame.element, frame.region);
    if (known) {
        frame.region = reached_.bad(*known);
    } else {
        if (!task_.has_reals()) grow(frame.element, frame.region);
        known = reached_.add_bad(frame.element, frame.region, has_learned_);
    }
    frame.bad = *known;
    std::uint64_t& until = followed_[{frame.element, frame.bad}];
    if (until >= frame.time) return;
    until = frame.time;
    frames.push_back(std::move(frame));
}

// Make a bad region as large as it is easily shown to be: each bound as far as it goes, then by
// halves of what is left.
void BoxSearch::grow(std::uint32_t at, Box& region) {
    const Box most = reached_.around(at);
    for (const bool is_whole : {true, false}) {
        for (std::uint32_t v = 0; v < task_.layout().num_variables(); ++v) {
            if (most.width(v) > kMaxWidth) continue;
            stretch(at, region, region.lo[v], most.lo[v], is_whole);
            stretch(at, region, region.hi[v], most.hi[v], is_whole);
        }
    }
}

// Move a bound of a bad region towards `end` as long as all of it is bad.
void BoxSearch::stretch(std::uint32_t at, const Box& region, Key& bound, Key end, bool is_whole) {
    Key by = is_whole ? end - bound : (end - bound) / 2;
    while (by != 0) {
        bound += by;
        if (is_surely_bad(at, region)) {
            if (std::abs(by) > std::abs(end - bound)) by = end - bound;
            continue;
        }
        bound -= by;
        by = is_whole ? 0 : by / 2;
    }
}

bool BoxSearch::is_surely_bad(std::uint32_t at, Box box) {
    if (!task_.tighten(box)) return false;
    bool raises = false;
    const Truth fails = task_.is_fail(box, raises);
    if (raises || fails != Truth::no) return fails == Truth::yes && !raises;
    steps_.look(box, reached_.edges_of(at));
    steps_.find_images();
    return leads_to_bad(at);
}

// The next way to come to the frame's region; kNoElement is for a start. None if there is no other.
std::optional<Frame> BoxSearch::previous(Frame& frame) {
    const std::vector<Record>& records = reached_[frame.element].records;
    while (frame.next < records.size()) {
        const Record& record = records[frame.next++];
        if (record.time >= frame.time) return std::nullopt;
        Box image = record.image;
        if (!image.intersect(frame.region) || !task_.tighten(image)) continue;
        if (record.parent == kNoElement) {
            if (!task_.rule_out_start(image))
                return Frame{kNoElement, std::move(image), record.time};
            has_learned_ = true;
            continue;
        }
        Box source = record.source;
        if (record.edge == Record::kStateStep)
            return Frame{record.parent, std::move(source), record.time};
        const BoxOutcome& outcome = task_.edges()[record.edge].outcomes[record.outcome];
        if (!task_.preimage(outcome, image, source)) continue;
        frame.has_met = true;
        if (resolve(record, image, source))
            return Frame{record.parent, std::move(source), record.time};
    }
    return std::nullopt;
}

// Narrow `source` to a box from all of which the policy leads into `region` as the record says;
// false if none is found.
bool BoxSearch::resolve(const Record& record, const Box& region, Box& source) {
    const BoxEdge& edge = task_.edges()[record.edge];
    std::vector<Part> open{{source, 0}};
    for (std::size_t work = 0; !open.empty() && work < kMaxResolve; ++work) {
        Part part = std::move(open.back());
        open.pop_back();
        Box& box = part.box;
        const bool is_possible = task_.preimage(edge.outcomes[record.outcome], region, box) &&
                                 task_.formulas().assume(edge.guard, box) && task_.tighten(box);
        if (!is_possible) continue;
        std::optional<Cut> cut;
        const bool is_found = steps_.is_state(box) ? leads_into(box, edge.action, region)
                                                   : is_surely(record, region, box, cut);
        if (is_found) {
            source = std::move(box);
            return true;
        }
        if (cut) split(part, *cut, open);
    }
    return false;
}

bool BoxSearch::leads_into(const Box& state, ActionId action, const Box& region) {
    const std::vector<Word> words = task_.state_of(state);
    if (steps_.kind(words.data()) != StateKind::open) return false;
    const auto decision = steps_.decide(words.data());
    const bool is_silent = index(action) >= task_.task().first_silent();
    if (!decision || (!is_silent && *decision != action)) return false;
    for (std::size_t at = 0; at < steps_.outcomes().size(); at += words.size()) {
        if (region.contains(task_.box_of(steps_.outcomes().data() + at))) return true;
    }
    return false;
}

// Whether the step of the record leads from everywhere in the box into the region. If not, where to
// split the box; no cut: it leads there from nowhere.
bool BoxSearch::is_surely(const Record& record, const Box& region, const Box& box,
                          std::optional<Cut>& cut) {
    const BoxEdge& edge = task_.edges()[record.edge];
    const BoxOutcome& outcome = edge.outcomes[record.outcome];
    bool raises = false;
    if (!record.is_exact) {
        if (task_.is_goal(box, raises) == Truth::yes) return false;
        steps_.look(box, reached_.edges_of(record.parent), raises);
        if (!steps_.is_candidate(edge.action)) return false;
        if (!steps_.is_decided()) {
            cut = steps_.split();
            return false;
        }
    }
    if (task_.formulas().evaluate(edge.guard, box, raises) != Truth::yes || raises) {
        cut = task_.formulas().split(edge.guard, box);
        if (!cut) cut = steps_.split_anywhere(box);
        return false;
    }
    const bool is_possible = task_.is_possible(outcome, box, raises) == Truth::yes;
    const auto image = task_.image(outcome, box, raises);
    if (is_possible && !raises && image && region.contains(*image)) return true;
    cut = steps_.split_anywhere(box);
    return false;
}

// Whether a run from a start state in `starts` goes through bad boxes, from number `bad` on, until
// it fails. Then it is the result.
bool BoxSearch::replay(std::uint32_t bad, const Box& starts) {
    const auto start = task_.start_in(starts);
    if (!start) return false;
    FailingRun run;
    std::vector<Word> state = *start;
    while (true) {
        run.states.insert(run.states.end(), state.begin(), state.end());
        const StateKind kind = steps_.kind(state.data());
        if (kind == StateKind::fail) break;
        if (kind == StateKind::goal) return false;
        const auto action = steps_.decide(state.data());  // throws if that is what is bad
        if (!action) return false;
        run.actions.push_back(*action);
        const std::uint32_t before = bad;
        for (std::size_t at = 0; at < steps_.outcomes().size(); at += state.size()) {
            const Word* const next = steps_.outcomes().data() + at;
            const auto number = reached_.bad_at(task_.box_of(next), bad);
            if (!number) continue;
            state.assign(next, next + state.size());
            bad = *number;
        }
        if (bad == before) return false;
    }
    result_.run = std::move(run);
    result_.failing_starts = starts;
    return true;
}

// Neither a gap nor a real run was found, and nothing new is bad. Divide the target's hull.
bool BoxSearch::cut_somewhere(const Target& target) {
    const Box& hull = reached_[target.element].hull;
    if (steps_.is_state(hull)) return cut_before(target.element);
    std::optional<Cut> best;
    for (std::uint32_t v = 0; v < task_.layout().num_variables() && !best; ++v) {
        const Box& region = target.region;
        for (const Cut& cut : {Cut{v, region.lo[v]}, Cut{v, region.hi[v] + 1}}) {
            if (hull.is_divided_by(cut)) best = cut;
        }
    }
    reached_.divide(target.element, best ? *best : steps_.split_anywhere(hull));
    return true;
}

// Divide the nearest hull on the way to an element that is more than one state.
bool BoxSearch::cut_before(std::uint32_t element) {
    std::vector<bool> is_known(reached_.size());
    while (!is_known[element]) {
        is_known[element] = true;
        const std::uint32_t parent = reached_[element].records.front().parent;
        if (parent == kNoElement) return false;
        element = parent;
        const Box& hull = reached_[element].hull;
        if (steps_.is_state(hull)) continue;
        reached_.divide(element, steps_.split_anywhere(hull));
        return true;
    }
    return false;
}

}  // namespace

BoxResult verify_boxes(BoxTask& task, const ScoredPolicy& policy, BoxScores& scores,
                       const BoxOptions& options, Budget& budget) {
    return BoxSearch(task, policy, scores, options, budget).run();
}

}  // namespace surefoot
