#include "verify/box_scores.h"

#include <cmath>

#include "policy/corrected.h"
#include "policy/trees.h"
#include "verify/network_scores.h"
#include "verify/tree_scores.h"

namespace surefoot {

namespace {

// A network and trees: their scores are added in double.
class CorrectedScores : public BoxScores {
public:
    CorrectedScores(std::unique_ptr<NetworkScores> network, std::unique_ptr<TreeScores> trees)
        : network_(std::move(network)), trees_(std::move(trees)) {}

    void set_box(const Box& box) override {
        network_->set_box(box);
        trees_->set_box(box);
    }

    bool is_better(std::uint32_t a, std::uint32_t b, bool) override { return gap(a, b) > 0; }

    bool may_be_no_number() override {
        return network_->may_be_no_number() || trees_->may_be_no_number();
    }

    double most(std::uint32_t output) override {
        return network_->most(output) + trees_->most(output);
    }

    std::optional<Cut> split(const Box& box, std::uint32_t a, std::uint32_t b) override {
        const double of_network = -network_->least_difference(a, b);
        const double of_trees = trees_->spread(a) + trees_->spread(b);
        BoxScores* first = network_.get();
        BoxScores* second = trees_.get();
        if (of_trees > of_network) std::swap(first, second);
        if (const auto cut = first->split(box, a, b)) return cut;
        return second->split(box, a, b);
    }

    bool could_differ(std::uint32_t, std::uint32_t) override { return false; }

private:
    // How much more `a` scores at least, less what rounding the two sums may take away.
    double gap(std::uint32_t a, std::uint32_t b) {
        constexpr double kRounding = 1e-15;  // some units in the last place
        const double of_network = network_->least_difference(a, b);
        const double of_trees = trees_->least(a) - trees_->most(b);
        double size = std::abs(of_network) + std::abs(of_trees);
        for (std::uint32_t output : {a, b}) {
            size += network_->size(output);
            size += std::abs(trees_->least(output)) + std::abs(trees_->most(output));
        }
        return of_network + of_trees - 8 * kRounding * size;
    }

    std::unique_ptr<NetworkScores> network_;
    std::unique_ptr<TreeScores> trees_;
};

}  // namespace

std::unique_ptr<BoxScores> make_box_scores(const Layout& layout, const ScoredPolicy& policy) {
    const Scorer& scorer = policy.scorer();
    for (const InputSpec& spec : policy.input_specs()) {
        if (!spec.one_hot.empty()) return nullptr;  // not monotone in a variable
    }
    const BoxInputs inputs(layout, policy.input_specs());
    if (const auto* trees = dynamic_cast<const Trees*>(&scorer))
        return std::make_unique<TreeScores>(inputs, *trees);
    if (const auto* network = dynamic_cast<const NetworkScorer*>(&scorer))
        return std::make_unique<NetworkScores>(layout, inputs, *network);
    if (const auto* both = dynamic_cast<const Corrected*>(&scorer)) {
        const auto* network = dynamic_cast<const NetworkScorer*>(&both->network());
        const auto* trees = dynamic_cast<const Trees*>(&both->trees());
        if (network == nullptr || trees == nullptr) return nullptr;
        return std::make_unique<CorrectedScores>(
            std::make_unique<NetworkScores>(layout, inputs, *network),
            std::make_unique<TreeScores>(inputs, *trees));
    }
    return nullptr;
}

}  // namespace surefoot
