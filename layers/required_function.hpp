// A function that a variant's record must have.
#pragma once

#include <concepts>
#include <cstddef>

namespace heed {

template <class Signature> class RequiredFunction;

/// A function pointer that cannot be left out: a record without it does not compile.
template <class Result, class... Arguments> class RequiredFunction<Result(Arguments...)> {
public:
  RequiredFunction() = delete; // If the compiler points here: the record lacks this function (`make`, `pair`, `row`).
  RequiredFunction(std::nullptr_t) = delete;
  template <std::convertible_to<Result (*)(Arguments...)> Function>
  constexpr RequiredFunction(Function function) : function_(function) {} // implicit, as for a pointer

  Result operator()(Arguments... arguments) const { return function_(static_cast<Arguments>(arguments)...); }

private:
  Result (*function_)(Arguments...);
};

} // namespace heed
