/*
  A union of boxes, for asking often whether a box meets it.

  Walls merges boxes that make up a larger one, drops those inside others, and keeps the bounds side
  by side, so that a question is one pass through memory.
*/
#pragma once

#include "verify/box.h"

namespace surefoot {

class Walls {
public:
    void add(Box box);
    bool contains(const Box& box) const;

    // The first of the boxes, from number `from` on, that meets this one; size() if there is none.
    std::size_t meeting(const Box& box, std::size_t from) const;
    std::size_t size() const { return boxes_.size(); }
    const Box& operator[](std::size_t number) const { return boxes_[number]; }

private:
    void remove(std::size_t number);
    void store(const Box& box);

    std::vector<Box> boxes_;
    std::vector<Key> bounds_;  // of each box: lower and upper bound of each variable
};

}  // namespace surefoot
