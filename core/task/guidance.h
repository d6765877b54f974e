/*
  How far a state is from what somebody looks for.

  Guidance is a real expression over the variables of a task, compiled on its own: say, the distance
  to where some condition holds. It is immutable; a Guide evaluates it and owns the memory for that,
  so every thread takes one of its own.
*/
#pragma once

#include "task/compiled_task.h"

namespace surefoot {

class Guidance {
public:
    // Throws std::invalid_argument on malformed nodes, if the root is not real, and if it reads a
    // scratch variable. The task need not stay.
    Guidance(const CompiledTask& task, const std::vector<Node>& nodes, NodeId root);
    Guidance(const Guidance&) = delete;
    Guidance& operator=(const Guidance&) = delete;

    std::size_t words() const { return layout_.words(); }

private:
    friend class Guide;

    Layout layout_;
    Constants constants_;
    Program program_;
};

class Guide {
public:
    // The guidance must stay.
    explicit Guide(const Guidance& guidance);

    // Throws ModelError if the expression cannot be evaluated.
    double distance(const Word* state);

private:
    const Guidance& guidance_;
    Registers registers_;
};

}  // namespace surefoot
