#include "verify/box_reached.h"

#include <utility>

namespace surefoot {

namespace {

constexpr std::uint64_t kMaxExact = 64;  // values of a variable that is kept exact
constexpr std::size_t kManyTerms = 3;    // of a constraint whose variables are not told apart
constexpr double kMaxLocations = 1e6;    // that one box meets
constexpr std::size_t kMaxHulls = 16;    // in a cell, whatever is bad between them

}  // namespace

BoxReached::BoxReached(BoxTask& task, const std::vector<Cut>& cuts)
    : task_(task), num_variables_(task.layout().num_variables()) {
    choose_classes(cuts);
}

void BoxReached::clear() {
    elements_.clear();
    queue_.clear();
    first_batch_ = 1;
    conflict_.reset();
    time_ = depth_ = bytes_ = 0;
    for (Location& location : locations_) {
        for (Cell& cell : location.cells) cell.elements.clear();
    }
}

// -- locations ----------------------------------------------------------------------------------

// Variables without whose values nobody can tell where steps lead: those that updates read, and
// those that share a condition with others.
std::vector<std::uint32_t> BoxReached::variables_to_know() const {
    std::vector<std::uint32_t> found;
    Formulas& formulas = task_.formulas();
    if (task_.fail()) formulas.collect_mixed(*task_.fail(), found);
    if (task_.goal()) formulas.collect_mixed(*task_.goal(), found);
    for (const BoxEdge& edge : task_.edges()) formulas.collect_mixed(edge.guard, found);
    const auto read = [&](NodeId node) {
        if (node == kNoNode) return;
        const auto variables = task_.task().pool().variables_of(node);
        found.insert(found.end(), variables.begin(), variables.end());
    };
    for (const EdgeSpec& edge : task_.task().edges()) {
        for (const OutcomeSpec& outcome : edge.outcomes) {
            for (NodeId node : outcome.probabilities) read(node);
            for (const AssignmentSpec& spec : outcome.assignments) {
                for (NodeId node : {spec.position, spec.value, spec.lower, spec.upper}) read(node);
            }
        }
    }
    return found;
}

void BoxReached::choose_classes(const std::vector<Cut>& given) {
    const Box& bounds = task_.bounds();
    std::vector<bool> is_data(bounds.size());
    for (const LinearBound& constraint : task_.constraints()) {
        if (constraint.terms.size() < kManyTerms) continue;
        for (const auto& [v, _] : constraint.terms) is_data[v] = true;
    }
    classes_.resize(num_variables_);
    for (std::uint32_t v : variables_to_know()) {
        if (v >= num_variables_ || is_data[v]) continue;
        classes_[v].is_exact =
            task_.layout().variable(v).type != Type::real && bounds.width(v) < kMaxExact;
    }
    std::vector<Cut> cuts;
    Formulas& formulas = task_.formulas();
    if (task_.fail()) formulas.collect_cuts(*task_.fail(), cuts);
    if (task_.goal()) formulas.collect_cuts(*task_.goal(), cuts);
    for (const BoxEdge& edge : task_.edges()) formulas.collect_cuts(edge.guard, cuts);
    std::erase_if(cuts, [&](const Cut& cut) { return is_data[cut.variable]; });
    cuts.insert(cuts.end(), given.begin(), given.end());
    for (const auto& [v, key] : cuts) {
        const bool counts = v < num_variables_ && !classes_[v].is_exact && bounds.lo[v] < key &&
                            key <= bounds.hi[v];
        if (counts) classes_[v].cuts.push_back(key);
    }
    for (std::uint32_t v = 0; v < num_variables_; ++v) {
        std::vector<Key>& keys = classes_[v].cuts;
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        if (classes_[v].is_exact || !keys.empty()) control_.push_back(v);
    }
}

std::uint32_t BoxReached::location(const std::vector<Key>& classes) {
    const auto [at, is_new] =
        locations_by_classes_.try_emplace(classes, static_cast<std::uint32_t>(locations_.size()));
    if (!is_new) return at->second;
    Location made{{Cell{}}, {}, {}, {}, {}};
    Box box = task_.bounds();
    narrow_to(classes, box);
    for (std::uint32_t e = 0; e < task_.edges().size(); ++e) {
        bool raises = false;
        const Truth truth = task_.formulas().evaluate(task_.edges()[e].guard, box, raises);
        if (truth != Truth::no || raises) made.edges.push_back(e);
    }
    made.bounds = std::move(box);
    locations_.push_back(std::move(made));
    return at->second;
}

void BoxReached::narrow_to(const std::vector<Key>& classes, Box& box) const {
    for (std::size_t i = 0; i < control_.size(); ++i) {
        const std::uint32_t v = control_[i];
        box.lo[v] = std::max(box.lo[v], classes_[v].first(classes[i], task_.bounds().lo[v]));
        box.hi[v] = std::min(box.hi[v], classes_[v].last(classes[i], task_.bounds().hi[v]));
    }
}

// Call `visit` with the classes of every location that the box meets, until it returns false.
template <typename Visit>
bool BoxReached::for_classes(const Box& box, Visit visit) const {
    std::vector<Key> first(control_.size());
    std::vector<Key> last(control_.size());
    for (std::size_t i = 0; i < control_.size(); ++i) {
        const std::uint32_t v = control_[i];
        first[i] = classes_[v].of(box.lo[v]);
        last[i] = classes_[v].of(box.hi[v]);
    }
    std::vector<Key> at = first;
    while (true) {
        if (!visit(at)) return false;
        std::size_t i = 0;
        for (; i < at.size(); ++i) {
            if (at[i]++ < last[i]) break;
            at[i] = first[i];
        }
        if (i == at.size()) return true;
    }
}

bool BoxReached::meets_too_many(const Box& box) const {
    double count = 1;
    for (std::uint32_t v : control_)
        count *= static_cast<double>(classes_[v].of(box.hi[v]) - classes_[v].of(box.lo[v]) + 1);
    return count > kMaxLocations;
}

// -- hulls --------------------------------------------------------------------------------------

bool BoxReached::covers(const Box& box) {
    if (meets_too_many(box)) return false;
    return for_classes(box, [&](const std::vector<Key>& classes) {
        const auto found = locations_by_classes_.find(classes);
        Box part = box;
        narrow_to(classes, part);
        if (!task_.tighten(part)) return true;
        return found != locations_by_classes_.end() &&
               covers_in(locations_[found->second], 0, std::move(part));
    });
}

bool BoxReached::covers_in(const Location& location, std::uint32_t number, Box box) {
    const Cell& cell = location.cells[number];
    if (cell.low == kNone) {
        return std::any_of(cell.elements.begin(), cell.elements.end(),
                           [&](std::uint32_t e) { return elements_[e].hull.contains(box); });
    }
    const auto [variable, key] = cell.cut;
    if (box.hi[variable] < key) return covers_in(location, cell.low, std::move(box));
    if (box.lo[variable] >= key) return covers_in(location, cell.high, std::move(box));
    Box low = box;
    low.hi[variable] = key - 1;
    box.lo[variable] = key;
    return (!task_.tighten(low) || covers_in(location, cell.low, std::move(low))) &&
           (!task_.tighten(box) || covers_in(location, cell.high, std::move(box)));
}

const BoxReached::Element* BoxReached::near(const Box& box) const {
    std::vector<Key> classes;
    for (std::uint32_t v : control_) {
        classes.push_back(classes_[v].of(box.lo[v]));
        if (classes.back() != classes_[v].of(box.hi[v])) return nullptr;
    }
    const auto found = locations_by_classes_.find(classes);
    if (found == locations_by_classes_.end()) return nullptr;
    const Location& location = locations_[found->second];
    const Cell* cell = &location.cells.front();
    while (cell->low != kNone) {
        const auto [variable, key] = cell->cut;
        if (box.lo[variable] < key && box.hi[variable] >= key) return nullptr;
        cell = &location.cells[box.hi[variable] < key ? cell->low : cell->high];
    }
    const Element* best = nullptr;
    for (std::uint32_t e : cell->elements) {
        const Element& one = elements_[e];
        if (best == nullptr || growth(one.hull, box) < growth(best->hull, box)) best = &one;
    }
    return best;
}

void BoxReached::reach(const Record& record, std::uint64_t depth) {
    if (meets_too_many(record.image)) {
        is_overwhelmed_ = true;
        return;
    }
    for_classes(record.image, [&](const std::vector<Key>& classes) {
        Box part = record.image;
        narrow_to(classes, part);
        if (task_.tighten(part)) reach_in(location(classes), 0, std::move(part), record, depth);
        return true;
    });
}

void BoxReached::reach_in(std::uint32_t place, std::uint32_t number, Box box, const Record& record,
                          std::uint64_t depth) {
    const Cell& cell = locations_[place].cells[number];
    if (cell.low == kNone) {
        join(place, number, box, record, depth);
        return;
    }
    const auto [variable, key] = cell.cut;
    const std::uint32_t high_number = cell.high;
    if (box.lo[variable] < key) {
        Box low = box;
        low.hi[variable] = std::min(low.hi[variable], key - 1);
        if (task_.tighten(low)) reach_in(place, cell.low, std::move(low), record, depth);
    }
    if (box.hi[variable] >= key) {
        box.lo[variable] = std::max(box.lo[variable], key);
        if (task_.tighten(box)) reach_in(place, high_number, std::move(box), record, depth);
    }
}

void BoxReached::join(std::uint32_t place, std::uint32_t number, const Box& box,
                      const Record& record, std::uint64_t depth) {
    for (std::uint32_t e : locations_[place].cells[number].elements) {
        if (elements_[e].hull.contains(box)) return;
    }
    std::vector<Box> parts;
    const std::uint32_t into = element_for(place, number, box, parts);
    queue(into, depth, std::move(parts));
    Element& element = elements_[into];
    depth_ = std::max(depth_, depth);
    element.records.push_back(
        {record.parent, record.edge, record.outcome, record.is_exact, record.source, box, ++time_});
    constexpr std::size_t kOther = 12;
    bytes_ += (box.size() * 4 + kOther) * sizeof(Key);
    const Box* const bad = bad_met(locations_[place], element.hull);
    if (bad == nullptr || conflict_) return;
    Box both = *bad;
    both.intersect(element.hull);
    conflict_ = {into, std::move(both)};
}

// The element whose hull contains the box from now on, and the parts that this adds to the hull.
std::uint32_t BoxReached::element_for(std::uint32_t place, std::uint32_t number, const Box& box,
                                      std::vector<Box>& parts) {
    std::vector<std::uint32_t>& elements = locations_[place].cells[number].elements;
    const std::uint32_t found = nearest(place, elements, box);
    if (found == kNone) {
        const auto made = static_cast<std::uint32_t>(elements_.size());
        elements_.push_back({place, box, {}, 0});
        parts.push_back(box);
        elements.push_back(made);
        return made;
    }
    Element& element = elements_[found];
    Box hull = element.hull;
    hull.join(box);
    task_.tighten(hull);
    subtract(hull, element.hull, parts);
    element.hull = std::move(hull);
    return found;
}

void BoxReached::queue(std::uint32_t element, std::uint64_t depth, std::vector<Box> parts) {
    const std::uint64_t number = elements_[element].batch;
    if (number >= first_batch_ && queue_[number - first_batch_].depth == depth) {
        std::vector<Box>& open = queue_[number - first_batch_].parts;
        for (Box& part : parts) open.push_back(std::move(part));
        return;
    }
    elements_[element].batch = first_batch_ + queue_.size();
    queue_.push_back({element, depth, std::move(parts)});
}

// The hull that grows least, and not into anything bad; kNone if there is to be a new one.
std::uint32_t BoxReached::nearest(std::uint32_t place, const std::vector<std::uint32_t>& elements,
                                  const Box& box) const {
    std::uint32_t best = kNone;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t e : elements) {
        const double more = growth(elements_[e].hull, box);
        if (more >= least) continue;
        Box joined = elements_[e].hull;
        joined.join(box);
        if (task_.tighten(joined) && bad_met(locations_[place], joined)) continue;
        least = more;
        best = e;
    }
    return best == kNone && elements.size() >= kMaxHulls ? elements.back() : best;
}

double BoxReached::growth(const Box& hull, const Box& box) const {
    double growth = 0;
    for (std::size_t v = 0; v < num_variables_; ++v) {
        const double width = static_cast<double>(hull.hi[v]) - static_cast<double>(hull.lo[v]) + 1;
        const double below = static_cast<double>(hull.lo[v]) - static_cast<double>(box.lo[v]);
        const double above = static_cast<double>(box.hi[v]) - static_cast<double>(hull.hi[v]);
        growth += (std::max(below, 0.0) + std::max(above, 0.0)) / width;
    }
    return growth;
}

std::optional<BoxReached::Batch> BoxReached::take() {
    if (queue_.empty()) return std::nullopt;
    Batch batch = std::move(queue_.front());
    queue_.pop_front();
    ++first_batch_;
    return batch;
}

// -- what is bad --------------------------------------------------------------------------------

const Box* BoxReached::bad_met(const Location& location, const Box& box) const {
    const Walls& walls = location.walls;
    for (std::size_t i = walls.meeting(box, 0); i < walls.size(); i = walls.meeting(box, i + 1)) {
        Box both = walls[i];
        both.intersect(box);
        if (task_.tighten(both)) return &walls[i];
    }
    return nullptr;
}

Box BoxReached::around(std::uint32_t element) const {
    Box box = locations_[elements_[element].location].bounds;
    task_.tighten(box);
    return box;
}

bool BoxReached::is_bad(const Box& box) {
    if (bads_.empty() || meets_too_many(box)) return false;
    return for_classes(box, [&](const std::vector<Key>& classes) {
        const auto at = locations_by_classes_.find(classes);
        if (at == locations_by_classes_.end()) return false;
        Box part = box;
        narrow_to(classes, part);
        return !task_.tighten(part) || locations_[at->second].walls.contains(part);
    });
}

std::optional<Box> BoxReached::bad_met(const Box& box) {
    std::optional<Box> found;
    if (bads_.empty() || meets_too_many(box)) return found;
    for_classes(box, [&](const std::vector<Key>& classes) {
        const auto at = locations_by_classes_.find(classes);
        if (at == locations_by_classes_.end()) return true;
        if (const Box* const bad = bad_met(locations_[at->second], box)) found = *bad;
        return !found;
    });
    return found;
}

std::optional<std::pair<std::uint32_t, Box>> BoxReached::take_conflict() {
    return std::exchange(conflict_, std::nullopt);
}

std::optional<std::uint32_t> BoxReached::bad_around(std::uint32_t element,
                                                    const Box& region) const {
    for (std::uint32_t number : locations_[elements_[element].location].bad) {
        if (bads_[number].contains(region)) return number;
    }
    return std::nullopt;
}

std::uint32_t BoxReached::add_bad(std::uint32_t element, const Box& region, bool& is_new) {
    Location& location = locations_[elements_[element].location];
    is_new |= !location.walls.contains(region);
    const auto made = static_cast<std::uint32_t>(bads_.size());
    bads_.push_back(region);
    location.bad.push_back(made);
    location.walls.add(region);
    return made;
}

std::optional<std::uint32_t> BoxReached::bad_at(const Box& box, std::uint32_t below) {
    std::optional<std::uint32_t> found;
    for_classes(box, [&](const std::vector<Key>& classes) {
        const auto at = locations_by_classes_.find(classes);
        if (at == locations_by_classes_.end()) return false;
        for (std::uint32_t number : locations_[at->second].bad) {
            if (number < below && bads_[number].contains(box)) found = number;
            if (found) break;
        }
        return false;
    });
    return found;
}

// -- cells --------------------------------------------------------------------------------------

bool BoxReached::cut_off(std::uint32_t element, const Box& region) {
    const Element& from = elements_[element];
    std::optional<Cut> best;
    std::size_t most = 0;
    const auto consider = [&](const Cut& cut, std::size_t apart) {
        if (apart <= most || !from.hull.is_divided_by(cut)) return;
        most = apart;
        best = cut;
    };
    for (std::uint32_t v = 0; v < num_variables_; ++v) {
        std::size_t below = 0;
        std::size_t above = 0;
        for (const Record& record : from.records) {
            below += record.image.hi[v] < region.lo[v];
            above += record.image.lo[v] > region.hi[v];
        }
        consider({v, region.lo[v]}, below);
        consider({v, region.hi[v] + 1}, above);
    }
    if (best) divide(element, *best);
    return best.has_value();
}

void BoxReached::divide(std::uint32_t element, const Cut& cut) {
    Location& location = locations_[elements_[element].location];
    const Box& hull = elements_[element].hull;
    std::uint32_t number = 0;
    while (location.cells[number].low != kNone) {
        const Cell& cell = location.cells[number];
        const bool is_low = hull.hi[cell.cut.variable] < cell.cut.key;
        const bool is_high = hull.lo[cell.cut.variable] >= cell.cut.key;
        if (!is_low && !is_high) return;  // just now, for another reason
        number = is_low ? cell.low : cell.high;
    }
    const auto low = static_cast<std::uint32_t>(location.cells.size());
    location.cells.resize(low + 2);
    Cell& cell = location.cells[number];
    cell.cut = cut;
    cell.low = low;
    cell.high = low + 1;
}

}  // namespace surefoot
