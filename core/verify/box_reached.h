/*
  What boxes have reached so far.

  Values of some variables are told apart everywhere: all values of control variables, and classes
  of values that conditions tell apart. States with the same classes are a Location; it may be cut
  into cells. The states reached in a cell share one hull, or a few where something bad lies between
  them. Hulls are Elements; each keeps Records of how it came to be, so that the way there can be
  followed back, and the parts of it that nobody has looked at yet.

  Bad boxes are states from which runs are known to fail: at once, or by one step into a bad box
  with a lower number. No hull is made to meet one if that can be helped.
*/
#pragma once

#include <deque>
#include <unordered_map>

#include "base/hash.h"
#include "verify/box_task.h"
#include "verify/box_walls.h"

namespace surefoot {

constexpr std::uint32_t kNoElement = 0xffffffffU;

class BoxReached {
public:
    // An outcome leads from `source`, part of the hull of `parent`, to `image`. kNoElement as
    // parent: a start; kStateStep as edge: `source` is one state, stepped as states are.
    struct Record {
        static constexpr std::uint32_t kStateStep = 0xffffffffU;

        std::uint32_t parent;
        std::uint32_t edge;
        std::uint32_t outcome;
        bool is_exact;  // the policy takes the edge's action everywhere in `source`
        Box source;
        Box image;
        std::uint64_t time = 0;  // records of all elements are numbered
    };

    struct Element {
        std::uint32_t location;
        Box hull;
        std::vector<Record> records;
        std::uint64_t batch = 0;  // its last one
    };

    // Parts of a hull that nobody has looked at, all so many steps from the start.
    struct Batch {
        std::uint32_t element;
        std::uint64_t depth;
        std::vector<Box> parts;
    };

    // `cuts` are made everywhere.
    BoxReached(BoxTask& task, const std::vector<Cut>& cuts);

    // Forget all hulls; cells and bad boxes stay.
    void clear();

    std::size_t size() const { return elements_.size(); }
    const Element& operator[](std::uint32_t element) const { return elements_[element]; }
    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t depth() const { return depth_; }
    std::uint64_t time() const { return time_; }

    // The edges that may be enabled in the hull of an element.
    std::span<const std::uint32_t> edges_of(std::uint32_t element) const {
        return locations_[elements_[element].location].edges;
    }

    // Whether a box was to be reached that meets too many locations; then it is not.
    bool is_overwhelmed() const { return is_overwhelmed_; }

    // Whether all of the box is in hulls.
    bool covers(const Box& box);
    // The element whose hull must grow least to contain the box; null if there is none, or several
    // cells would share the box.
    const Element* near(const Box& box) const;
    // Take the image of the record into hulls; what they gain is queued. `depth` is the steps to
    // it.
    void reach(const Record& record, std::uint64_t depth);
    // The next parts to look at, by ascending depth if depths are asked for in this order.
    std::optional<Batch> take();

    // -- what is bad ----------------------------------------------------------------------------

    // All states with the classes of an element.
    Box around(std::uint32_t element) const;
    // Whether one box of bad states contains this one.
    bool is_bad(const Box& box);
    // A box of bad states, of one location, that meets this one.
    std::optional<Box> bad_met(const Box& box);
    // An element, made since somebody asked, whose hull had to meet bad states, and these states.
    std::optional<std::pair<std::uint32_t, Box>> take_conflict();
    // The first bad box that contains a region of an element's location, if there is one.
    std::optional<std::uint32_t> bad_around(std::uint32_t element, const Box& region) const;
    const Box& bad(std::uint32_t number) const { return bads_[number]; }
    std::uint32_t num_bad() const { return static_cast<std::uint32_t>(bads_.size()); }
    // Part of the element's hull is bad: number it. Sets `is_new` if that was not known.
    std::uint32_t add_bad(std::uint32_t element, const Box& region, bool& is_new);
    // The first bad box that contains this one and has a number below the given one.
    std::optional<std::uint32_t> bad_at(const Box& box, std::uint32_t below);

    // Divide the cell of an element so that the region is apart from as much as possible of what
    // the hull was made of; false if nothing sets it apart. Counts for hulls that are made later.
    bool cut_off(std::uint32_t element, const Box& region);
    // Divide the cell of an element by a cut that divides its hull.
    void divide(std::uint32_t element, const Cut& cut);

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Cell {
        Cut cut;
        std::uint32_t low = kNone;  // kNone: not divided
        std::uint32_t high = kNone;
        std::vector<std::uint32_t> elements;
    };

    struct Location {
        std::vector<Cell> cells;
        std::vector<std::uint32_t> edges;  // that may be enabled
        Box bounds;
        std::vector<std::uint32_t> bad;
        Walls walls;  // all bad states
    };

    // Which values of a variable are told apart everywhere.
    struct Classes {
        bool is_exact = false;
        std::vector<Key> cuts;  // ascending

        Key of(Key key) const {
            if (is_exact) return key;
            return std::upper_bound(cuts.begin(), cuts.end(), key) - cuts.begin();
        }
        Key first(Key number, Key least) const {
            if (is_exact) return number;
            return number == 0 ? least : cuts[static_cast<std::size_t>(number) - 1];
        }
        Key last(Key number, Key most) const {
            if (is_exact) return number;
            const auto at = static_cast<std::size_t>(number);
            return at == cuts.size() ? most : cuts[at] - 1;
        }
    };

    struct Hash {
        std::size_t operator()(const std::vector<Key>& keys) const {
            return hash_words(reinterpret_cast<const Word*>(keys.data()), keys.size());
        }
    };

    void choose_classes(const std::vector<Cut>& given);
    std::vector<std::uint32_t> variables_to_know() const;
    std::uint32_t location(const std::vector<Key>& classes);
    void narrow_to(const std::vector<Key>& classes, Box& box) const;
    template <typename Visit>
    bool for_classes(const Box& box, Visit visit) const;
    bool meets_too_many(const Box& box) const;
    bool covers_in(const Location& location, std::uint32_t number, Box box);
    void reach_in(std::uint32_t place, std::uint32_t number, Box box, const Record& record,
                  std::uint64_t depth);
    void join(std::uint32_t place, std::uint32_t number, const Box& box, const Record& record,
              std::uint64_t depth);
    std::uint32_t element_for(std::uint32_t place, std::uint32_t number, const Box& box,
                              std::vector<Box>& parts);
    void queue(std::uint32_t element, std::uint64_t depth, std::vector<Box> parts);
    std::uint32_t nearest(std::uint32_t place, const std::vector<std::uint32_t>& elements,
                          const Box& box) const;
    double growth(const Box& hull, const Box& box) const;
    const Box* bad_met(const Location& location, const Box& box) const;

    BoxTask& task_;
    std::size_t num_variables_;
    std::vector<Classes> classes_;        // by variable
    std::vector<std::uint32_t> control_;  // variables with classes
    std::vector<Location> locations_;
    std::unordered_map<std::vector<Key>, std::uint32_t, Hash> locations_by_classes_;
    std::vector<Element> elements_;
    std::deque<Batch> queue_;
    std::uint64_t first_batch_ = 1;  // the number of the one in front
    std::vector<Box> bads_;
    std::optional<std::pair<std::uint32_t, Box>> conflict_;
    bool is_overwhelmed_ = false;
    std::uint64_t time_ = 0;
    std::uint64_t depth_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace surefoot
