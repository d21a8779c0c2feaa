#include "layers/attention/kv_cache.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

Tensor KVCache::Store::on(Tape& tape, std::int64_t sequences, std::int64_t length, std::int64_t capacity) const {
  return slice(tape.constant(numbers.data(), {sequences, capacity, width}), 1, 0, length);
}

void KVCache::Store::grow(std::int64_t sequences, std::int64_t length, std::int64_t from, std::int64_t to) {
  spare.resize(static_cast<std::size_t>(sequences * to * width));
  for (std::int64_t r = 0; r < sequences; ++r)
    std::copy_n(numbers.data() + r * from * width, length * width, spare.data() + r * to * width);
  numbers.swap(spare);
}

void KVCache::Store::write(const Tensor& x, std::int64_t at, std::int64_t capacity) {
  for (std::int64_t r = 0; r < x.shape[0]; ++r)
    for (std::int64_t t = 0; t < x.shape[1]; ++t) {
      const Real* from = x.data + r * x.stride[0] + t * x.stride[1];
      Real* to = numbers.data() + (r * capacity + at + t) * width;
      for (std::int64_t i = 0; i < width; ++i) to[i] = from[i * x.stride[2]];
    }
}

void KVCache::Store::select(std::span<const std::int64_t> parents, std::int64_t length, std::int64_t capacity) {
  spare.resize(parents.size() * static_cast<std::size_t>(capacity * width));
  Real* to = spare.data();
  for (const std::int64_t parent : parents) {
    std::copy_n(numbers.data() + parent * capacity * width, length * width, to);
    to += capacity * width;
  }
  numbers.swap(spare);
}

void KVCache::append(const Tensor& k, const Tensor& v, const Tensor& forget) {
  const Tensor gates = forget.tape ? transpose(forget, 1, 2) : Tensor{}; // [sequences, n, H, 1]
  const std::int64_t gate_width = forget.tape ? gates.shape[2] : 0;
  if (length_ == 0) {
    sequences_ = k.shape[0];
    keys_.width = k.shape[2];
    values_.width = v.tape ? v.shape[2] : 0;
    forget_.width = gate_width;
  }
  const std::int64_t n = k.shape[1];
  if (k.shape != Shape{sequences_, n, keys_.width} ||
      (v.tape ? v.shape != Shape{sequences_, n, values_.width} : values_.width > 0) || gate_width != forget_.width ||
      (forget.tape && gates.shape != Shape{sequences_, n, gate_width, 1}))
    throw Failed(fmt::format("[attention] keys {} and values {} do not continue {} sequences of widths {} and {}",
                             k.shape.text(), v.shape.text(), sequences_, keys_.width, values_.width));
  if (length_ + n > capacity_) {
    const std::int64_t capacity = std::max(length_ + n, 2 * capacity_);
    for (Store* store : {&keys_, &values_, &forget_}) store->grow(sequences_, length_, capacity_, capacity);
    capacity_ = capacity;
  }
  keys_.write(k, length_, capacity_);
  if (v.tape) values_.write(v, length_, capacity_);
  if (forget.tape) forget_.write(gates, length_, capacity_);
  length_ += n;
}

void KVCache::select(std::span<const std::int64_t> parents) {
  for (Store* store : {&keys_, &values_, &forget_}) store->select(parents, length_, capacity_);
  sequences_ = std::ssize(parents);
}

} // namespace heed::HEED_REAL
