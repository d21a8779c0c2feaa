// Documents as text, in pieces, so that the caller can stop.
#include "experiments/report/json.hpp"

#include "experiments/system/polling.hpp"

#include <array>
#include <boost/json.hpp>

namespace heed {

std::string serialized(const boost::json::value& document) {
  constexpr std::size_t piece = 1 << 16;
  std::string out;
  boost::json::serializer writer;
  for (writer.reset(&document); !writer.done();) {
    poll_caller();
    std::array<char, piece> buffer; // NOLINT: the serializer fills it
    const boost::json::string_view text = writer.read(buffer.data(), buffer.size());
    out.append(text.data(), text.size());
  }
  return out;
}

std::string script_safe(const boost::json::value& document) {
  std::string out;
  PolledWork work;
  // These characters occur only inside JSON strings, so they can be escaped.
  for (const char c : serialized(document)) {
    work.did(1);
    switch (c) {
      case '<': out += "\\u003c"; break;
      case '>': out += "\\u003e"; break;
      case '&': out += "\\u0026"; break;
      default: out += c;
    }
  }
  return out;
}

} // namespace heed
