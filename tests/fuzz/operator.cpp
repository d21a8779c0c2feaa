// Fuzz target: attention for other frameworks. A line of numbers has the sizes of the operator and of a call's arrays;
// the lines after it have its options, "argument OPTION=VALUE" or "further OPTION=VALUE", as Python gives them. The
// operator is refused or computes, forward and backward, within the arrays; a backward pass without the state of the
// forward pass gives the same gradients.
#include "experiments/config/config.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/operators/operator_options.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <vector>

namespace heed::fuzz {
namespace {

// The numbers of the first line, one after the other; 0 after the last one.
class Numbers {
public:
  explicit Numbers(std::string_view line) : rest_(line) {}
  std::int64_t next() {
    const std::string_view word = next_part(rest_, ' ');
    std::int64_t out = 0;
    std::from_chars(word.data(), word.data() + word.size(), out);
    return out;
  }
  std::int64_t next(std::int64_t below) { return ((next() % below) + below) % below; }

private:
  std::string_view rest_;
};

// An array of an input's sizes, and its memory.
struct Array {
  StridedArray view;
  std::vector<float> memory;
};

Array array(const Shape& shape, const Shape& stride) {
  Array out;
  std::int64_t span = 1;
  for (int i = 0; i < shape.rank; ++i)
    span += std::max<std::int64_t>(shape[i] - 1, 0) * std::max<std::int64_t>(stride[i], 0);
  for (std::int64_t i = 0; i < span; ++i) out.memory.push_back(static_cast<float>(i * 7 % 11) / 4 - 1);
  out.view = {out.memory.data(), shape, stride};
  return out;
}

Array contiguous(const Shape& shape) { return array(shape, shape.row_major()); }

// A shape from the line of numbers; its strides are those of contiguous memory, or with the last two axes exchanged, or
// from the line, too.
Array read_array(Numbers& numbers, int rank) {
  Shape shape, stride;
  for (int i = 0; i < rank; ++i) shape.push_back(numbers.next(9));
  stride = shape.row_major();
  const std::int64_t layout = numbers.next(3);
  if (layout == 1 && rank > 1) {
    stride[rank - 1] = shape[rank - 2];
    stride[rank - 2] = 1;
  }
  if (layout == 2)
    for (int i = 0; i < rank; ++i) stride[i] = numbers.next(40) - 1;
  return array(shape, stride);
}

std::int64_t size(const OperatorParameter& p) { return p.shape.size(); }

using Gradients = std::vector<std::vector<float>>;

Gradients gradients(const AttentionOperator& op, const OperatorCall& call, std::unique_ptr<OperatorState> state,
                    const StridedArray& dy) {
  Gradients out;
  std::vector<void*> to;
  for (const StridedArray& x : call.inputs) out.emplace_back(static_cast<std::size_t>(x.shape.size()), 0.0F);
  for (const OperatorParameter& p : op.parameters()) out.emplace_back(static_cast<std::size_t>(size(p)), 0.0F);
  if (call.bias.data) out.emplace_back(static_cast<std::size_t>(call.bias.shape.size()), 0.0F);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (call.differentiable[i]) to.push_back(out[i].data());
  op.backward(call, std::move(state), dy, to);
  return out;
}

bool same_bits(const Gradients& a, const Gradients& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return std::ranges::equal(x, y, [](float p, float q) { return p == q || (p != p && q != q); });
  });
}

void call_operator(const AttentionOperator& op, const OperatorSizes& sizes, Numbers& numbers) {
  std::int64_t values = 0;
  for (const OperatorParameter& p : op.parameters()) values += size(p);
  if (values > 100'000 || op.result_width() > 1000) return;
  std::vector<std::vector<float>> parameters;
  std::vector<void*> to;
  for (const OperatorParameter& p : op.parameters())
    to.push_back(parameters.emplace_back(std::max<std::size_t>(static_cast<std::size_t>(size(p)), 1)).data());
  op.initialise(static_cast<std::uint64_t>(numbers.next()), to);
  const bool has_projections = sizes.kind != OperatorSizes::Kind::heads;
  const std::int64_t count = numbers.next(5);
  std::vector<Array> inputs;
  for (std::int64_t i = 0; i < count; ++i) inputs.push_back(read_array(numbers, has_projections ? 3 : 4));
  if (inputs.empty()) return;
  OperatorCall call;
  for (const Array& x : inputs) call.inputs.push_back(x.view);
  call.parameters.assign(to.begin(), to.end());
  if (numbers.next(20) == 1) call.parameters.push_back(nullptr);
  call.offset = numbers.next();
  if (call.offset > 1000 && call.offset < 1'000'000'000) call.offset %= 1000; // tables of positions would be large
  const std::int64_t batch = inputs[0].view.shape[0], queries = inputs[0].view.shape[-2],
                     keys = inputs.back().view.shape[-2];
  std::vector<std::int32_t> lengths;
  if (numbers.next(2) == 1) {
    for (std::int64_t b = 0; b <= batch; ++b) lengths.push_back(static_cast<std::int32_t>(numbers.next(12) - 1));
    call.lengths = lengths.data();
  }
  std::vector<std::uint8_t> allowed;
  if (numbers.next(2) == 1) {
    call.allowed_batch = numbers.next(9);
    call.allowed_heads = numbers.next(9);
    const std::int64_t all = call.allowed_batch * call.allowed_heads * queries * keys;
    for (std::int64_t i = 0; i <= all; ++i) allowed.push_back(static_cast<std::uint8_t>((i * 5 + 1) % 3 % 2));
    call.allowed = allowed.data();
  }
  Array bias;
  if (numbers.next(2) == 1) {
    bias = read_array(numbers, 3);
    if (!(bias.view.stride == bias.view.shape.row_major())) return; // the caller's promise
    call.bias = bias.view;
  }
  call.training = numbers.next(2) == 1;
  call.seed = 3;
  call.threads = static_cast<int>(numbers.next(4));
  const std::size_t arguments = call.inputs.size() + parameters.size() + (call.bias.data ? 1 : 0);
  for (std::size_t i = 0; i < arguments; ++i) call.differentiable.push_back(numbers.next(2) == 0);
  Shape of_result = inputs[0].view.shape;
  of_result[-1] = op.result_width();
  const Array y = contiguous(of_result), dy = contiguous(of_result);
  try {
    std::unique_ptr<OperatorState> state = op.forward(call, y.view);
    const bool wants = std::ranges::count(call.differentiable, true) > 0;
    require((state != nullptr) == wants, "a state without a gradient, or none for one");
    if (!wants) return;
    const Gradients first = gradients(op, call, std::move(state), dy.view);
    require(same_bits(first, gradients(op, call, nullptr, dy.view)), "the forward pass is computed again, differently");
  } catch (const Refused&) { // arrays that do not fit
  } catch (const Failed&) {  // a position after `longest`, for example
  }
}

} // namespace
} // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  std::string_view rest = fuzz::text(data, size);
  fuzz::Numbers numbers(fuzz::next_part(rest, '\n'));
  OperatorSizes sizes{.kind = static_cast<OperatorSizes::Kind>(numbers.next(3))};
  for (std::int64_t* one : {&sizes.heads, &sizes.query_width, &sizes.key_width, &sizes.value_width, &sizes.longest})
    *one = numbers.next();
  sizes.width = sizes.query_width;
  sizes.memory_width = sizes.key_width;
  OperatorOptions options;
  while (!rest.empty()) {
    std::string_view line = fuzz::next_part(rest, '\n');
    const std::string_view kind = fuzz::next_part(line, ' ');
    if (kind == "argument") options.arguments.emplace_back(line);
    if (kind == "further") options.further.emplace_back(line);
  }
  try {
    const Config config = operator_config(options, sizes);
    // The memory of a fuzzer is bounded: that an operator is as large is no fault.
    if (sizes.heads > 64 || std::max({sizes.query_width, sizes.key_width, sizes.value_width, sizes.longest}) > 1000) {
      if (sizes.heads < 4097 && sizes.longest < 1'000'000'000) return 0;
    }
    fuzz::call_operator(*engine(config).attention_operator(config, sizes), sizes, numbers);
  } catch (const Refused&) { // options or sizes that an operator does not have
  } catch (const Failed&) {  // options and sizes that do not fit together
  }
  return 0;
}
