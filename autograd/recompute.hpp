// Computing anew instead of keeping: results whose intermediate numbers are given up at once, and are computed once
// more in the backward pass ("gradient checkpointing"; Chen et al. 2016, arXiv 1604.06174; Griewank and Walther 2000).
#pragma once

#include "autograd/tape.hpp"

namespace heed::HEED_REAL {

/// The pieces of a result, behind functions that know what `work` is.
struct Pieces {
  std::int64_t count;
  const void* work;
  Tensor (*part)(const void* work, const Tensor& whole, std::int64_t i);
  Tensor (*make)(const void* work, std::int64_t i);
};
/// In the forward pass, `make_first(first, i)` makes them.
Tensor recompute(const char* name, const Tensor& out, const Pieces& pieces, const void* first,
                 Tensor (*make_first)(const void* first, std::int64_t i));

/// make(0), make(1), ... make(count - 1), each copied to its part of the result: part(y, i) is the view of y that piece
/// i fills; together they fill it, and none meets another. At any time there is one piece's memory at most: each is
/// made in memory that is given back, and made again in the backward pass, with the same arguments and the same
/// numbers.
///
///   Tensor y = recompute("rows", tape.make(x.shape), n,
///                        [](const Tensor& all, std::int64_t i) { return slice(all, 0, i, 1); },
///                        [=](std::int64_t i) { return gelu(slice(x, 0, i, 1)); });
///
/// `out` is fresh memory of the tape, or a view of all of it. `make` may use any tensor of the step, and their
/// gradients get what belongs to them, whether it names them or not. It must capture by value, and only trivial values;
/// what it points to (layers, masks) must live until the backward pass is done. Within another `recompute`, pieces are
/// kept: that one gives them up. Throws heed::Failed where a piece hasn't its part's shape.
///
/// With `first`, this makes the pieces in the forward pass: the same pieces, while it may tell of them, and capture by
/// reference. Without recording, pieces are given up one after the other, within another `recompute`, too.
template <class Part, class Make, class First>
Tensor recompute(const char* name, const Tensor& out, std::int64_t count, const Part& part, const Make& make,
                 const First& first) {
  struct Work {
    std::decay_t<Part> part;
    std::decay_t<Make> make;
  };
  static_assert(std::is_trivially_destructible_v<Work> && std::is_trivially_copyable_v<Work>,
                "what makes pieces lives in the arena, which destroys nothing: capture by value, and only "
                "trivial values");
  const Work* work = new (out.tape->keep<Work>(1)) Work{part, make};
  return recompute(name, out,
                   {count, work,
                    [](const void* w, const Tensor& whole, std::int64_t i) {
                      return static_cast<const Work*>(w)->part(whole, i);
                    },
                    [](const void* w, std::int64_t i) { return static_cast<const Work*>(w)->make(i); }},
                   &first, [](const void* f, std::int64_t i) { return (*static_cast<const First*>(f))(i); });
}
template <class Part, class Make>
Tensor recompute(const char* name, const Tensor& out, std::int64_t count, const Part& part, const Make& make) {
  return recompute(name, out, count, part, make, make);
}

/// Copies x to y, a view of memory that is there already; for what outlives a Tape::ArenaScope. Throws heed::Failed where
/// their shapes differ.
void put_into(const Tensor& y, const Tensor& x);

} // namespace heed::HEED_REAL
