#include "experiments/system/polling.hpp"

#include <utility>

namespace heed {

namespace {
thread_local const Poll* polled = nullptr;
} // namespace

PollScope::PollScope(Poll poll) : poll_(std::move(poll)), before_(std::exchange(polled, &poll_)) {}

PollScope::~PollScope() { polled = before_; }

const Poll* PollScope::current() { return polled; }

} // namespace heed
