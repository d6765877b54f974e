/*
  Assignments that are done on the packed words directly.

  An Edit is one of three: set (some bits of one word become constants), step (a variable grows by a
  constant), sum (a variable becomes a linear sum of variables). All edits of a task stand in one
  EditTable, those of one outcome next to each other; most outcomes consist of nothing else.
*/
#pragma once

#include <optional>
#include <vector>

#include "task/expression.h"

namespace surefoot {

struct Edit {
    enum class Kind : std::uint8_t { set, step, sum };

    Kind kind;
    std::uint8_t shift;
    std::uint32_t word;
    std::uint32_t variable;
    std::uint32_t first_term;  // of a sum
    std::uint32_t end_term;
    Word mask;            // set: the bits to clear, in place; else the field's, not shifted
    std::uint64_t span;   // the largest stored value
    std::uint64_t value;  // set: the bits to set, in place; step: what is added; sum: what the
                          // terms are added to
};

// The edits of one outcome.
struct EditRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

class EditTable {
public:
    // Add the assignment variable := value behind the edits from `range.begin` on, if it can be
    // done by an edit; false if not.
    bool add(const Pool& pool, std::uint32_t variable, NodeId value, EditRange& range);

    EditRange empty_range() const {
        const auto at = static_cast<std::uint32_t>(edits_.size());
        return {at, at};
    }

    // What an edit that left its variable's range would have stored.
    struct Failure {
        const Edit* edit = nullptr;
        std::uint64_t stored = 0;
    };

    // Read from `state`, write to `next`, which begins as a copy of it.
    Failure apply(EditRange range, const Word* state, Word* next) const {
        const Edit* const end = edits_.data() + range.end;
        for (const Edit* edit = edits_.data() + range.begin; edit != end; ++edit) {
            if (edit->kind == Edit::Kind::set) {
                next[edit->word] = (next[edit->word] & ~edit->mask) | edit->value;
            } else if (edit->kind == Edit::Kind::step) {
                const std::uint64_t stored =
                    ((state[edit->word] >> edit->shift) & edit->mask) + edit->value;
                if (stored > edit->span) return {edit, stored};
                next[edit->word] += edit->value << edit->shift;
            } else {
                std::uint64_t stored = edit->value;
                for (std::uint32_t t = edit->first_term; t < edit->end_term; ++t) {
                    const Term& term = terms_[t];
                    stored += term.factor * ((state[term.word] >> term.shift) & term.mask);
                }
                if (stored > edit->span) return {edit, stored};
                Word& word = next[edit->word];
                word = (word & ~(edit->mask << edit->shift)) | (stored << edit->shift);
            }
        }
        return {};
    }

private:
    struct Term {
        std::uint32_t word;
        std::uint32_t shift;
        Word mask;
        std::uint64_t factor;
    };

    bool add_constant(const Layout& layout, std::uint32_t variable, std::int64_t bits,
                      EditRange& range);
    bool add_sum(const Pool& pool, std::uint32_t variable, NodeId value);
    Edit edit_of(const Layout& layout, std::uint32_t variable, Edit::Kind kind) const;

    std::vector<Edit> edits_;
    std::vector<Term> terms_;
};

}  // namespace surefoot
