// Gradient checkpointing: recompute() discards the intermediate values of a computation at once, and computes them
// again in the backward pass (Chen et al. 2016, arXiv 1604.06174; Griewank and Walther 2000).
#pragma once

#include "autograd/tape.hpp"

namespace heed::HEED_REAL {

/// The pieces of a result, as functions of a type-erased argument `work`.
struct Pieces {
  std::int64_t count;
  const void* work;
  Tensor (*part)(const void* work, const Tensor& whole, std::int64_t i);
  Tensor (*make)(const void* work, std::int64_t i);
};
/// In the forward pass, `make_first(first, i)` makes the pieces.
Tensor recompute(const char* name, const Tensor& out, const Pieces& pieces, const void* first,
                 Tensor (*make_first)(const void* first, std::int64_t i));

/// Computes make(0), make(1), ... make(count - 1), and copies each to its part of the result. part(y, i) is the view of
/// y that piece i fills. The parts together fill y, and no two overlap. At most one piece is in memory at any time: its
/// memory is freed after the forward pass, and the backward pass makes it again with the same arguments and the same
/// values.
///
///   Tensor y = recompute("rows", tape.make(x.shape), n,
///                        [](const Tensor& all, std::int64_t i) { return slice(all, 0, i, 1); },
///                        [=](std::int64_t i) { return gelu(slice(x, 0, i, 1)); });
///
/// `out` is fresh memory of the tape, or a view of all of it. `make` may use any tensor of the step, and all tensors
/// that it uses receive their gradients. It must capture by value, and only trivial values. Objects that it points to
/// (layers, masks) must live until the backward pass is done. Inside another `recompute`, pieces are stored, because
/// the outer one discards them. Throws heed::Failed if a piece has another shape than its part.
///
/// With `first`, this function makes the pieces in the forward pass instead of `make`. It must make the same pieces,
/// but may report on them, and may capture by reference. Without recording, each piece is discarded before the next one
/// is made, also inside another `recompute`.
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

/// Copies x to y, a view of existing memory. It saves a result beyond a Tape::ArenaScope. Throws heed::Failed if the
/// shapes differ.
void put_into(const Tensor& y, const Tensor& x);

} // namespace heed::HEED_REAL
