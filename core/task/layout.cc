#include "task/layout.h"

#include <algorithm>
#include <stdexcept>

namespace surefoot {

namespace {

constexpr std::int64_t kMaxBound = std::int64_t{1}
                                   << 62;  // distances between bounds must not overflow
constexpr std::size_t kWordsToTry = 8;     // keeps packing linear for arrays of many thousand cells

Field field_for(const VariableSpec& spec) {
    Field field;
    if (spec.type == Type::real) {
        field.bits = 64;
        field.span = ~std::uint64_t{0};
    } else {
        field.lower = spec.lower;
        field.span =
            static_cast<std::uint64_t>(spec.upper) - static_cast<std::uint64_t>(spec.lower);
        field.bits = static_cast<std::uint32_t>(std::bit_width(field.span));
    }
    field.mask = field.bits == 64 ? ~Word{0} : (Word{1} << field.bits) - 1;
    return field;
}

}  // namespace

Layout::Layout(std::vector<VariableSpec> variables) : variables_(std::move(variables)) {
    for (const VariableSpec& spec : variables_) {
        const bool in_order =
            spec.type == Type::real ? spec.real_lower <= spec.real_upper : spec.lower <= spec.upper;
        if (!in_order) throw std::invalid_argument("lower bound above upper bound");
        if (spec.lower < -kMaxBound || spec.upper > kMaxBound)
            throw std::invalid_argument("bound too large");
        if (!spec.is_scratch) {
            if (num_state_variables_ != fields_.size())
                throw std::invalid_argument("scratch first");
            ++num_state_variables_;
        }
        fields_.push_back(field_for(spec));
    }
    place_fields();
}

// In declaration order into the first of the last words with room: neighbours in the model tend to
// be neighbours in the word, which the guard index makes use of.
void Layout::place_fields() {
    std::vector<std::uint32_t> used;
    for (std::size_t v = 0; v < num_state_variables_; ++v) {
        Field& field = fields_[v];
        bits_ += field.bits;
        std::size_t word = used.size() > kWordsToTry ? used.size() - kWordsToTry : 0;
        while (word < used.size() && used[word] + field.bits > 64) ++word;
        if (word == used.size()) used.push_back(0);
        field.word = static_cast<std::uint32_t>(word);
        field.shift = field.bits == 0 ? 0 : used[word];
        used[word] += field.bits;
    }
    words_ = used.empty() ? 1 : used.size();
}

bool Layout::is_state(const Word* state) const {
    std::vector<Word> again(words_, 0);
    for (std::size_t v = 0; v < num_state_variables_; ++v) {
        const std::int64_t bits = value(state, v);
        if (!fits(v, bits)) return false;
        set(again.data(), v, bits);
    }
    return std::equal(again.begin(), again.end(), state);
}

}  // namespace surefoot
