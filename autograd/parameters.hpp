// Parameters: the trainable parameters of a model, with names and initial distributions, in one block of memory.
#pragma once

#include "autograd/pages.hpp"
#include "autograd/real.hpp"
#include "autograd/shape.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::HEED_REAL {

/// How a parameter is initialised.
struct Init {
  enum class Kind { constant, normal, uniform, listed, of_uniform, orthogonal };
  Kind kind = Kind::constant;
  double a =
      0; ///< constant: the value; normal: the standard deviation; uniform: the bound, [-a, a); orthogonal: the gain
  std::int64_t first = 0;         ///< above 0: only the first `first` values use `a`
  double b = 0;                   ///< replaces `a` for the other values
  std::vector<double> numbers{};  ///< listed: each value, row-major
  double (*of)(double) = nullptr; ///< of_uniform: the value for a uniform number in [0, 1)
  static Init zeros() { return {}; }
  static Init constant(double value) { return {Kind::constant, value}; }
  static Init normal(double deviation) { return {Kind::normal, deviation}; }
  static Init uniform(double bound) { return {Kind::uniform, bound}; }
  static Init of_uniform(double (*of)(double)) { return {.kind = Kind::of_uniform, .of = of}; }
  /// A matrix whose rows, or columns if there are more rows, are orthogonal and of length `gain`; all such matrices are
  /// equally probable (Saxe et al. 2013, arXiv 1312.6120).
  static Init orthogonal(double gain) { return {Kind::orthogonal, gain}; }
  static Init listed(std::vector<double> numbers) { return {.kind = Kind::listed, .numbers = std::move(numbers)}; }
};

/// Does weight decay apply to a parameter? It applies to the weights of linear maps, convolutions and recurrences, and
/// to tables of vectors (embeddings). It does not apply to biases, gains, temperatures, and vectors that weight
/// features one by one, whatever their shape: for them, 0 is not a neutral value.
enum class WeightDecay { no, yes };

/// The index of a parameter in its Parameters.
struct ParameterId {
  std::size_t index = 0;
};

/// Named parameters. All are added before the first step. Values are stored one parameter after the other, each on a
/// 64-byte boundary. Gradients, moments and similar arrays have the same layout, so one loop can process them together.
class Parameters {
public:
  struct Entry {
    std::string name; ///< "blocks.0.attention.query.weight"
    Shape shape;
    Init init;
    std::int64_t offset = 0; ///< of its first value in the layout
    WeightDecay decay = WeightDecay::no;
    std::string module{}; ///< the module it belongs to: "blocks.0.attention.query"; empty: none
    /// is it a matrix of a linear map inside the model? Embeddings and the map to the logits are not.
    bool is_map = false;
    /// If the matrix contains several linear maps, stacked by rows (queries, keys and values): the rows of each. Empty:
    /// one map.
    std::vector<std::int64_t> parts{};
  };

  /// Throws heed::Failed if the name is already used.
  ParameterId add(std::string name, const Shape& shape, const Init& init, WeightDecay decay = WeightDecay::no,
                  std::string module = "", bool is_map = false);

  /// Throws heed::Failed unless the parameter is a matrix and the parts add up to its rows.
  void set_parts(ParameterId id, std::vector<std::int64_t> rows);

  /// Draws all values. The values of a parameter depend only on the seed, its name and the position in it. Two models
  /// that share a name and a shape therefore start with the same values there.
  void initialise(std::uint64_t seed);

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry& operator[](ParameterId id) const { return entries_[id.index]; }
  /// Null if there is no parameter of this name.
  const Entry* find(std::string_view name) const;
  /// The ID of an entry of `entries`.
  ParameterId id(const Entry& entry) const { return {static_cast<std::size_t>(&entry - entries_.data())}; }

  /// Length of the layout in values, including padding.
  std::int64_t extent() const { return extent_; }
  /// Number of trainable values, without padding.
  std::int64_t count() const;

  /// The values. The first call allocates their memory; adding parameters allocates none. The size of a model is thus
  /// known before its memory is taken.
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
