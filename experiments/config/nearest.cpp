#include "experiments/config/settings.hpp"

#include <algorithm>
#include <cctype>

namespace heed {
namespace {

/// Optimal string alignment distance: an insertion, a deletion, a substitution and a swap of neighbours cost 1 each.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

} // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& allowed) {
  // A typing error is not this long, and the time for the distance grows with the length.
  if (word.size() > 200) return "";
  const std::string wanted = lower(word);
  std::string best;
  std::size_t least = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& candidate : allowed) {
    const std::size_t d = distance(wanted, lower(candidate));
    if (d < least && d < std::max(wanted.size(), candidate.size())) {
      least = d;
      best = candidate;
    }
  }
  if (best.empty() && wanted.size() >= 3)
    for (const std::string& candidate : allowed)
      if (lower(candidate).starts_with(wanted)) return candidate;
  return best;
}

} // namespace heed
