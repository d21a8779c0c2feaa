// A door to xtensor, for programs and tests that use it: tensors are seen as xtensor expressions without a copy, and
// arrays and expressions become tensors.
//
//   Tape tape;
//   xt::xarray<float> w = {{1, 2}, {3, 4}}, gradient = xt::zeros_like(w);
//   const Tensor x = leaf(tape, w, gradient);
//   const Tensor y = mul(x, constant(tape, xt::arange<float>(2)));
//   tape.backward(sum(y));
//   xt::sum(value(transpose(y)), {0});           // any tensor, however it is strided
//   w -= 0.1F * gradient(x);                     // the derivative by w
//
// Views are of the step of their tensor. Where HEED_CHECK_VIEWS is 1, which it is by default in builds without NDEBUG,
// each use of a view's numbers (an element, an iterator's, what an expression of it computes, writing) first looks
// whether that step still lasts, and throws heed::Failed where the tape was rewound, or destroyed, since the view was
// taken; so does a view of what was made in a Tape::NestedTape once the next one begins. The shape is the view's own and may
// always be read. What is not noticed: a view that is taken of a tensor which is out of date itself, and a reference or
// pointer to a number that is kept. xtensor declares xt::allclose noexcept, so that there the error ends the program,
// with its message. With HEED_CHECK_VIEWS 0, a view is a pointer with a shape and strides, and nothing is looked at.
//
// Functions of xtensor that ask for an expression's memory (xt::flip) take xt::eval(view).
//
// None of the engine's own sources includes this: xtensor's headers take seconds to compile (docs/architecture.md).
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

/// Does a tensor's step still last?
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

/// Memory, of which each number that is read or written is checked.
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

/// Memory as it is.
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

/// Numbers that stand elsewhere, as an xtensor expression: copying it copies none of them. What is assigned to it is
/// written there, and is broadcast to its shape. Its memory and strides are not shown to xtensor, some of whose
/// functions take all memory for numbers, gaps included, or know no strides but those of whole matrices.
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
  /// A step of the innermost axis behind the last number, where xtensor's iterators end.
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

/// Is it a leaf, or a view of one? Its gradient stands in memory that was brought along.
inline bool leaf_memory(const Tensor& x) { return x.slot->grad && !x.slot->owned; }

template <class E> Shape shape_of(const char* what, const E& e) {
  if (e.dimension() > static_cast<std::size_t>(Shape::max_rank))
    throw Failed(fmt::format("[{}] the expression has {} axes, and a tensor has at most {}", what, e.dimension(),
                             Shape::max_rank));
  Shape shape;
  for (const auto extent : e.shape()) shape.push_back(static_cast<std::int64_t>(extent));
  return shape;
}

/// Are the numbers in the memory that a leaf needs, row-major without gaps?
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

/// A tensor's numbers: any tensor's, however it is strided.
template <bool checked = HEED_CHECK_VIEWS> TensorView<const Real, checked> value(const Tensor& x) {
  view_detail::check_tensor("value", x);
  return view_detail::view<checked, const Real>(x, x.data);
}

/// A leaf's numbers, or those of a view of it, to be written to: they are what it was made of, so the next step has
/// them, too. Write before an operation has read them. Throws heed::Failed for what is no leaf.
template <bool checked = HEED_CHECK_VIEWS> TensorView<Real, checked> writable_value(const Tensor& x) {
  view_detail::check_tensor("value", x);
  if (!view_detail::leaf_memory(x)) throw Failed("[value] only a leaf's value can be written to");
  return view_detail::view<checked, Real>(x, x.data);
}

/// The gradient of a leaf, or of a view of it, after `backward`. Throws heed::Failed for what is no leaf (operations'
/// results give their gradients' memory back during `backward`), and where the loss did not depend on the leaf.
template <bool checked = HEED_CHECK_VIEWS> TensorView<Real, checked> gradient(const Tensor& x) {
  view_detail::check_tensor("gradient", x);
  if (!view_detail::leaf_memory(x)) throw Failed("[gradient] the tensor is no leaf, and only leaves keep a gradient");
  if (Tape::untouched(x))
    throw Failed("[gradient] there is none: `backward` has not run, or the loss does not depend on the leaf");
  return view_detail::view<checked, Real>(x, x.slot->grad + (x.data - x.slot->value));
}

/// A parameter's numbers, to be read and written. Valid as long as no parameter is added.
inline TensorView<Real, false> value(Parameters& parameters, ParameterId id) {
  const Shape& shape = parameters[id].shape;
  return {parameters.values(id), shape, shape.row_major(), nullptr};
}

/// A parameter's part of gradients, or of anything else that has the parameters' layout.
inline TensorView<Real, false> gradient(const Parameters& parameters, ParameterId id, Real* gradients) {
  const Shape& shape = parameters[id].shape;
  return {gradients + parameters[id].offset, shape, shape.row_major(), nullptr};
}

/// The numbers of any xtensor expression, computed into the step's memory; they want no gradient. Throws heed::Failed
/// where it has more axes than a tensor may have.
template <class E> Tensor constant(Tape& tape, const xt::xexpression<E>& e) {
  return view_detail::evaluate("constant", tape, e.derived_cast());
}

/// The same, with a gradient, for which there is memory within the step: see `gradient`.
template <class E> Tensor leaf(Tape& tape, const xt::xexpression<E>& e) {
  if (tape.nested()) throw Failed("[leaf] a leaf that is made aside needs memory of its own");
  const Tensor x = view_detail::evaluate("leaf", tape, e.derived_cast());
  return tape.leaf(x.data, tape.keep<Real>(x.size()), x.shape);
}

/// A leaf made of the numbers of an array (xt::xarray, xt::xtensor, an adaptor), whose gradient is written to another
/// one of its shape. Nothing is copied, so both must outlive the step. Throws heed::Failed where they are not row-major
/// without gaps, and where their shapes differ.
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
