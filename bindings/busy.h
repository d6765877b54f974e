/*
  Who is using an oracle.
*/
#pragma once

#include <stdexcept>

#include "oracle/task_oracle.h"

namespace surefoot {

// An oracle answers one question at a time, on one thread; its policy must not ask it.
class Busy {
public:
    explicit Busy(TaskOracle& oracle) : oracle_(oracle) {
        if (!oracle.begin_question()) throw std::runtime_error("the oracle is busy");
    }
    ~Busy() { oracle_.end_question(); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    TaskOracle& oracle_;
};

}  // namespace surefoot
