#include "experiments/metrics/text/code_points.hpp"

#include <boost/locale/utf.hpp>

namespace heed {

std::u32string code_points(std::string_view text) {
  namespace utf = boost::locale::utf;
  std::u32string out;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end;) {
    const char* const start = p;
    const utf::code_point c = utf::utf_traits<char>::decode(p, end);
    const bool wrong = c == utf::illegal || c == utf::incomplete;
    out += wrong ? U'\uFFFD' : static_cast<char32_t>(c);
    if (wrong) p = start + 1;
  }
  return out;
}

bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

} // namespace heed
