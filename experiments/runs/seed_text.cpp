#include "experiments/runs/seed_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace heed {

SeedText::SeedText(std::string with_0, const std::string& with_1) : text_(std::move(with_0)) {
  const auto [here, there] = std::ranges::mismatch(text_, with_1);
  const bool once = here != text_.end() && there != with_1.end() && *here == '0' && *there == '1' &&
                    std::equal(here + 1, text_.end(), there + 1, with_1.end());
  if (!once) throw std::logic_error("a seed does not stand in a text just once");
  at_ = static_cast<std::size_t>(here - text_.begin());
}

std::string SeedText::with(std::int64_t seed) const {
  const std::string_view text = text_;
  return fmt::format("{}{}{}", text.substr(0, at_), seed, text.substr(at_ + 1));
}

} // namespace heed
