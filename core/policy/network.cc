#include "policy/network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace surefoot {

namespace {

// The kernels exist for several instruction sets; which one runs is decided when the library is
// loaded. They all compute the same bits: neurons are computed side by side, each in order.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define SUREFOOT_KERNEL __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SUREFOOT_KERNEL
#endif

// As many numbers as the widest registers hold; narrower machines take several for each.
template <typename T>
struct VectorOf {
    using Type [[gnu::vector_size(64), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
    static constexpr std::size_t kLanes = 64 / sizeof(T);
};

template <typename T>
struct DenseLayer {
    std::size_t inputs;
    std::size_t outputs;
    std::size_t width;       // of a row: outputs, and zeros up to whole vectors
    std::vector<T> weights;  // a row for each input
    std::vector<T> biases;
    Activation activation;
    T slope;
};

// Inputs that are not 0: their numbers and values.
template <typename T>
struct Sparse {
    const std::uint32_t* numbers;
    const T* values;
    std::size_t count;
};

template <typename T, std::size_t kVectors>
[[gnu::always_inline]] inline void dense_block(const T* weights, const T* biases, std::size_t width,
                                               const Sparse<T>& inputs, T* outputs) {
    using Vector = typename VectorOf<T>::Type;
    constexpr std::size_t kLanes = VectorOf<T>::kLanes;
    Vector sums[kVectors];
    for (std::size_t k = 0; k < kVectors; ++k)
        sums[k] = *reinterpret_cast<const Vector*>(biases + k * kLanes);
    for (std::size_t i = 0; i < inputs.count; ++i) {
        const auto* const row =
            reinterpret_cast<const Vector*>(weights + inputs.numbers[i] * width);
        const T value = inputs.values[i];
        for (std::size_t k = 0; k < kVectors; ++k) sums[k] += value * row[k];
    }
    for (std::size_t k = 0; k < kVectors; ++k)
        *reinterpret_cast<Vector*>(outputs + k * kLanes) = sums[k];
}

template <typename T>
[[gnu::always_inline]] inline void dense(const DenseLayer<T>& layer, const Sparse<T>& inputs,
                                         T* outputs) {
    std::size_t at = 0;
    const auto block = [&]<std::size_t kVectors>(std::integral_constant<std::size_t, kVectors>) {
        constexpr std::size_t kWidth = kVectors * VectorOf<T>::kLanes;
        for (; at + kWidth <= layer.width; at += kWidth) {
            dense_block<T, kVectors>(layer.weights.data() + at, layer.biases.data() + at,
                                     layer.width, inputs, outputs + at);
        }
    };
    block(std::integral_constant<std::size_t, 4>{});
    block(std::integral_constant<std::size_t, 2>{});
    block(std::integral_constant<std::size_t, 1>{});
}

SUREFOOT_KERNEL void run_dense(const DenseLayer<float>& layer, const Sparse<float>& inputs,
                               float* outputs) {
    dense(layer, inputs, outputs);
}

SUREFOOT_KERNEL void run_dense(const DenseLayer<double>& layer, const Sparse<double>& inputs,
                               double* outputs) {
    dense(layer, inputs, outputs);
}

// What is not a number stays so: a policy must not decide by it unnoticed.
template <typename T>
void activate(const DenseLayer<T>& layer, T* values) {
    const auto each = [&](auto function) {
        for (std::size_t k = 0; k < layer.outputs; ++k) values[k] = function(values[k]);
    };
    switch (layer.activation) {
        case Activation::linear: break;
        case Activation::relu: each([](T x) { return x < 0 ? T{0} : x; }); break;
        case Activation::tanh: each([](T x) { return std::tanh(x); }); break;
        case Activation::sigmoid: each([](T x) { return 1 / (1 + std::exp(-x)); }); break;
        case Activation::leaky_relu:
            each([slope = layer.slope](T x) { return x < 0 ? slope * x : x; });
            break;
    }
}

template <typename T>
class Network : public Scorer {
public:
    explicit Network(const std::vector<LayerSpec>& layers) {
        for (const LayerSpec& layer : layers) layers_.push_back(dense_of(layer));
        for (const DenseLayer<T>& layer : layers_)
            widest_ = std::max({widest_, layer.inputs, layer.width});
    }

    std::size_t num_inputs() const override { return layers_.front().inputs; }
    std::size_t num_outputs() const override { return layers_.back().outputs; }

    void scores(const double* inputs, double* scores, ScorerMemory& memory) const override {
        auto& cells = cells_of(memory);
        if (cells.size() < 2 * widest_) cells.resize(2 * widest_);
        if (memory.numbers.size() < widest_) memory.numbers.resize(widest_);
        T* const values = cells.data();
        T* const outputs = cells.data() + widest_;
        std::copy_n(inputs, num_inputs(), outputs);
        for (const DenseLayer<T>& layer : layers_) {
            std::size_t count = 0;
            for (std::size_t i = 0; i < layer.inputs; ++i) {
                memory.numbers[count] = static_cast<std::uint32_t>(i);
                values[count] = outputs[i];
                count += outputs[i] != 0;
            }
            run_dense(layer, Sparse<T>{memory.numbers.data(), values, count}, outputs);
            activate(layer, outputs);
        }
        std::copy_n(outputs, num_outputs(), scores);
    }

private:
    static std::vector<T>& cells_of(ScorerMemory& memory) {
        if constexpr (std::is_same_v<T, float>)
            return memory.floats;
        else
            return memory.doubles;
    }

    static DenseLayer<T> dense_of(const LayerSpec& from) {
        constexpr std::size_t kLanes = VectorOf<T>::kLanes;
        const std::size_t width = (from.outputs + kLanes - 1) / kLanes * kLanes;
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

std::unique_ptr<Scorer> make_network(const std::vector<LayerSpec>& layers, bool is_double) {
    check(layers);
    if (is_double) return std::make_unique<Network<double>>(layers);
    return std::make_unique<Network<float>>(layers);
}

}  // namespace surefoot
