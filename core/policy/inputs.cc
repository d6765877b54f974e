#include "policy/inputs.h"

#include <stdexcept>

namespace surefoot {

namespace {

constexpr std::uint64_t kMaxTable = 256;

}  // namespace

Inputs::Inputs(const Layout& layout, const std::vector<InputSpec>& specs) {
    for (const InputSpec& from : specs) {
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
                           {}});
        Input& input = inputs_.back();
        if (is_constant || input.type == Type::real || input.field.mask >= kMaxTable) continue;
        for (std::uint64_t stored = 0; stored <= input.field.mask; ++stored)
            input.table.push_back(scaled(input, stored));
    }
}

}  // namespace surefoot
