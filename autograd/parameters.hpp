// The trainable numbers of a model, in one piece of memory.
#pragma once

#include "autograd/pages.hpp"
#include "autograd/real.hpp"
#include "autograd/shape.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed::HEED_REAL {

/// How a parameter starts.
struct Init {
  enum class Kind { constant, normal, uniform, listed };
  Kind kind = Kind::constant;
  double a = 0;                  ///< constant: the value; normal: the standard deviation; uniform: the bound, [-a, a)
  std::int64_t first = 0;        ///< where above 0: only so many numbers, from the first on, have `a`
  double b = 0;                  ///< what the others have in its place
  std::vector<double> numbers{}; ///< listed: each number, row-major
  static Init zeros() { return {}; }
  static Init constant(double value) { return {Kind::constant, value}; }
  static Init normal(double deviation) { return {Kind::normal, deviation}; }
  static Init uniform(double bound) { return {Kind::uniform, bound}; }
  static Init listed(std::vector<double> numbers) { return {.kind = Kind::listed, .numbers = std::move(numbers)}; }
};

/// Does weight decay pull a parameter towards 0? Weights of linear maps, convolutions and recurrences, and tables of
/// vectors (embeddings) are pulled. Biases, gains, temperatures, and vectors that weigh features one by one are not,
/// whatever their shape: for them, 0 is no neutral place.
enum class WeightDecay { no, yes };

/// A parameter's number within its Parameters.
struct ParameterId {
  std::size_t index = 0;
};

/// Named parameters, added before the first step. Values stand one after the other, each parameter on a 64-byte
/// boundary; gradients, moments and so on have the same layout, so that they can be walked together.
class Parameters {
public:
  struct Entry {
    std::string name; ///< "blocks.0.attention.query.weight"
    Shape shape;
    Init init;
    std::int64_t offset = 0; ///< of its first number within the layout
    WeightDecay decay = WeightDecay::no;
    std::string module{}; ///< whose it is: "blocks.0.attention.query"; empty: nobody's
    bool is_map = false;  ///< matrices of maps within the model: neither vectors of tokens nor the map to the logits
    /// Rows of the maps that stand in it, one below the other (queries, keys and values); empty: it is one.
    std::vector<std::int64_t> parts{};
  };

  /// Throws heed::Failed for a name that is taken.
  ParameterId add(std::string name, const Shape& shape, const Init& init, WeightDecay decay = WeightDecay::no,
                  std::string module = "", bool is_map = false);

  /// Throws heed::Failed unless the parts are all rows of a matrix.
  void set_parts(ParameterId id, std::vector<std::int64_t> rows);

  /// Draws every value anew. A parameter's numbers depend on the seed, its name and the position within it alone, so
  /// that two models that share a name and a shape start alike there.
  void initialise(std::uint64_t seed);

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry& operator[](ParameterId id) const { return entries_[id.index]; }
  /// Null where there is none of that name.
  const Entry* find(std::string_view name) const;
  /// The number of an entry of `entries`.
  ParameterId id(const Entry& entry) const { return {static_cast<std::size_t>(&entry - entries_.data())}; }

  /// Length of the layout in numbers, padding included.
  std::int64_t extent() const { return extent_; }
  /// Trainable numbers, padding not included.
  std::int64_t count() const;

  /// The numbers, for which there is memory from the first call on: to add parameters takes none, so that the size of a
  /// model is known before.
  Real* values() {
    if (values_.size() < static_cast<std::size_t>(extent_)) values_.resize(static_cast<std::size_t>(extent_));
    return values_.data();
  }
  const Real* values() const { return values_.data(); }
  Real* values(ParameterId id) { return values() + entries_[id.index].offset; }

private:
  std::vector<Entry> entries_;
  PagedVector<Real> values_;
  std::int64_t extent_ = 0;
};

} // namespace heed::HEED_REAL
