// Attention and the linear recurrence as operators: calls on the memory of PyTorch's tensors, and the states between
// forward and backward.
#include "python/bindings/bindings.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/operators/operator_options.hpp"
#include "python/bindings/interrupts.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace nb = nanobind;

namespace heed::python {
namespace {

/// The states of forward passes whose backward pass may follow, each by the address of a mark. PyTorch holds the mark
/// as the memory of a tensor; when this is freed, the state is forgotten. A copy of the tensor has no state.
class States {
public:
  static States& all() {
    static auto* const states = new States;
    return *states;
  }
  void add(const void* mark, std::unique_ptr<OperatorState> state) {
    const std::lock_guard lock(mutex_);
    states_.emplace(mark, std::move(state));
  }
  /// Null if it was taken or forgotten, or if there never was one.
  std::unique_ptr<OperatorState> take(const void* mark) {
    const std::lock_guard lock(mutex_);
    const auto at = states_.find(mark);
    return at == states_.end() ? nullptr : std::move(states_.extract(at).mapped());
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return states_.size();
  }

private:
  // In the child of a fork, no thread of the parent may hold the lock.
  States() {
    pthread_atfork([] { all().mutex_.lock(); }, [] { all().mutex_.unlock(); }, [] { all().mutex_.unlock(); });
  }

  std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<OperatorState>> states_;
};

/// The mark of a state. Its value is always 0, so that equal calls have equal results.
using Mark = nb::ndarray<nb::numpy, std::int64_t, nb::shape<1>>;
Mark mark_of(std::unique_ptr<OperatorState> state) {
  auto* mark = new std::int64_t(0);
  if (state) States::all().add(mark, std::move(state));
  const nb::capsule owner(mark, [](void* p) noexcept {
    States::all().take(p);
    delete static_cast<std::int64_t*>(p);
  });
  return Mark(mark, {1}, owner);
}

Shape shape_of(const std::vector<std::int64_t>& extents) {
  Shape shape;
  for (const std::int64_t extent : extents) shape.push_back(extent);
  return shape;
}

/// A tensor's address, shape and strides.
using TensorMemory = std::tuple<std::uintptr_t, std::vector<std::int64_t>, std::vector<std::int64_t>>;
StridedArray array_of(const TensorMemory& t) {
  return {reinterpret_cast<void*>(std::get<0>(t)), shape_of(std::get<1>(t)), shape_of(std::get<2>(t))};
}

std::vector<void*> addresses(const std::vector<std::uintptr_t>& all) {
  std::vector<void*> out;
  for (const std::uintptr_t one : all) out.push_back(reinterpret_cast<void*>(one));
  return out;
}

const RecurrenceOperator& recurrence_of(const std::string& precision) {
  Config config = default_config();
  config.general.precision = precision;
  return engine(config).recurrence;
}
// The recurrence of the engine with this precision.
const RecurrenceOperator& recurrence(const std::string& precision) {
  if (precision == "float64") {
    static const RecurrenceOperator& double_precision = recurrence_of("float64");
    return double_precision;
  }
  static const RecurrenceOperator& single_precision = recurrence_of("float32");
  return single_precision;
}

/// The arguments of a linear recurrence, with its precision.
struct PreparedRecurrence {
  RecurrenceCall call;
  std::string precision;
};

RecurrenceArrays recurrence_arrays(const TensorMemory& outputs, const std::optional<TensorMemory>& final_state) {
  return {array_of(outputs), final_state ? array_of(*final_state) : StridedArray{}};
}

std::unique_ptr<AttentionOperator> make(const OperatorOptions& options, const OperatorSizes& sizes) {
  try {
    const Config config = operator_config(options, sizes);
    return engine(config).attention_operator(config, sizes);
  } catch (const Failed& e) {
    throw Refused(e.what()); // nothing has been computed yet
  }
}

} // namespace

void add_operators(nb::module_& module) {
  using Kind = OperatorSizes::Kind;
  nb::class_<OperatorCall>(module, "OperatorCall")
      .def("__init__",
           [](OperatorCall* at, const std::vector<TensorMemory>& inputs, const std::vector<std::uintptr_t>& parameters,
              const std::vector<bool>& differentiable, int threads) {
             new (at) OperatorCall;
             for (const TensorMemory& input : inputs) at->inputs.push_back(array_of(input));
             for (void* one : addresses(parameters)) at->parameters.push_back(one);
             at->differentiable = differentiable;
             at->threads = threads;
           })
      .def("set_bias", [](OperatorCall& call, const TensorMemory& bias) { call.bias = array_of(bias); })
      .def("set_mask",
           [](OperatorCall& call, std::int64_t offset, std::uintptr_t lengths, std::uintptr_t allowed,
              std::int64_t allowed_batch, std::int64_t allowed_heads) {
             call.offset = offset;
             call.lengths = reinterpret_cast<const std::int32_t*>(lengths);
             call.allowed = reinterpret_cast<const std::uint8_t*>(allowed);
             call.allowed_batch = allowed_batch;
             call.allowed_heads = allowed_heads;
           })
      .def("set_training", [](OperatorCall& call, std::uint64_t seed) {
        call.training = true;
        call.seed = seed;
      });
  nb::class_<AttentionOperator>(module, "AttentionOperator")
      .def("parameters",
           [](const AttentionOperator& op) {
             std::vector<std::pair<std::string, std::vector<std::int64_t>>> out;
             for (const OperatorParameter& p : op.parameters())
               out.push_back({p.name, {p.shape.extent.begin(), p.shape.extent.begin() + p.shape.rank}});
             return out;
           })
      .def("result_width", &AttentionOperator::result_width)
      .def("initialise", [](const AttentionOperator& op, std::uint64_t seed,
                            const std::vector<std::uintptr_t>& to) { op.initialise(seed, addresses(to)); })
      .def("forward",
           [](const AttentionOperator& op, const OperatorCall& call, const TensorMemory& y) {
             std::unique_ptr<OperatorState> state;
             {
               const Unlocked unlocked;
               state = op.forward(call, array_of(y));
             }
             return mark_of(std::move(state));
           })
      .def("backward", [](const AttentionOperator& op, const OperatorCall& call, std::uintptr_t mark,
                          const TensorMemory& dy, const std::vector<std::uintptr_t>& gradients) {
        const Unlocked unlocked;
        op.backward(call, States::all().take(reinterpret_cast<void*>(mark)), array_of(dy), addresses(gradients));
      });
  using Texts = std::vector<std::string>;
  module.def("attention_operator",
             [](const std::string& precision, const Texts& arguments, const Texts& further, std::int64_t heads,
                std::int64_t query_width, std::int64_t key_width, std::int64_t value_width, std::int64_t longest) {
               return make({precision, arguments, further}, {.kind = Kind::heads,
                                                             .heads = heads,
                                                             .query_width = query_width,
                                                             .key_width = key_width,
                                                             .value_width = value_width,
                                                             .longest = longest});
             });
  module.def("multi_head_operator",
             [](const std::string& precision, const Texts& arguments, const Texts& further, std::int64_t heads,
                std::int64_t width, std::int64_t memory_width, std::int64_t longest) {
               return make({precision, arguments, further}, {.kind = memory_width > 0 ? Kind::cross : Kind::self,
                                                             .heads = heads,
                                                             .width = width,
                                                             .memory_width = memory_width,
                                                             .longest = longest});
             });
  nb::class_<PreparedRecurrence>(module, "RecurrenceCall")
      .def("__init__",
           [](PreparedRecurrence* at, const std::string& precision,
              const std::vector<std::optional<TensorMemory>>& inputs, const std::vector<bool>& differentiable,
              std::uintptr_t lengths, std::uintptr_t segments, int threads) {
             if (inputs.size() != 6 || differentiable.size() != 6)
               throw Refused(fmt::format("a recurrence has six inputs; there are {}", inputs.size()));
             const auto array = [&](std::size_t i) { return inputs[i] ? array_of(*inputs[i]) : StridedArray{}; };
             auto* const made = new (at)
                 PreparedRecurrence{.call = {.queries = array(0),
                                             .keys = array(1),
                                             .values = array(2),
                                             .log_decay = array(3),
                                             .initial_state = array(4),
                                             .erase = array(5),
                                             .lengths = reinterpret_cast<const std::int32_t*>(lengths),
                                             .segments = reinterpret_cast<const std::int32_t*>(segments),
                                             .threads = threads},
                                    .precision = precision};
             std::ranges::copy(differentiable, made->call.differentiable.begin());
           })
      .def("forward",
           [](const PreparedRecurrence& made, const TensorMemory& outputs,
              const std::optional<TensorMemory>& final_state) {
             std::unique_ptr<OperatorState> state;
             {
               const Unlocked unlocked;
               state = recurrence(made.precision).forward(made.call, recurrence_arrays(outputs, final_state));
             }
             return mark_of(std::move(state));
           })
      .def("backward",
           [](const PreparedRecurrence& made, std::uintptr_t mark, const TensorMemory& outputs,
              const std::optional<TensorMemory>& final_state, const std::vector<std::uintptr_t>& gradients) {
             const Unlocked unlocked;
             recurrence(made.precision)
                 .backward(made.call, States::all().take(reinterpret_cast<void*>(mark)),
                           recurrence_arrays(outputs, final_state), addresses(gradients));
           });
  module.def("operator_states", [] { return States::all().count(); });
}

} // namespace heed::python
