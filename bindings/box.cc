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

nb::list to_list(const std::vector<LinearBound>& constraints) {
    nb::list list;
    for (const LinearBound& one : constraints)
        list.append(nb::make_tuple(one.terms, one.lower, one.upper));
    return list;
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

nb::dict to_dict(const BoxTask& boxes, const BoxResult& found) {
    const Layout& layout = boxes.layout();
    nb::dict result;
    nb::list list;
    for (const Box& box : found.boxes) list.append(to_list(layout, box));
    result["boxes"] = list;
    result["constraints"] = to_list(boxes.constraints());
    result["run"] = nb::none();
    if (found.run) {
        nb::list actions;
        for (ActionId action : found.run->actions) actions.append(index(action));
        result["run"] =
            nb::make_tuple(to_bytes(found.run->states.data(), found.run->states.size()), actions);
        result["failing_starts"] = to_list(layout, *found.failing_starts);
    }
    result["bad_states"] = to_bytes(found.bad_states.data(), found.bad_states.size());
    result["reached"] = found.reached;
    result["depth"] = found.depth;
    result["refinements"] = found.refinements;
    result["visited"] = found.visited;
    result["rounding"] = found.rounding;
    result["stopped"] = name_of(found.stopped);
    result["is_stuck"] = found.is_stuck;
    result["is_cut"] = found.is_cut;
    return result;
}

std::vector<Word> given_states(const CompiledTask& task, const nb::object& states) {
    return states.is_none() ? std::vector<Word>{} : to_words(task, nb::cast<nb::bytes>(states));
}

nb::object verify_box(const CompiledTask& task, ScoredPolicy& policy, const nb::object& states,
                      const std::vector<ConstraintTuple>& constraints,
                      const std::vector<CutTuple>& cuts, std::uint32_t max_splits,
                      std::uint32_t max_growth, std::optional<std::uint64_t> max_steps,
                      std::optional<std::uint64_t> max_visited, std::size_t max_bad_states,
                      double max_seconds, std::uint64_t max_bytes, const nb::object& progress) {
    const std::vector<Word> given = given_states(task, states);
    const std::vector<LinearBound> known = constraints_of(task.layout(), constraints);
    const BoxOptions options{
        cuts_of(task.layout(), cuts), max_splits,    max_growth, max_steps.value_or(~0ULL),
        max_visited.value_or(~0ULL),  max_bad_states};
    PythonBudget budget(max_seconds, max_bytes, ~std::uint64_t{0}, progress);
    const std::unique_ptr<BoxScores> scores = make_box_scores(task.layout(), policy);
    if (!scores) return nb::none();
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
    nb::dict result = to_dict(*boxes, found);
    result["has_starts"] = has_starts;
    result["may_raise_at_start"] = boxes->may_raise_at_start();
    return result;
}

// What a policy does in boxes, for who explores them in Python.
class PythonBoxes {
public:
    PythonBoxes(const CompiledTask& task, ScoredPolicy& policy, const nb::object& states,
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
    nb::list constraints() const { return to_list(task_.constraints()); }
    bool may_raise_at_start() const { return task_.may_raise_at_start(); }

    // Parts of a box: (what they do, their bounds, action or None, images).
    nb::list parts(const nb::list& bounds, std::size_t max_parts) {
        nb::list found;
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

    void add(nb::list& to, const char* what, const Box& box, const nb::object& action,
             const nb::list& images) {
        to.append(nb::make_tuple(what, to_list(task_.layout(), box), action, images));
    }

    // Append what the box does, if it does the same everywhere; else where to split it.
    std::optional<Cut> look(const Box& box, bool must_end, nb::list& found) {
        if (steps_->is_state(box)) {
            look_at_state(box, found);
            return std::nullopt;
        }
        bool raises = false;
        const Truth fails = task_.is_fail(box, raises);
        if (fails == Truth::yes && !raises) {
            add(found, "fail", box, nb::none(), {});
            return std::nullopt;
        }
        if (fails != Truth::no || raises) {
            if (must_end) {
                add(found, "unsure", box, nb::none(), {});
                return std::nullopt;
            }
            const auto cut = task_.formulas().split(*task_.fail(), box);
            return cut ? *cut : steps_->split_anywhere(box);
        }
        if (task_.is_goal(box, raises) == Truth::yes && !raises) {
            add(found, "goal", box, nb::none(), {});
            return std::nullopt;
        }
        return step(box, must_end, raises, found);
    }

    std::optional<Cut> step(const Box& box, bool must_end, bool raises, nb::list& found) {
        steps_->look(box, edges_, raises);
        const bool is_fine = steps_->find_images() && !steps_->is_unsure();
        if (is_fine && (steps_->is_decided() || must_end)) {
            nb::list images;
            for (const BoxImage& one : steps_->images()) {
                images.append(nb::make_tuple(one.edge, one.outcome,
                                             to_list(task_.layout(), one.source),
                                             to_list(task_.layout(), one.image)));
            }
            const bool is_one = steps_->is_decided() && steps_->candidates().size() == 1;
            const nb::object action =
                is_one ? nb::cast(index(steps_->candidates()[0])) : nb::none();
            add(found, steps_->is_decided() ? "step" : "coarse", box, action, images);
            return std::nullopt;
        }
        if (!must_end) return steps_->split();
        add(found, "unsure", box, nb::none(), {});
        return std::nullopt;
    }

    void look_at_state(const Box& box, nb::list& found) {
        const std::vector<Word> state = task_.state_of(box);
        const StateKind kind = steps_->kind(state.data());
        if (kind != StateKind::open) {
            add(found, kind == StateKind::fail ? "fail" : "goal", box, nb::none(), {});
            return;
        }
        const auto action = steps_->decide(state.data());
        nb::list images;
        const nb::object bounds = to_list(task_.layout(), box);
        for (std::size_t at = 0; at < steps_->outcomes().size(); at += state.size()) {
            const Box image = task_.box_of(steps_->outcomes().data() + at);
            images.append(nb::make_tuple(nb::none(), 0, bounds, to_list(task_.layout(), image)));
        }
        add(found, "step", box, action ? nb::cast(index(*action)) : nb::none(), images);
    }

    BoxTask task_;
    std::unique_ptr<BoxScores> scores_;
    std::vector<std::uint32_t> edges_;
    std::unique_ptr<BoxSteps> steps_;
};

}  // namespace

void bind_box(nb::module_& module) {
    nb::class_<PythonBoxes>(module, "Boxes",
                            "What a policy does in boxes: bounds (low, high) for each variable.")
        .def(nb::init<const CompiledTask&, ScoredPolicy&, const nb::object&,
                      const std::vector<ConstraintTuple>&>(),
             "task"_a, "policy"_a, "states"_a.none(), "constraints"_a, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>())
        .def("starts", &PythonBoxes::starts, "Return boxes that contain all start states.")
        .def("may_raise_at_start", &PythonBoxes::may_raise_at_start,
             "Return whether the start condition may be an error in some state.")
        .def("constraints", &PythonBoxes::constraints,
             "Return linear sums that no step changes: ((variable, factor), ...), lower, upper.")
        .def("narrowed", &PythonBoxes::narrowed, "box"_a,
             "Return the box, narrowed by the constraints; None if nothing is left.")
        .def("start_in", &PythonBoxes::start_in, "box"_a,
             "Return a packed start state in the box, if one is found.")
        .def("parts", &PythonBoxes::parts, "box"_a, "max_parts"_a,
             "Return the box in parts: (what, box, action, images), where `what` is fail, goal, "
             "step (the same action everywhere; None: silent ones, or none), coarse (some of the "
             "images are real) or unsure (not even that is known), and an image is (edge, outcome, "
             "source, image), with edge None for single states.");
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
