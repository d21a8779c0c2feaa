// A report's JSON as text, in pieces, so that the caller can stop.
#include "experiments/report/figures.hpp"
#include "experiments/report/json.hpp"

#include "experiments/system/polling.hpp"
#include "experiments/system/text.hpp"

#include <array>
#include <utility>

namespace heed {

namespace {

class Text final : public ReportMembers {
public:
  Text(std::string& out, bool for_page) : out_(out), for_page_(for_page) { out_ += '{'; }

  void member(std::string_view key, boost::json::value value) override {
    if (for_page_ && key == "figures")
      for (boost::json::value& figure : value.as_array())
        for (boost::json::value& series : figure.at("series").as_array())
          for (const char* drawn : {"low", "high", "standard_deviation", "runs"}) series.as_object().erase(drawn);
    separate(key);
    write(value);
  }
  void begin(std::string_view key) override {
    separate(key);
    in_arms_ = key == "arms";
    out_ += '[';
  }
  void item(boost::json::value value) override {
    if (for_page_ && in_arms_) {
      for (const char* curve : {"curve", "training_curve", "validation_curve"}) value.as_object().erase(curve);
      for (boost::json::value& run : value.at("runs").as_array()) run.as_object().erase("curve");
    }
    if (out_.back() != '[') out_ += ',';
    write(value);
  }
  void end() override { out_ += ']'; }

private:
  void separate(std::string_view key) {
    if (out_.back() != '{') out_ += ',';
    write(boost::json::value(key));
    out_ += ':';
  }
  void write(const boost::json::value& value) {
    constexpr std::size_t piece = 1 << 16;
    boost::json::serializer writer;
    for (writer.reset(&value); !writer.done();) {
      poll_caller();
      std::array<char, piece> buffer; // NOLINT: the serializer fills it
      const boost::json::string_view text = writer.read(buffer.data(), buffer.size());
      // These characters occur only inside JSON strings, so they can be escaped.
      if (for_page_) out_ += replaced(text, {{'<', "\\u003c"}, {'>', "\\u003e"}, {'&', "\\u0026"}});
      else out_.append(text.data(), text.size());
    }
  }

  std::string& out_;
  bool for_page_, in_arms_ = false;
};

void add_text(const ReportData& report, std::vector<document::Figure> figures, std::size_t every, bool for_page,
              std::string& to) {
  Text out(to, for_page);
  write_report(report, std::move(figures), every, out);
  to += '}';
}

} // namespace

std::string report_text(const ReportData& report) {
  std::string out;
  add_text(report, report_figures(report), 1, false, out);
  return out;
}

void add_script_safe_text(const ReportData& report, std::vector<document::Figure> figures, std::size_t every,
                          std::string& to) {
  add_text(report, std::move(figures), every, true, to);
}

} // namespace heed
