// Interface to xtensor, for programs and tests that use it. It shows tensors as xtensor expressions without a copy, and
// converts arrays and expressions to tensors.
//
//   Tape tape;
//   xt::xarray<float> w = {{1, 2}, {3, 4}}, gradient = xt::zeros_like(w);
//   const Tensor x = leaf(tape, w, gradient);
//   const Tensor y = mul(x, constant(tape, xt::arange<float>(2)));
//   tape.backward(sum(y));
//   xt::sum(value(transpose(y)), {0});           // any tensor, with any strides
//   w -= 0.1F * gradient(x);                     // the derivative with respect to w
//
// A view is valid during the step of its tensor. With HEED_CHECK_VIEWS 1, the default in builds without NDEBUG, each
// access to a view's values (an element, an iterator, the evaluation of an expression, an assignment) first checks that
// the step has not ended. It throws heed::Failed if the tape was rewound or destroyed after the view was made, or, for
// a tensor of a Tape::NestedTape, if the next NestedTape has begun. The shape belongs to the view and can always be
// read.
// Two errors are not detected: a view made of a tensor that is already invalid, and a stored reference or pointer to a
// value. xtensor declares xt::allclose noexcept, so there the error terminates the program, with its message. With
// HEED_CHECK_VIEWS 0, a view is a pointer with a shape and strides, and nothing is checked.
//
// xtensor functions that need an expression's memory (xt::flip) take xt::eval(view).
//
// No source of the engine includes this header, because xtensor's headers take seconds to compile
// (docs/decisions/10-xtensor.md).
#pragma once

#include "autograd/parameters.hpp"
#include "autograd/tape.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/core.h>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <xtensor/xarray.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xoperation.hpp>
#include <xtl/xiterator_base.hpp>

#ifndef HEED_CHECK_VIEWS
#ifdef NDEBUG
#define HEED_CHECK_VIEWS 0
#else
#define HEED_CHECK_VIEWS 1
#endif
#endif

namespace heed {

template <class T, bool checked> class TensorView;

namespace view_detail {

/// Checks whether a tensor's step still lasts.
class Watch {
public:
  explicit Watch(std::shared_ptr<const std::uint64_t> generation)
      : generation_(std::move(generation)), taken_(generation_ ? *generation_ : 0) {}
  void check() const {
    if (generation_ && *generation_ != taken_) [[unlikely]]
      throw Failed("[view] the step is over: the tape was rewound, or is gone, since this view was taken; take it anew "
                   "in each step, or copy what is to stay into an xt::xarray");
  }

private:
  std::shared_ptr<const std::uint64_t> generation_;
  std::uint64_t taken_;
};

template <class T>
class WatchedIterator
    : public xtl::xrandom_access_iterator_base<WatchedIterator<T>, std::remove_const_t<T>, std::ptrdiff_t, T*, T&> {
public:
  WatchedIterator(T* p, Watch watch) : p_(p), watch_(std::move(watch)) {}

  T& operator*() const {
    watch_.check();
    return *p_;
  }
  T* operator->() const {
    watch_.check();
    return p_;
  }
  WatchedIterator& operator++() {
    ++p_;
    return *this;
  }
  WatchedIterator& operator--() {
    --p_;
    return *this;
  }
  WatchedIterator& operator+=(std::ptrdiff_t n) {
    p_ += n;
    return *this;
  }
  WatchedIterator& operator-=(std::ptrdiff_t n) {
    p_ -= n;
    return *this;
  }
  friend std::ptrdiff_t operator-(const WatchedIterator& a, const WatchedIterator& b) { return a.p_ - b.p_; }
  friend bool operator==(const WatchedIterator& a, const WatchedIterator& b) { return a.p_ == b.p_; }
  friend bool operator<(const WatchedIterator& a, const WatchedIterator& b) { return a.p_ < b.p_; }

private:
  T* p_;
  Watch watch_;
};

/// Memory with a check at each read or write of a value.
template <class T> class WatchedBuffer {
public:
  using iterator = WatchedIterator<T>;
  using const_iterator = WatchedIterator<const T>;

  WatchedBuffer(T* p, std::shared_ptr<const std::uint64_t> generation) : p_(p), watch_(std::move(generation)) {}

  T& operator[](std::size_t i) {
    watch_.check();
    return p_[i];
  }
  const T& operator[](std::size_t i) const {
    watch_.check();
    return p_[i];
  }
  iterator begin() { return {p_, watch_}; }
  const_iterator cbegin() const { return {p_, watch_}; }

private:
  T* p_;
  Watch watch_;
};

/// Memory without checks.
template <class T> class PlainBuffer {
public:
  using iterator = T*;
  using const_iterator = const T*;

  PlainBuffer(T* p, const std::shared_ptr<const std::uint64_t>&) : p_(p) {}

  T& operator[](std::size_t i) { return p_[i]; }
  const T& operator[](std::size_t i) const { return p_[i]; }
  iterator begin() { return p_; }
  const_iterator cbegin() const { return p_; }

private:
  T* p_;
};

template <class T, bool checked> using Buffer = std::conditional_t<checked, WatchedBuffer<T>, PlainBuffer<T>>;

} // namespace view_detail
} // namespace heed

namespace xt {

template <class T, bool checked> struct xcontainer_inner_types<heed::TensorView<T, checked>> {
  using reference = T&;
  using const_reference = const T&;
  using size_type = std::size_t;
  using temporary_type = xarray<std::remove_const_t<T>>;
  static constexpr layout_type layout = layout_type::dynamic;
};

template <class T, bool checked> struct xiterable_inner_types<heed::TensorView<T, checked>> {
  using inner_shape_type = dynamic_shape<std::size_t>;
  using stepper = xstepper<heed::TensorView<T, checked>>;
  using const_stepper = xstepper<const heed::TensorView<T, checked>>;
};

} // namespace xt

namespace heed {

/// Values in memory owned elsewhere, as an xtensor expression. Copying a TensorView does not copy the values. An
/// assignment writes to this memory, with broadcasting to the view's shape. Memory and strides are hidden from xtensor,
/// because some of its functions treat all memory as values, including gaps, or support only the strides of whole
/// matrices.
template <class T, bool checked>
class TensorView : public xt::xview_semantic<TensorView<T, checked>>,
                   public xt::xiterable<TensorView<T, checked>>,
                   public xt::xaccessible<TensorView<T, checked>> {
  using semantic = xt::xview_semantic<TensorView>;
  using iterable = xt::xiterable<TensorView>;
  using accessible = xt::xaccessible<TensorView>;

public:
  using value_type = std::remove_const_t<T>;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using bool_load_type = xt::bool_load_type<value_type>;
  using shape_type = xt::dynamic_shape<std::size_t>;
  using strides_type = xt::dynamic_shape<std::ptrdiff_t>;
  using backstrides_type = strides_type;
  using inner_shape_type = shape_type;
  using inner_strides_type = strides_type;
  using inner_backstrides_type = backstrides_type;
  using stepper = typename iterable::stepper;
  using const_stepper = typename iterable::const_stepper;
  using container_iterator = typename view_detail::Buffer<T, checked>::iterator;
  using const_container_iterator = typename view_detail::Buffer<T, checked>::const_iterator;
  using temporary_type = xt::xarray<value_type>;
  using expression_tag = xt::xtensor_expression_tag;
  static constexpr xt::layout_type static_layout = xt::layout_type::dynamic;
  static constexpr bool contiguous_layout = false;

  TensorView(T* p, const Shape& shape, const Shape& stride, std::shared_ptr<const std::uint64_t> generation)
      : buffer_(p, std::move(generation)) {
    shape_.assign(shape.extent.begin(), shape.extent.begin() + shape.rank);
    strides_.assign(stride.extent.begin(), stride.extent.begin() + shape.rank);
    backstrides_.resize(strides_.size());
    xt::adapt_strides(shape_, strides_, backstrides_);
  }
  TensorView(const TensorView&) = default;

  TensorView& operator=(const TensorView& other) { return semantic::operator=(other); }
  template <class E> TensorView& operator=(const xt::xexpression<E>& e) { return semantic::operator=(e); }
  TensorView& operator=(const value_type& number) {
    std::fill(this->begin(), this->end(), number);
    return *this;
  }

  using accessible::shape;
  const shape_type& shape() const noexcept { return shape_; }
  xt::layout_type layout() const noexcept { return static_layout; }
  bool is_contiguous() const noexcept { return false; }
  template <class S> bool has_linear_assign(const S&) const noexcept { return false; }
  template <class S> bool broadcast_shape(S& shape, bool = false) const { return xt::broadcast_shape(shape_, shape); }

  template <class... I> T& operator()(I... at) { return buffer_[offset(at...)]; }
  template <class... I> const T& operator()(I... at) const { return buffer_[offset(at...)]; }
  template <class... I> T& unchecked(I... at) { return buffer_[offset(at...)]; }
  template <class... I> const T& unchecked(I... at) const { return buffer_[offset(at...)]; }
  template <class I> T& element(I first, I last) { return buffer_[offset_of(first, last)]; }
  template <class I> const T& element(I first, I last) const { return buffer_[offset_of(first, last)]; }

  template <class S> stepper stepper_begin(const S& shape) {
    return {this, data_xbegin(), shape.size() - shape_.size()};
  }
  template <class S> stepper stepper_end(const S& shape, xt::layout_type l) {
    const std::size_t more = shape.size() - shape_.size();
    return {this, data_xend(l, more), more};
  }
  template <class S> const_stepper stepper_begin(const S& shape) const {
    return {this, data_xbegin(), shape.size() - shape_.size()};
  }
  template <class S> const_stepper stepper_end(const S& shape, xt::layout_type l) const {
    const std::size_t more = shape.size() - shape_.size();
    return {this, data_xend(l, more), more};
  }

private:
  template <class C> friend class xt::xstepper;
  friend class xt::xview_semantic<TensorView>;

  const strides_type& strides() const noexcept { return strides_; }
  const backstrides_type& backstrides() const noexcept { return backstrides_; }
  template <class... I> std::size_t offset(I... at) const {
    return static_cast<std::size_t>(xt::data_offset<std::ptrdiff_t>(strides_, static_cast<std::ptrdiff_t>(at)...));
  }
  template <class I> std::size_t offset_of(I first, I last) const {
    return static_cast<std::size_t>(xt::element_offset<std::ptrdiff_t>(strides_, first, last));
  }
  container_iterator data_xbegin() { return buffer_.begin(); }
  const_container_iterator data_xbegin() const { return buffer_.cbegin(); }
  container_iterator data_xend(xt::layout_type l, std::size_t more) { return behind(buffer_.begin(), l, more); }
  const_container_iterator data_xend(xt::layout_type l, std::size_t more) const {
    return behind(buffer_.cbegin(), l, more);
  }
  /// The end position of xtensor's iterators: one step of the innermost axis after the last value.
  template <class I> I behind(I first, xt::layout_type l, std::size_t more) const {
    if (shape_.empty()) return ++first;
    if (std::find(shape_.begin(), shape_.end(), 0) != shape_.end()) return first; // there may be no memory to step in
    for (const std::ptrdiff_t n : backstrides_) first += n;
    const bool by_rows = l == xt::layout_type::row_major;
    if (more == 0 || by_rows) first += by_rows ? strides_.back() : strides_.front();
    return first;
  }
  void assign_temporary_impl(temporary_type&& numbers) { std::copy(numbers.cbegin(), numbers.cend(), this->begin()); }

  view_detail::Buffer<T, checked> buffer_;
  shape_type shape_;
  strides_type strides_;
  backstrides_type backstrides_;
};

} // namespace heed

namespace heed::HEED_REAL {

namespace view_detail {

template <bool checked, class T> TensorView<T, checked> view(const Tensor& x, T* p) {
  return {p, x.shape, x.stride, checked ? x.tape->generation(x) : nullptr};
}

inline void check_tensor(const char* what, const Tensor& x) {
  if (!x.tape) throw Failed(fmt::format("[{}] the tensor is empty", what));
}

/// Is it a leaf, or a view of one? The gradient of a leaf is in the caller's memory.
inline bool leaf_memory(const Tensor& x) { return x.slot->grad && !x.slot->owned; }

template <class E> Shape shape_of(const char* what, const E& e) {
  if (e.dimension() > static_cast<std::size_t>(Shape::max_rank))
    throw Failed(fmt::format("[{}] the expression has {} axes, and a tensor has at most {}", what, e.dimension(),
                             Shape::max_rank));
  Shape shape;
  for (const auto extent : e.shape()) shape.push_back(static_cast<std::int64_t>(extent));
  return shape;
}

/// Are the values row-major without gaps, as a leaf needs them?
template <class E> bool row_major(const E& e, const Shape& shape) {
  const Shape stride = shape.row_major();
  for (int i = 0; i < shape.rank; ++i)
    if (const auto found = e.strides()[static_cast<std::size_t>(i)];
        shape[i] > 1 && static_cast<std::int64_t>(found) != stride[i])
      return false;
  return true;
}

template <class E> Tensor evaluate(const char* what, Tape& tape, const E& e) {
  const Tensor x = tape.make(shape_of(what, e));
  TensorView<Real, false> numbers = view<false>(x, x.data);
  xt::noalias(numbers) = xt::cast<Real>(e);
  return x;
}

} // namespace view_detail

/// The values of any tensor, with any strides.
template <bool checked = HEED_CHECK_VIEWS> TensorView<const Real, checked> value(const Tensor& x) {
  view_detail::check_tensor("value", x);
  return view_detail::view<checked, const Real>(x, x.data);
}

/// The writable values of a leaf or of a view of a leaf. They are the leaf's original memory, so the next step uses the
/// written values, too. Write before an operation has read them. Throws heed::Failed if the tensor is no leaf.
template <bool checked = HEED_CHECK_VIEWS> TensorView<Real, checked> writable_value(const Tensor& x) {
  view_detail::check_tensor("value", x);
  if (!view_detail::leaf_memory(x)) throw Failed("[value] only a leaf's value can be written to");
  return view_detail::view<checked, Real>(x, x.data);
}

/// The gradient of a leaf, or of a view of a leaf, after `backward`. Throws heed::Failed if the tensor is no leaf
/// (`backward` frees the gradients of operations' results), and if the loss did not depend on the leaf.
template <bool checked = HEED_CHECK_VIEWS> TensorView<Real, checked> gradient(const Tensor& x) {
  view_detail::check_tensor("gradient", x);
  if (!view_detail::leaf_memory(x)) throw Failed("[gradient] the tensor is no leaf, and only leaves keep a gradient");
  if (Tape::untouched(x))
    throw Failed("[gradient] there is none: `backward` has not run, or the loss does not depend on the leaf");
  return view_detail::view<checked, Real>(x, x.slot->grad + (x.data - x.slot->value));
}

/// The readable and writable values of a parameter. Valid until a parameter is added.
inline TensorView<Real, false> value(Parameters& parameters, ParameterId id) {
  const Shape& shape = parameters[id].shape;
  return {parameters.values(id), shape, shape.row_major(), nullptr};
}

/// A parameter's part of the gradients, or of another array with the parameters' layout.
inline TensorView<Real, false> gradient(const Parameters& parameters, ParameterId id, Real* gradients) {
  const Shape& shape = parameters[id].shape;
  return {gradients + parameters[id].offset, shape, shape.row_major(), nullptr};
}

/// The values of any xtensor expression, computed into the step's memory; they require no gradient. Throws heed::Failed
/// if the expression has more axes than a tensor may have.
template <class E> Tensor constant(Tape& tape, const xt::xexpression<E>& e) {
  return view_detail::evaluate("constant", tape, e.derived_cast());
}

/// The same, with a gradient. The gradient's memory belongs to the step: see `gradient`.
template <class E> Tensor leaf(Tape& tape, const xt::xexpression<E>& e) {
  if (tape.nested()) throw Failed("[leaf] a leaf that is made aside needs memory of its own");
  const Tensor x = view_detail::evaluate("leaf", tape, e.derived_cast());
  return tape.leaf(x.data, tape.keep<Real>(x.size()), x.shape);
}

/// A leaf with the values of an array (xt::xarray, xt::xtensor, an adaptor). Its gradient is written to another array
/// of the same shape. Nothing is copied, so both must outlive the step. Throws heed::Failed if they are not row-major
/// without gaps, or if their shapes differ.
template <class V, class G> Tensor leaf(Tape& tape, V& values, G& gradient) {
  static_assert(std::is_same_v<typename V::value_type, Real> && std::is_same_v<typename G::value_type, Real>,
                "a leaf's numbers and gradient are of the type heed::HEED_REAL::Real; leaf(tape, values) converts");
  const Shape shape = view_detail::shape_of("leaf", values), other = view_detail::shape_of("leaf", gradient);
  if (!(shape == other))
    throw Failed(fmt::format("[leaf] the values are {}, but the gradient is {}", shape.text(), other.text()));
  if (!view_detail::row_major(values, shape) || !view_detail::row_major(gradient, shape))
    throw Failed("[leaf] values and gradient must be row-major without gaps; leaf(tape, values) copies any others");
  return tape.leaf(values.data(), gradient.data(), shape);
}

} // namespace heed::HEED_REAL
