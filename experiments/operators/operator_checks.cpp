#include "experiments/operators/operator_checks.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace heed::HEED_REAL {

namespace {

using Kind = OperatorSizes::Kind;

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

void check_bounds(const char* name, std::int64_t value, std::int64_t least, std::int64_t greatest) {
  if (value < least || value > greatest)
    throw Refused(fmt::format("{} is {}; it must be from {} to {}", name, value, least, greatest));
}

// Queries [B, H, Tq, Dq], keys [B, Hk, Tk, Dk], values [B, Hk, Tk, Dv]
void check_heads(const OperatorSizes& sizes, const StridedArray& q, const StridedArray& k, const StridedArray& v) {
  const std::int64_t batch = q.shape[0], key_heads = k.shape[1], keys = k.shape[2];
  check_bounds("the number of heads of the keys", key_heads, 1, sizes.heads);
  if (sizes.heads % key_heads != 0)
    throw Refused(fmt::format("there are {} heads of keys, which do not divide the {} heads of queries", key_heads,
                              sizes.heads));
  check_shape("the queries' shape", q.shape, {batch, sizes.heads, q.shape[2], sizes.query_width});
  check_shape("the keys' shape", k.shape, {batch, key_heads, keys, sizes.key_width});
  check_shape("the values' shape", v.shape, {batch, key_heads, keys, sizes.value_width});
}

void check_mask(const OperatorSizes& sizes, const OperatorCall& call, std::int64_t batch, std::int64_t keys) {
  if (call.lengths && batch > 0) {
    const auto [least, greatest] = std::minmax_element(call.lengths, call.lengths + batch);
    if (*least < 0 || *greatest > keys)
      throw Refused(fmt::format("lengths has values from {} to {}; there are {} keys", *least, *greatest, keys));
  }
  if (!call.allowed) return;
  if (call.allowed_batch != 1 && call.allowed_batch != batch)
    throw Refused(fmt::format("the mask is for {} batch entries; there are {}", call.allowed_batch, batch));
  if (call.allowed_heads != 1 && call.allowed_heads != sizes.heads)
    throw Refused(fmt::format("the mask is for {} heads; there are {}", call.allowed_heads, sizes.heads));
}

} // namespace

void check_array(const char* name, const StridedArray& array, int rank) {
  if (array.shape.rank != rank || array.stride.rank != rank)
    throw Refused(fmt::format("{} {} has {} axes; it must have {}", name, array.shape.text(), array.shape.rank, rank));
  for (int i = 0; i < rank; ++i) {
    check_bounds(fmt::format("axis {} of {}", i, name).c_str(), array.shape[i], 0, most);
    if (array.stride[i] < 0)
      throw Refused(fmt::format("{} has the stride {} on axis {}; strides must be at least 0", name, array.stride[i],
                                i));
  }
  const bool is_empty = std::ranges::count(array.shape.extent.begin(), array.shape.extent.begin() + rank, 0) > 0;
  if (!array.data && !is_empty) throw Refused(fmt::format("{} has no memory", name));
}

void check_shape(const char* name, const Shape& found, const Shape& wanted) {
  if (!(found == wanted)) throw Refused(fmt::format("{} is {}; it must be {}", name, found.text(), wanted.text()));
}

void check(const OperatorSizes& sizes) {
  constexpr std::int64_t most_heads = 4096, widest = 65536; // as [model] heads and width
  check_bounds("the number of heads", sizes.heads, 1, most_heads);
  check_bounds("the greatest number of keys (longest)", sizes.longest, 1, most);
  if (sizes.kind == Kind::heads) {
    check_bounds("the width of the queries", sizes.query_width, 1, widest);
    check_bounds("the width of the keys", sizes.key_width, 1, widest);
    check_bounds("the width of the values", sizes.value_width, 1, widest);
  } else {
    check_bounds("the width", sizes.width, 1, widest);
    if (sizes.kind == Kind::cross) check_bounds("the width of the encoder output", sizes.memory_width, 1, widest);
  }
}

void check(const OperatorSizes& sizes, const AttentionOperator& made, const OperatorCall& call, const StridedArray& y) {
  const std::vector<OperatorParameter>& parameters = made.parameters();
  const bool has_projections = sizes.kind != Kind::heads;
  const std::size_t inputs = sizes.kind == Kind::heads ? 3 : sizes.kind == Kind::cross ? 2 : 1;
  if (call.inputs.size() != inputs)
    throw Refused(fmt::format("there are {} inputs; this attention takes {}", call.inputs.size(), inputs));
  if (call.parameters.size() != parameters.size())
    throw Refused(fmt::format("there are {} parameters; this attention has {}", call.parameters.size(),
                              parameters.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!call.parameters[i]) throw Refused(fmt::format("the parameter {} has no memory", parameters[i].name));
  for (const StridedArray& x : call.inputs) check_array("an input", x, has_projections ? 3 : 4);
  const std::int64_t batch = call.inputs[0].shape[0], queries = call.inputs[0].shape[-2],
                     keys = call.inputs.back().shape[-2];
  if (has_projections) {
    check_shape("the input's shape", call.inputs[0].shape, {batch, queries, sizes.width});
    if (sizes.kind == Kind::cross)
      check_shape("the encoder output's shape", call.inputs[1].shape, {batch, keys, sizes.memory_width});
    check_array("the result", y, 3);
    check_shape("the result's shape", y.shape, {batch, queries, made.result_width()});
  } else {
    check_heads(sizes, call.inputs[0], call.inputs[1], call.inputs[2]);
    check_array("the result", y, 4);
    check_shape("the result's shape", y.shape, {batch, sizes.heads, queries, made.result_width()});
  }
  check_bounds("the position of the first query (offset)", call.offset, 0, most - queries);
  if (std::max(call.offset + queries, keys) > sizes.longest)
    throw Refused(fmt::format("there are positions up to {}, and longest is {}", std::max(call.offset + queries, keys),
                              sizes.longest));
  check_mask(sizes, call, batch, keys);
  if (call.bias.data) {
    if (has_projections) throw Refused("attention with projections takes no bias of the scores");
    check_array("the bias", call.bias, 3);
    check_shape("the bias's shape", call.bias.shape, {call.bias.shape[0] == 1 ? 1 : sizes.heads, queries, keys});
  }
  const bool has_bias = call.bias.shape.rank > 0; // without memory if there are no queries or keys
  const std::size_t arguments = inputs + parameters.size() + (has_bias ? 1 : 0);
  if (!call.differentiable.empty() && call.differentiable.size() != arguments)
    throw Refused(fmt::format("it is said of {} arguments whether they need a gradient; there are {}",
                              call.differentiable.size(), arguments));
}

} // namespace heed::HEED_REAL
