#include "policy/network.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace surefoot {

namespace {

// Neurons of a layer stand in groups that fill the widest registers; inputs are looked at so, too.
constexpr std::size_t kGroup = 8;

// As many numbers as registers of kBytes bytes hold.
template <typename T, std::size_t kBytes>
struct VectorOf {
    using Type [[gnu::vector_size(kBytes), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
};

constexpr std::size_t in_groups(std::size_t count) {
    return (count + kGroup - 1) / kGroup * kGroup;
}

template <typename T>
struct DenseLayer {
    std::size_t inputs;
    std::size_t outputs;
    std::size_t width;       // of a row: outputs, and zeros up to a whole group
    std::vector<T> weights;  // a row for each input
    std::vector<T> biases;
    Activation activation;
    T slope;
};

// Inputs, and the numbers of those that are not 0.
template <typename T>
struct Sparse {
    const T* values;
    const std::uint32_t* numbers;
    std::size_t count;
};

template <typename T, std::size_t kBytes, std::size_t kVectors, bool kRelu>
[[gnu::always_inline]] inline void dense_block(const T* weights, const T* biases, std::size_t width,
                                               const Sparse<T>& inputs, T* outputs) {
    using Vector = typename VectorOf<T, kBytes>::Type;
    constexpr std::size_t kLanes = kBytes / sizeof(T);
    Vector sums[kVectors];
    for (std::size_t k = 0; k < kVectors; ++k)
        sums[k] = *reinterpret_cast<const Vector*>(biases + k * kLanes);
    for (std::size_t i = 0; i < inputs.count; ++i) {
        const std::uint32_t number = inputs.numbers[i];
        const auto* const row = reinterpret_cast<const Vector*>(weights + number * width);
        const T value = inputs.values[number];
#pragma GCC unroll 8
        for (std::size_t k = 0; k < kVectors; ++k) sums[k] += value * row[k];
    }
    for (std::size_t k = 0; k < kVectors; ++k) {
        if constexpr (kRelu) sums[k] = sums[k] < 0 ? Vector{} : sums[k];
        *reinterpret_cast<Vector*>(outputs + k * kLanes) = sums[k];
    }
}

template <typename T, std::size_t kBytes, bool kRelu>
[[gnu::always_inline]] inline void dense(const DenseLayer<T>& layer, const Sparse<T>& inputs,
                                         T* outputs) {
    std::size_t at = 0;
    const auto block = [&]<std::size_t kVectors>(std::integral_constant<std::size_t, kVectors>) {
        constexpr std::size_t kWidth = kVectors * kBytes / sizeof(T);
        for (; at + kWidth <= layer.width; at += kWidth) {
            dense_block<T, kBytes, kVectors, kRelu>(layer.weights.data() + at,
                                                    layer.biases.data() + at, layer.width, inputs,
                                                    outputs + at);
        }
    };
    block(std::integral_constant<std::size_t, 8>{});
    block(std::integral_constant<std::size_t, 4>{});
    block(std::integral_constant<std::size_t, 2>{});
    block(std::integral_constant<std::size_t, 1>{});
}

template <typename T, std::size_t kBytes>
[[gnu::always_inline]] inline void dense_or_relu(const DenseLayer<T>& layer,
                                                 const Sparse<T>& inputs, T* outputs) {
    if (layer.activation == Activation::relu)
        dense<T, kBytes, true>(layer, inputs, outputs);
    else
        dense<T, kBytes, false>(layer, inputs, outputs);
}

// What a machine can do: find the numbers of the inputs that are not 0, of `count` inputs, a
// multiple of kGroup; and compute a layer. There is one for each width of registers, and they all
// compute the same bits: neurons are computed side by side, each in the same order.
template <typename T>
struct Kernel {
    std::size_t (*find_nonzero)(const T* inputs, std::size_t count, std::uint32_t* numbers);
    void (*run)(const DenseLayer<T>& layer, const Sparse<T>& inputs, T* outputs);
};

// By the bits, which is quicker than comparing numbers.
bool is_not_zero(float x) { return (std::bit_cast<std::uint32_t>(x) << 1) != 0; }
bool is_not_zero(double x) { return (std::bit_cast<std::uint64_t>(x) << 1) != 0; }

template <typename T>
std::size_t find_nonzero(const T* inputs, std::size_t count, std::uint32_t* numbers) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        numbers[found] = static_cast<std::uint32_t>(i);
        found += is_not_zero(inputs[i]);
    }
    return found;
}

template <typename T>
void run_narrow(const DenseLayer<T>& layer, const Sparse<T>& inputs, T* outputs) {
    dense_or_relu<T, 16>(layer, inputs, outputs);
}

#if defined(__x86_64__) && defined(__GNUC__)
// For each set of eight bits the numbers of its members, in order.
constexpr auto kMembers = [] {
    std::array<std::array<std::uint8_t, kGroup>, 256> members{};
    for (std::size_t set = 0; set < members.size(); ++set) {
        std::size_t found = 0;
        for (std::uint8_t bit = 0; bit < kGroup; ++bit) {
            if (((set >> bit) & 1) != 0) members[set][found++] = bit;
        }
    }
    return members;
}();

[[gnu::target("avx2")]] inline unsigned nonzero_bits(const float* inputs) {
    const __m256 is_nonzero =
        _mm256_cmp_ps(_mm256_loadu_ps(inputs), _mm256_setzero_ps(), _CMP_NEQ_UQ);
    return static_cast<unsigned>(_mm256_movemask_ps(is_nonzero));
}

[[gnu::target("avx2")]] inline unsigned nonzero_bits(const double* inputs) {
    const __m256d zero = _mm256_setzero_pd();
    const __m256d low = _mm256_cmp_pd(_mm256_loadu_pd(inputs), zero, _CMP_NEQ_UQ);
    const __m256d high = _mm256_cmp_pd(_mm256_loadu_pd(inputs + 4), zero, _CMP_NEQ_UQ);
    return static_cast<unsigned>(_mm256_movemask_pd(low) | (_mm256_movemask_pd(high) << 4));
}

template <typename T>
[[gnu::target("avx2")]] std::size_t find_nonzero_wide(const T* inputs, std::size_t count,
                                                      std::uint32_t* numbers) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; i += kGroup) {
        const unsigned bits = nonzero_bits(inputs + i);
        const __m128i members =
            _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kMembers[bits].data()));
        const __m256i all =
            _mm256_add_epi32(_mm256_cvtepu8_epi32(members), _mm256_set1_epi32(static_cast<int>(i)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(numbers + found), all);
        found += static_cast<std::size_t>(std::popcount(bits));
    }
    return found;
}

template <typename T>
[[gnu::target("avx2")]] void run_wide(const DenseLayer<T>& layer, const Sparse<T>& inputs,
                                      T* outputs) {
    dense_or_relu<T, 32>(layer, inputs, outputs);
}

template <typename T>
Kernel<T> best_kernel() {
    if (__builtin_cpu_supports("avx2")) return {find_nonzero_wide<T>, run_wide<T>};
    return {find_nonzero<T>, run_narrow<T>};
}
#else
template <typename T>
Kernel<T> best_kernel() {
    return {find_nonzero<T>, run_narrow<T>};
}
#endif

// What is not a number stays so: a policy must not decide by it unnoticed.
template <typename T>
void activate(const DenseLayer<T>& layer, T* values) {
    const auto each = [&](auto function) {
        for (std::size_t k = 0; k < layer.outputs; ++k) values[k] = function(values[k]);
    };
    switch (layer.activation) {
        case Activation::linear:
        case Activation::relu: break;  // done with the sums
        case Activation::tanh: each([](T x) { return std::tanh(x); }); break;
        case Activation::sigmoid: each([](T x) { return 1 / (1 + std::exp(-x)); }); break;
        case Activation::leaky_relu:
            each([slope = layer.slope](T x) { return x < 0 ? slope * x : x; });
            break;
    }
}

template <typename T>
class Network : public NetworkScorer {
public:
    explicit Network(const std::vector<LayerSpec>& layers) : NetworkScorer(layers) {
        for (const LayerSpec& layer : layers) layers_.push_back(dense_of(layer));
        for (const DenseLayer<T>& layer : layers_)
            widest_ = std::max({widest_, in_groups(layer.inputs), layer.width});
    }

    std::size_t num_inputs() const override { return layers_.front().inputs; }
    std::size_t num_outputs() const override { return layers_.back().outputs; }
    bool is_double() const override { return std::is_same_v<T, double>; }

    void scores(const double* inputs, double* scores, ScorerMemory& memory) const override {
        auto& cells = cells_of(memory);
        if (cells.size() < 2 * widest_) cells.resize(2 * widest_);
        if (memory.numbers.size() < widest_ + kGroup) memory.numbers.resize(widest_ + kGroup);
        T* values = cells.data();
        T* outputs = cells.data() + widest_;
        std::copy_n(inputs, num_inputs(), outputs);
        fill_group(outputs, num_inputs());
        for (const DenseLayer<T>& layer : layers_) {
            std::swap(values, outputs);
            std::uint32_t* const numbers = memory.numbers.data();
            const std::size_t count =
                kernel_.find_nonzero(values, in_groups(layer.inputs), numbers);
            kernel_.run(layer, Sparse<T>{values, numbers, count}, outputs);
            activate(layer, outputs);
            fill_group(outputs, layer.outputs);
        }
        std::copy_n(outputs, num_outputs(), scores);
    }

private:
    // Set what stands behind the values to 0, up to a whole group. (What was computed there may be
    // 0 times infinity.)
    static void fill_group(T* values, std::size_t count) {
        std::fill(values + count, values + in_groups(count), T{0});
    }

    static std::vector<T>& cells_of(ScorerMemory& memory) {
        if constexpr (std::is_same_v<T, float>)
            return memory.floats;
        else
            return memory.doubles;
    }

    static DenseLayer<T> dense_of(const LayerSpec& from) {
        const std::size_t width = in_groups(from.outputs);
        DenseLayer<T> layer{from.inputs,
                            from.outputs,
                            width,
                            std::vector<T>(from.inputs * width),
                            std::vector<T>(width),
                            from.activation,
                            static_cast<T>(from.slope)};
        for (std::size_t o = 0; o < from.outputs; ++o) {
            layer.biases[o] = static_cast<T>(from.biases[o]);
            for (std::size_t i = 0; i < from.inputs; ++i)
                layer.weights[i * width + o] = static_cast<T>(from.weights[o * from.inputs + i]);
        }
        return layer;
    }

    std::vector<DenseLayer<T>> layers_;
    std::size_t widest_ = 0;
    Kernel<T> kernel_ = best_kernel<T>();
};

void check(const std::vector<LayerSpec>& layers) {
    if (layers.empty()) throw std::invalid_argument("a network has at least one layer");
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const LayerSpec& layer = layers[i];
        const bool fits = layer.inputs > 0 && layer.outputs > 0 &&
                          layer.weights.size() == layer.inputs * layer.outputs &&
                          layer.biases.size() == layer.outputs &&
                          (i == 0 || layers[i - 1].outputs == layer.inputs);
        if (!fits) throw std::invalid_argument("the sizes of the layers do not fit");
    }
}

}  // namespace

std::unique_ptr<NetworkScorer> make_network(const std::vector<LayerSpec>& layers, bool is_double) {
    check(layers);
    if (is_double) return std::make_unique<Network<double>>(layers);
    return std::make_unique<Network<float>>(layers);
}

}  // namespace surefoot
