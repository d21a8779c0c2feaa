#include "experiments/data/normal_form.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <unordered_map>
#include <utf8proc.h>

namespace heed {

namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

} // namespace

std::string composed(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                                             static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(bytes, &std::free);
  return size < 0 ? std::string() : std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::string look_alike_warning(const std::function<void(const std::function<void(std::string_view)>&)>& texts,
                               std::string_view what) {
  std::unordered_map<std::string, std::string> forms; // by composed form: the first text with this form
  std::size_t alike = 0;
  std::string first;
  texts([&](std::string_view text) {
    if (is_ascii(text)) return;
    std::string form = composed(text);
    if (form.empty()) return;
    const auto [known, is_new] = forms.try_emplace(form, text);
    if (is_new || known->second == text) return;
    if (alike++ == 0) first = std::move(form);
  });
  if (alike == 0) return "";
  return fmt::format(
      "{} {}{} in several forms of Unicode that look alike, such as \"{}\": they count as different {}s. "
      "Convert the data to NFC (uconv -x any-nfc)",
      alike, what, alike == 1 ? " is there" : "s are there", first, what);
}

} // namespace heed
