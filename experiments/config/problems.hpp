// Collects all errors in a configuration, to report them together.
#pragma once

#include "autograd/error.hpp"

#include <string>
#include <utility>
#include <vector>

namespace heed {

/// The errors of a configuration, each of which has its place in front: "a.toml:3:9: ...".
struct RefusedConfig : Refused {
  RefusedConfig(const std::string& text, std::vector<std::string> all) : Refused(text), problems(std::move(all)) {}
  std::vector<std::string> problems; ///< all of them; the text has at most ten
};

class Problems {
public:
  void add(std::string problem) { all_.push_back(std::move(problem)); }
  bool empty() const { return all_.empty(); }

  /// If there are problems, throws heed::RefusedConfig with the first ten, one per line.
  void refuse() const {
    if (all_.empty()) return;
    constexpr std::size_t shown = 10;
    std::string text;
    for (std::size_t i = 0; i < all_.size() && i < shown; ++i) text += (i ? "\n" : "") + all_[i];
    if (all_.size() > shown) text += "\n... and " + std::to_string(all_.size() - shown) + " more";
    throw RefusedConfig(text, all_);
  }

private:
  std::vector<std::string> all_;
};

} // namespace heed
