/*
  The start states described by a condition.

  StartEnumerator lists all states within the bounds that satisfy the start condition. It assigns
  variable after variable, keeps the partial sums of linear conjuncts so that only values that can
  still work are tried, and checks every other conjunct as soon as its variables are assigned. What
  may raise an evaluation error is left to the end, where the whole condition is evaluated.

  It also draws states uniformly: from the enumeration if there is one, else by rejection from the
  box of the variables' ranges. StartSampler draws by counting (StartDiagram) where it can.
*/
#pragma once

#include <functional>
#include <map>

#include "base/budget.h"
#include "base/random.h"
#include "task/compiled_task.h"

namespace surefoot {

class StartEnumerator {
public:
    explicit StartEnumerator(const CompiledTask& task);

    // Whether no real variable is left with more than one value. If not, enumerate() must not be
    // called.
    bool is_finite() const { return is_finite_; }

    // Call `visit` with every start state, in a fixed order, until it returns false or the budget
    // ends.
    StopReason enumerate(Budget& budget, const std::function<bool(const Word*)>& visit) const;

    struct Sample {
        std::vector<Word> states;
        StopReason stopped = StopReason::none;
    };

    // `count` states, each drawn uniformly and independently from all start states, by listing all
    // of them. Empty if there are none.
    Sample sample_by_listing(std::size_t count, Random& random, Budget& budget) const;
    // The same by drawing from the ranges until the condition holds, `max_tries` times for each at
    // most.
    Sample sample_by_rejection(std::size_t count, std::uint64_t max_tries, Random& random,
                               Budget& budget) const;

private:
    friend class StartDiagram;

    struct Domain {
        std::int64_t lo = 0;
        std::int64_t hi = 0;
        double real_lo = 0;
        double real_hi = 0;
        std::vector<bool> allowed;  // by value - lo; empty: all
    };

    // sum of factor * value in lower..upper
    struct LinearConjunct {
        std::vector<std::pair<std::uint32_t, std::int64_t>> factors;  // by place in the order
        __int128 lower;
        __int128 upper;
    };

    struct Part {
        std::size_t conjunct;
        std::int64_t factor;
        __int128 rest_min;  // of the variables after this one
        __int128 rest_max;
    };

    struct Walk;

    void narrow(NodeId node);
    void narrow_integer(std::uint32_t variable, Op op, std::int64_t bound);
    void narrow_real(std::uint32_t variable, Op op, double bound);
    bool filter(NodeId node, std::uint32_t variable);
    bool add_linear(NodeId node);
    void add_check(NodeId node);
    void make_parts();
    enum class Next : std::uint8_t { found, none, not_yet };
    Next next_value(Walk& walk, std::size_t depth) const;
    bool passes_checks(Walk& walk, std::size_t depth) const;
    void leave(Walk& walk, std::size_t depth) const;
    bool enter(Walk& walk, std::size_t depth) const;
    void assign(Word* state, std::size_t variable, std::int64_t value) const;
    void draw(Random& random, std::vector<Word>& state) const;

    const CompiledTask& task_;
    const Pool& pool_;
    const Layout& layout_;
    std::vector<Domain> domains_;
    std::vector<LinearConjunct> linear_;
    std::vector<std::vector<Part>> parts_;      // by variable
    std::vector<std::vector<Program>> checks_;  // by the last variable they read
    std::map<std::uint32_t, std::uint32_t>
        read_until_;  // the last variable of a check that reads it
    Constants constants_;
    std::size_t num_registers_ = 0;
    std::uint64_t filter_work_left_ = std::uint64_t{1} << 27;  // instructions, about half a second
    bool needs_final_check_ = false;
    bool is_finite_ = true;
    bool is_empty_ = false;
};

// One walk through the tree of partial assignments.
struct StartEnumerator::Walk {
    Walk(const StartEnumerator& from)
        : state(from.layout_.words(), 0),
          scratch(from.layout_.num_scratch()),
          value(from.domains_.size()),
          last(from.domains_.size()),
          sums(from.linear_.size(), 0),
          registers(from.constants_, from.num_registers_) {}

    std::vector<Word> state;
    std::vector<std::int64_t> scratch;
    std::vector<std::int64_t> value;  // of the variables assigned so far
    std::vector<std::int64_t> last;   // the largest value worth trying
    std::vector<__int128> sums;       // of the linear conjuncts over the variables assigned so far
    Registers registers;
};

}  // namespace surefoot
