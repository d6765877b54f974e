#include "verify/box_walls.h"

#include <optional>

namespace surefoot {

namespace {

// The union of two boxes, if that is a box.
std::optional<Box> merged(const Box& a, const Box& b) {
    std::optional<std::size_t> different;
    for (std::size_t v = 0; v < a.size(); ++v) {
        if (a.lo[v] == b.lo[v] && a.hi[v] == b.hi[v]) continue;
        if (different) return std::nullopt;
        different = v;
    }
    if (!different) return a;
    const std::size_t v = *different;
    const bool is_apart = a.hi[v] < b.lo[v] - 1 || b.hi[v] < a.lo[v] - 1;
    if (is_apart) return std::nullopt;
    Box both = a;
    both.join(b);
    return both;
}

}  // namespace

void Walls::add(Box box) {
    // What was merged may merge with others.
    for (std::size_t i = 0; i < boxes_.size();) {
        if (boxes_[i].contains(box)) return;
        if (box.contains(boxes_[i])) {
            remove(i);
            continue;
        }
        if (auto both = merged(boxes_[i], box)) {
            box = std::move(*both);
            remove(i);
            i = 0;
            continue;
        }
        ++i;
    }
    store(box);
    boxes_.push_back(std::move(box));
}

bool Walls::contains(const Box& box) const {
    return std::any_of(boxes_.begin(), boxes_.end(),
                       [&](const Box& one) { return one.contains(box); });
}

std::size_t Walls::meeting(const Box& box, std::size_t from) const {
    const std::size_t variables = box.size();
    for (std::size_t i = from; i < boxes_.size(); ++i) {
        const Key* const bounds = bounds_.data() + 2 * variables * i;
        std::size_t v = 0;
        while (v < variables && bounds[2 * v] <= box.hi[v] && bounds[2 * v + 1] >= box.lo[v]) ++v;
        if (v == variables) return i;
    }
    return boxes_.size();
}

void Walls::remove(std::size_t number) {
    const std::size_t width = 2 * boxes_[number].size();
    boxes_[number] = std::move(boxes_.back());
    boxes_.pop_back();
    std::copy_n(bounds_.end() - static_cast<std::ptrdiff_t>(width), width,
                bounds_.begin() + static_cast<std::ptrdiff_t>(width * number));
    bounds_.resize(bounds_.size() - width);
}

void Walls::store(const Box& box) {
    for (std::size_t v = 0; v < box.size(); ++v) {
        bounds_.push_back(box.lo[v]);
        bounds_.push_back(box.hi[v]);
    }
}

}  // namespace surefoot
