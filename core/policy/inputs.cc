#include "policy/inputs.h"

#include <stdexcept>

namespace surefoot {

namespace {

constexpr std::uint64_t kMaxTable = 256;

}  // namespace

Inputs::Inputs(const Layout& layout, const std::vector<InputSpec>& specs) {
    for (const InputSpec& from : specs) {
        if (!from.one_hot.empty()) {
            add_one_hot(layout, from);
            continue;
        }
        const bool is_constant = from.variable < 0;
        const auto v = static_cast<std::size_t>(from.variable);
        if (!is_constant && v >= layout.num_variables())
            throw std::invalid_argument("there is no such variable");
        const double constant = (from.constant - from.mean) / from.scale;
        inputs_.push_back({is_constant ? Field{} : layout.field(v),
                           is_constant ? Type::real : layout.variable(v).type,
                           is_constant,
                           constant,
                           from.mean,
                           from.scale,
                           {},
                           {}});
        Input& input = inputs_.back();
        if (is_constant || input.type == Type::real || input.field.mask >= kMaxTable) continue;
        for (std::uint64_t stored = 0; stored <= input.field.mask; ++stored)
            input.table.push_back(scaled(input, stored));
    }
}

// A value that a variable never has is never stored.
void Inputs::add_one_hot(const Layout& layout, const InputSpec& from) {
    Input input{{},
                Type::real,
                false,
                0,
                from.mean,
                from.scale,
                {(0 - from.mean) / from.scale, (1 - from.mean) / from.scale},
                {}};
    for (const auto& [variable, value] : from.one_hot) {
        if (variable >= layout.num_variables() || layout.variable(variable).type == Type::real)
            throw std::invalid_argument("there is no such variable with one-hot values");
        const Field field = layout.field(variable);
        const std::uint64_t stored =
            static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(field.lower);
        input.one_hot.push_back({field, stored});
    }
    inputs_.push_back(std::move(input));
}

}  // namespace surefoot
