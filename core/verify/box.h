/*
  Boxes: a lower and an upper bound for each variable.

  Bounds are Keys: the value itself for integers and Booleans; for reals a number that is ordered
  like them, so that a box is always made of whole numbers. A Cut divides boxes: what is less than
  `key` in variable `variable`, and the rest.
*/
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "task/layout.h"

namespace surefoot {

using Key = std::int64_t;

// Of a variable: in what is wider, differences of keys may overflow.
constexpr std::uint64_t kMaxWidth = std::uint64_t{1} << 62;

struct Cut {
    std::uint32_t variable = 0;
    Key key = 0;
    bool operator==(const Cut&) const = default;
};

struct Box {
    std::vector<Key> lo;
    std::vector<Key> hi;

    std::size_t size() const { return lo.size(); }
    bool operator==(const Box&) const = default;

    bool is_point() const { return lo == hi; }
    bool contains(const Box& other) const {
        for (std::size_t v = 0; v < lo.size(); ++v) {
            if (other.lo[v] < lo[v] || other.hi[v] > hi[v]) return false;
        }
        return true;
    }
    bool meets(const Box& other) const {
        for (std::size_t v = 0; v < lo.size(); ++v) {
            if (other.hi[v] < lo[v] || other.lo[v] > hi[v]) return false;
        }
        return true;
    }
    // Cut away what is not in `other`; false if nothing is left.
    bool intersect(const Box& other) {
        bool is_left = true;
        for (std::size_t v = 0; v < lo.size(); ++v) {
            lo[v] = std::max(lo[v], other.lo[v]);
            hi[v] = std::min(hi[v], other.hi[v]);
            is_left &= lo[v] <= hi[v];
        }
        return is_left;
    }
    void join(const Box& other) {
        for (std::size_t v = 0; v < lo.size(); ++v) {
            lo[v] = std::min(lo[v], other.lo[v]);
            hi[v] = std::max(hi[v], other.hi[v]);
        }
    }
    // How many values less one.
    std::uint64_t width(std::size_t v) const {
        return static_cast<std::uint64_t>(hi[v]) - static_cast<std::uint64_t>(lo[v]);
    }
    bool is_divided_by(const Cut& cut) const {
        return lo[cut.variable] < cut.key && cut.key <= hi[cut.variable];
    }
};

// A real as a key, -0 as 0; and back.
inline Key key_of_real(double value) {
    const auto bits = std::bit_cast<std::int64_t>(value == 0 ? 0.0 : value);
    return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}
inline double real_of_key(Key key) {
    return std::bit_cast<double>(key >= 0 ? key : std::numeric_limits<std::int64_t>::min() - key);
}

// Bits as states have them, as a key; and back.
inline Key key_of(Type type, std::int64_t bits) {
    return type == Type::real ? key_of_real(std::bit_cast<double>(bits)) : bits;
}
inline std::int64_t bits_of(Type type, Key key) {
    return type == Type::real ? std::bit_cast<std::int64_t>(real_of_key(key)) : key;
}

// Append boxes that together are `all` without `part`.
void subtract(Box all, const Box& part, std::vector<Box>& to);

// A cut about the middle of a variable's range, which has more than one value.
Cut middle_cut(const Layout& layout, const Box& box, std::uint32_t variable);

}  // namespace surefoot
