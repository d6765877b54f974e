#include "verify/backward_kernel.h"

#include <cstring>
#include <type_traits>

namespace surefoot {

namespace {

template <std::size_t kBytes>
struct VectorOf {
    using Type [[gnu::vector_size(kBytes)]] = double;
};

// Registers that hold the four lanes of a sum.
constexpr std::size_t kLanes = 4;
template <std::size_t kBytes>
constexpr std::size_t kParts = kLanes * sizeof(double) / kBytes;

// (Vectors are not returned: how depends on the machine.)
template <typename V>
[[gnu::always_inline]] inline void load(V& to, const double* from) {
    std::memcpy(&to, from, sizeof(to));
}

template <typename V>
[[gnu::always_inline]] inline void store(double* to, const V& from) {
    std::memcpy(to, &from, sizeof(from));
}

template <typename V, std::size_t kCount>
[[gnu::always_inline]] inline double total(const V (&sums)[kCount]) {
    double lanes[kLanes];
    std::memcpy(lanes, sums, sizeof(lanes));
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// What is not a number stays so in all of this: it must not pass for a bound.

template <std::size_t kBytes>
[[gnu::always_inline]] inline ConstantAndError to_sums(double* coefficients, std::size_t width,
                                                       const Lines& lines, const Rows& rows) {
    using Vector = typename VectorOf<kBytes>::Type;
    Vector constant[kParts<kBytes>] = {};
    Vector error[kParts<kBytes>] = {};
    for (std::size_t at = 0; at < width; at += kBytes / sizeof(double)) {
        const std::size_t part = at * sizeof(double) / kBytes % kParts<kBytes>;
        Vector cell, low_slope, low_offset, high_slope, high_offset, bias, lost;
        load(cell, coefficients + at);
        load(low_slope, &lines.low_slope[at]);
        load(low_offset, &lines.low_offset[at]);
        load(high_slope, &lines.high_slope[at]);
        load(high_offset, &lines.high_offset[at]);
        load(bias, rows.biases + at);
        load(lost, rows.errors + at);
        const Vector negative = cell < 0 ? cell : Vector{};
        const Vector positive = cell - negative;
        const Vector scaled = positive * low_slope + negative * high_slope;
        constant[part] += positive * low_offset + negative * high_offset;
        constant[part] += scaled * bias;
        error[part] += (scaled < 0 ? -scaled : scaled) * lost;
        store(coefficients + at, scaled);
    }
    return {total(constant), total(error)};
}

template <std::size_t kBytes, std::size_t kVectors>
[[gnu::always_inline]] inline void combine_block(const double* coefficients,
                                                 const std::uint32_t* numbers, std::size_t count,
                                                 const double* weights, std::size_t width,
                                                 double* sums) {
    using Part = typename VectorOf<kBytes>::Type;
    constexpr std::size_t kColumns = kBytes / sizeof(double);
    Part columns[kVectors] = {};
    for (std::size_t k = 0; k < count; ++k) {
        const std::uint32_t number = numbers[k];
        const double* const row = weights + number * width;
        const double factor = coefficients[number];
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVectors; ++v) {
            Part part;
            load(part, row + v * kColumns);
            columns[v] += factor * part;
        }
    }
    for (std::size_t v = 0; v < kVectors; ++v) store(sums + v * kColumns, columns[v]);
}

// Each column is a sum in the order of the rows, whatever the registers.
template <std::size_t kBytes>
[[gnu::always_inline]] inline void combine(const double* coefficients, const std::uint32_t* numbers,
                                           std::size_t count, const Rows& rows, double* sums) {
    std::size_t at = 0;
    // clang-format off
    const auto block = [&]<std::size_t kVectors>(std::integral_constant<std::size_t, kVectors>)
        __attribute__((always_inline)) {
        constexpr std::size_t kWidth = kVectors * kBytes / sizeof(double);
        for (; at + kWidth <= rows.width; at += kWidth)
            combine_block<kBytes, kVectors>(coefficients, numbers, count, rows.weights + at,
                                            rows.width, sums + at);
    };
    // clang-format on
    block(std::integral_constant<std::size_t, 8>{});
    block(std::integral_constant<std::size_t, 4>{});
    block(std::integral_constant<std::size_t, 2>{});
}

template <std::size_t kBytes>
[[gnu::always_inline]] inline ConstantAndError least(const double* coefficients,
                                                     const Neurons& neurons) {
    using Vector = typename VectorOf<kBytes>::Type;
    Vector sum[kParts<kBytes>] = {};
    Vector reach[kParts<kBytes>] = {};
    for (std::size_t at = 0; at < neurons.width; at += kBytes / sizeof(double)) {
        const std::size_t part = at * sizeof(double) / kBytes % kParts<kBytes>;
        Vector cell, low, high;
        load(cell, coefficients + at);
        load(low, neurons.low + at);
        load(high, neurons.high + at);
        const Vector negative = cell < 0 ? cell : Vector{};
        const Vector positive = cell - negative;
        sum[part] += positive * low + negative * high;
        reach[part] += (positive - negative) * (-low > high ? -low : high);
    }
    return {total(sum), total(reach)};
}

ConstantAndError to_sums_narrow(double* coefficients, std::size_t width, const Lines& lines,
                                const Rows& rows) {
    return to_sums<16>(coefficients, width, lines, rows);
}

void combine_narrow(const double* coefficients, const std::uint32_t* numbers, std::size_t count,
                    const Rows& rows, double* sums) {
    combine<16>(coefficients, numbers, count, rows, sums);
}

ConstantAndError least_narrow(const double* coefficients, const Neurons& neurons) {
    return least<16>(coefficients, neurons);
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target("avx2")]] ConstantAndError to_sums_wide(double* coefficients, std::size_t width,
                                                      const Lines& lines, const Rows& rows) {
    return to_sums<32>(coefficients, width, lines, rows);
}

[[gnu::target("avx2")]] void combine_wide(const double* coefficients, const std::uint32_t* numbers,
                                          std::size_t count, const Rows& rows, double* sums) {
    combine<32>(coefficients, numbers, count, rows, sums);
}

[[gnu::target("avx2")]] ConstantAndError least_wide(const double* coefficients,
                                                    const Neurons& neurons) {
    return least<32>(coefficients, neurons);
}
#endif

}  // namespace

BackwardKernel best_backward_kernel() {
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2")) return {to_sums_wide, combine_wide, least_wide};
#endif
    return {to_sums_narrow, combine_narrow, least_narrow};
}

}  // namespace surefoot
