#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <numeric>

#include "bindings.h"
#include "verify/box_search.h"
#include "verify/box_steps.h"

namespace surefoot {

namespace {

nb::object value_of(Type type, Key key) {
    if (type == Type::boolean) return nb::bool_(key != 0);
    if (type == Type::integer) return nb::int_(key);
    return nb::float_(real_of_key(key));
}

nb::list to_list(const Layout& layout, const Box& box) {
    nb::list bounds;
    for (std::size_t v = 0; v < layout.num_variables(); ++v) {
        const Type type = layout.variable(v).type;
        bounds.append(nb::make_tuple(value_of(type, box.lo[v]), value_of(type, box.hi[v])));
    }
    return bounds;
}

// (terms, lower, upper)
using ConstraintTuple =
    std::tuple<std::vector<std::pair<std::uint32_t, std::int64_t>>, std::int64_t, std::int64_t>;

std::vector<LinearBound> constraints_of(const Layout& layout,
                                        const std::vector<ConstraintTuple>& from) {
    std::vector<LinearBound> constraints;
    for (const auto& [terms, lower, upper] : from) {
        for (const auto& [variable, _] : terms) {
            if (variable >= layout.num_variables()) throw std::invalid_argument("no such variable");
        }
        constraints.push_back({terms, lower, upper});
    }
    return constraints;
}

// (variable, value from which on it is above the cut)
using CutTuple = std::tuple<std::uint32_t, double>;

std::vector<Cut> cuts_of(const Layout& layout, const std::vector<CutTuple>& from) {
    std::vector<Cut> cuts;
    for (const auto& [variable, value] : from) {
        if (variable >= layout.num_variables()) throw std::invalid_argument("no such variable");
        const bool is_real = layout.variable(variable).type == Type::real;
        cuts.push_back({variable, is_real ? key_of_real(value) : static_cast<Key>(value)});
    }
    return cuts;
}

// A result with its boxes as Python sees them.
struct FoundBoxes : BoxResult {
    std::vector<LinearBound> constraints;
    nb::list bounds;  // of each box
    nb::object failing_bounds;
    bool has_starts = false;
    bool may_raise_at_start = false;
};

FoundBoxes found_boxes(const BoxTask& task, BoxResult result, bool has_starts) {
    nb::list bounds;
    for (const Box& box : result.boxes) bounds.append(to_list(task.layout(), box));
    result.boxes = {};
    const nb::object failing = result.failing_starts
                                   ? nb::object(to_list(task.layout(), *result.failing_starts))
                                   : nb::none();
    return {std::move(result), task.constraints(), bounds,
            failing,           has_starts,         task.may_raise_at_start()};
}

// A part of a box, and where it leads.
struct PartImage {
    std::optional<std::uint32_t> edge;  // none: of a single state
    std::uint32_t outcome;
    nb::list source;
    nb::list image;
};

struct BoxPart {
    const char* what;
    nb::list box;
    std::optional<std::uint32_t> action;
    std::vector<PartImage> images;
};

std::vector<Word> given_states(const CompiledTask& task, const nb::object& states) {
    return states.is_none() ? std::vector<Word>{} : to_words(task, nb::cast<nb::bytes>(states));
}

std::optional<FoundBoxes> verify_box(
    const CompiledTask& task, const ScoredPolicy& policy, const nb::object& states,
    const std::vector<ConstraintTuple>& constraints, const std::vector<CutTuple>& cuts,
    std::uint32_t max_splits, std::uint32_t max_growth, std::optional<std::uint64_t> max_steps,
    std::optional<std::uint64_t> max_visited, std::size_t max_bad_states, double max_seconds,
    std::uint64_t max_bytes, const nb::object& progress) {
    const std::vector<Word> given = given_states(task, states);
    const std::vector<LinearBound> known = constraints_of(task.layout(), constraints);
    const BoxOptions options{
        cuts_of(task.layout(), cuts), max_splits,    max_growth, max_steps.value_or(~0ULL),
        max_visited.value_or(~0ULL),  max_bad_states};
    PythonBudget budget(max_seconds, max_bytes, ~std::uint64_t{0}, progress);
    const std::unique_ptr<BoxScores> scores = make_box_scores(task.layout(), policy);
    if (!scores) return std::nullopt;
    std::unique_ptr<BoxTask> boxes;
    BoxResult found;
    bool has_starts = false;
    {
        nb::gil_scoped_release let_other_threads_run;
        boxes = std::make_unique<BoxTask>(task, given, known);
        budget.budget().look_always();
        has_starts = !boxes->rule_out_start(boxes->bounds());
        if (has_starts) found = verify_boxes(*boxes, policy, *scores, options, budget.budget());
    }
    budget.raise_pending();
    return found_boxes(*boxes, std::move(found), has_starts);
}

// What a policy does in boxes, for who explores them in Python.
class PythonBoxes {
public:
    PythonBoxes(const CompiledTask& task, const ScoredPolicy& policy, const nb::object& states,
                const std::vector<ConstraintTuple>& constraints)
        : task_(task, given_states(task, states), constraints_of(task.layout(), constraints)),
          scores_(make_box_scores(task.layout(), policy)),
          edges_(task.edges().size()) {
        if (!scores_) throw std::invalid_argument("boxes cannot be scored by this policy");
        steps_ = std::make_unique<BoxSteps>(task_, policy, *scores_);
        std::iota(edges_.begin(), edges_.end(), 0U);
    }

    nb::list starts() const {
        nb::list list;
        for (const Box& box : task_.starts()) list.append(to_list(task_.layout(), box));
        return list;
    }
    std::vector<LinearBound> constraints() const { return task_.constraints(); }
    bool may_raise_at_start() const { return task_.may_raise_at_start(); }

    // The box in parts, each of which does the same everywhere, as far as that is known.
    std::vector<BoxPart> parts(const nb::list& bounds, std::size_t max_parts) {
        std::vector<BoxPart> found;
        std::vector<Box> open{box_of(bounds)};
        std::size_t work = 0;
        while (!open.empty()) {
            Box box = std::move(open.back());
            open.pop_back();
            if (!task_.tighten(box)) continue;
            const bool must_end = ++work >= max_parts;
            const std::optional<Cut> cut = look(box, must_end, found);
            if (!cut) continue;
            Box low = box;
            low.hi[cut->variable] = cut->key - 1;
            box.lo[cut->variable] = cut->key;
            open.push_back(std::move(box));
            open.push_back(std::move(low));
        }
        return found;
    }

    nb::object narrowed(const nb::list& bounds) {
        Box box = box_of(bounds);
        if (!task_.tighten(box)) return nb::none();
        return to_list(task_.layout(), box);
    }

    nb::object start_in(const nb::list& bounds) {
        const auto found = task_.start_in(box_of(bounds));
        if (!found) return nb::none();
        return to_bytes(found->data(), found->size());
    }

private:
    Box box_of(const nb::list& bounds) const {
        Box box = task_.bounds();
        if (bounds.size() != task_.layout().num_variables())
            throw std::invalid_argument("a box has bounds for each variable");
        for (std::size_t v = 0; v < bounds.size(); ++v) {
            const auto pair = nb::cast<nb::sequence>(bounds[v]);
            box.lo[v] = std::max(box.lo[v], key_of(v, pair[0]));
            box.hi[v] = std::min(box.hi[v], key_of(v, pair[1]));
            if (box.lo[v] > box.hi[v]) throw std::invalid_argument("the box is empty");
        }
        return box;
    }

    Key key_of(std::size_t v, const nb::object& value) const {
        if (task_.layout().variable(v).type == Type::real)
            return key_of_real(nb::cast<double>(value));
        return nb::cast<std::int64_t>(nb::int_(value));
    }

    void add(std::vector<BoxPart>& to, const char* what, const Box& box,
             std::optional<ActionId> action = std::nullopt, std::vector<PartImage> images = {}) {
        const auto number = action ? std::optional(surefoot::index(*action)) : std::nullopt;
        to.push_back({what, to_list(task_.layout(), box), number, std::move(images)});
    }

    // Append what the box does, if it does the same everywhere; else where to split it.
    std::optional<Cut> look(const Box& box, bool must_end, std::vector<BoxPart>& found) {
        if (steps_->is_state(box)) {
            look_at_state(box, found);
            return std::nullopt;
        }
        bool raises = false;
        const Truth fails = task_.is_fail(box, raises);
        if (fails == Truth::yes && !raises) {
            add(found, "fail", box);
            return std::nullopt;
        }
        if (fails != Truth::no || raises) {
            if (must_end) {
                add(found, "unsure", box);
                return std::nullopt;
            }
            const auto cut = task_.formulas().split(*task_.fail(), box);
            return cut ? *cut : steps_->split_anywhere(box);
        }
        if (task_.is_goal(box, raises) == Truth::yes && !raises) {
            add(found, "goal", box);
            return std::nullopt;
        }
        return step(box, must_end, raises, found);
    }

    std::optional<Cut> step(const Box& box, bool must_end, bool raises,
                            std::vector<BoxPart>& found) {
        steps_->look(box, edges_, raises);
        const bool is_fine = steps_->find_images() && !steps_->is_unsure();
        if (is_fine && (steps_->is_decided() || must_end)) {
            std::vector<PartImage> images;
            for (const BoxImage& step : steps_->images()) {
                images.push_back({step.edge, step.outcome, to_list(task_.layout(), step.source),
                                  to_list(task_.layout(), step.image)});
            }
            const bool is_one = steps_->is_decided() && steps_->candidates().size() == 1;
            add(found, steps_->is_decided() ? "step" : "coarse", box,
                is_one ? std::optional(steps_->candidates()[0]) : std::nullopt, std::move(images));
            return std::nullopt;
        }
        if (!must_end) return steps_->split();
        add(found, "unsure", box);
        return std::nullopt;
    }

    void look_at_state(const Box& box, std::vector<BoxPart>& found) {
        const std::vector<Word> state = task_.state_of(box);
        const StateKind kind = steps_->kind(state.data());
        if (kind != StateKind::open) {
            add(found, kind == StateKind::fail ? "fail" : "goal", box);
            return;
        }
        const auto action = steps_->decide(state.data());
        std::vector<PartImage> images;
        const nb::list bounds = to_list(task_.layout(), box);
        for (std::size_t at = 0; at < steps_->outcomes().size(); at += state.size()) {
            const Box image = task_.box_of(steps_->outcomes().data() + at);
            images.push_back({std::nullopt, 0, bounds, to_list(task_.layout(), image)});
        }
        add(found, "step", box, action, std::move(images));
    }

    BoxTask task_;
    std::unique_ptr<BoxScores> scores_;
    std::vector<std::uint32_t> edges_;
    std::unique_ptr<BoxSteps> steps_;
};

void bind_parts(nb::module_& module) {
    nb::class_<LinearBound>(module, "LinearBound", "A linear sum of variables within bounds.")
        .def_ro("terms", &LinearBound::terms, "Variables and their factors.")
        .def_ro("lower", &LinearBound::lower)
        .def_ro("upper", &LinearBound::upper);
    nb::class_<PartImage>(module, "PartImage", "Where an outcome leads from a part of a box.")
        .def_ro("edge", &PartImage::edge, "None for single states.")
        .def_ro("outcome", &PartImage::outcome)
        .def_prop_ro(
            "source", [](const PartImage& image) { return image.source; },
            nb::sig("def source(self) -> list[tuple[float, float]]"))
        .def_prop_ro(
            "image", [](const PartImage& image) { return image.image; },
            nb::sig("def image(self) -> list[tuple[float, float]]"));
    nb::class_<BoxPart>(module, "BoxPart", "A part of a box.")
        .def_prop_ro(
            "what", [](const BoxPart& part) { return part.what; },
            nb::sig("def what(self) -> typing.Literal['fail', 'goal', 'step', 'coarse', 'unsure']"),
            "step: the same action everywhere; coarse: some of the images are real; unsure: not "
            "even that is known.")
        .def_prop_ro(
            "box", [](const BoxPart& part) { return part.box; },
            nb::sig("def box(self) -> list[tuple[float, float]]"))
        .def_ro("action", &BoxPart::action, "Of a step; None: silent ones, or none.")
        .def_ro("images", &BoxPart::images);
}

void bind_found_boxes(nb::module_& module) {
    nb::class_<FoundBoxes>(module, "BoxResult", "What verification with boxes found.")
        .def_prop_ro(
            "boxes", [](const FoundBoxes& result) { return result.bounds; },
            nb::sig("def boxes(self) -> list[list[tuple[float, float]]]"),
            "Bounds of each variable in each box.")
        .def_ro("constraints", &FoundBoxes::constraints)
        .def_ro("run", &FoundBoxes::run, "That fails, if one was found.")
        .def_prop_ro(
            "failing_starts", [](const FoundBoxes& result) { return result.failing_bounds; },
            nb::sig("def failing_starts(self) -> list[tuple[float, float]] | None"))
        .def_prop_ro("bad_states",
                     [](const FoundBoxes& result) { return to_bytes(result.bad_states); })
        .def_ro("reached", &FoundBoxes::reached, "Boxes, when the search ended.")
        .def_ro("depth", &FoundBoxes::depth)
        .def_ro("refinements", &FoundBoxes::refinements)
        .def_ro("visited", &FoundBoxes::visited)
        .def_ro("rounding", &FoundBoxes::rounding)
        .def_prop_ro("stopped", &stopped_of<FoundBoxes>, kStoppedWords, kStopped)
        .def_ro("is_stuck", &FoundBoxes::is_stuck)
        .def_ro("is_cut", &FoundBoxes::is_cut)
        .def_ro("has_starts", &FoundBoxes::has_starts)
        .def_ro("may_raise_at_start", &FoundBoxes::may_raise_at_start);
}

}  // namespace

void bind_box(nb::module_& module) {
    bind_parts(module);
    bind_found_boxes(module);
    nb::class_<PythonBoxes>(module, "Boxes",
                            "What a policy does in boxes: bounds (low, high) for each variable.")
        .def(nb::init<const CompiledTask&, const ScoredPolicy&, const nb::object&,
                      const std::vector<ConstraintTuple>&>(),
             "task"_a, "policy"_a, "states"_a.none(), "constraints"_a, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>())
        .def("starts", &PythonBoxes::starts,
             nb::sig("def starts(self) -> list[list[tuple[float, float]]]"),
             "Return boxes that contain all start states.")
        .def("may_raise_at_start", &PythonBoxes::may_raise_at_start,
             "Return whether the start condition may be an error in some state.")
        .def("constraints", &PythonBoxes::constraints, "Return linear sums that no step changes.")
        .def("narrowed", &PythonBoxes::narrowed, "box"_a,
             nb::sig("def narrowed(self, box: list) -> list[tuple[float, float]] | None"),
             "Return the box, narrowed by the constraints; None if nothing is left.")
        .def("start_in", &PythonBoxes::start_in, "box"_a,
             nb::sig("def start_in(self, box: list) -> bytes | None"),
             "Return a packed start state in the box, if one is found.")
        .def("parts", &PythonBoxes::parts, "box"_a, "max_parts"_a, "Return the box in parts.");
    module.def(
        "verify_box", &verify_box, "task"_a, "policy"_a, "states"_a.none(), nb::kw_only(),
        "constraints"_a, "cuts"_a, "max_splits"_a, "max_growth"_a, "max_steps"_a.none(),
        "max_visited"_a.none(), "max_bad_states"_a, "max_seconds"_a, "max_bytes"_a,
        "progress"_a.none(),
        "Return boxes that no run of the policy leaves and none of which meets fail, or a "
        "failing run; None if the policy's scores cannot be bounded. If nothing is proved, also up "
        "to `max_bad_states` states from which runs fail, though perhaps no run comes there.");
}

}  // namespace surefoot
