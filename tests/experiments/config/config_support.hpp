// Helpers for the tests of configurations: parse a configuration from text, catch error messages, list other values of
// an option, and make temporary folders.
#pragma once

#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/config/values.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace heed::test {

/// The message of the heed::Refused that `work` throws; empty if it throws none.
template <class Work> std::string refusal(Work work) {
  try {
    work();
  } catch (const Refused& refused) {
    return refused.what();
  }
  return "";
}

/// The error message for the text of a configuration file, when it is parsed or resolved; empty if it is valid.
inline std::string refusal_of(const std::string& toml) {
  return refusal([&] { Settings::parse(toml, "x.toml").resolve(); });
}

inline Config config(const std::string& toml, const std::vector<std::string>& assignments = {}) {
  Settings settings = Settings::parse(toml, "x.toml");
  settings.override_with(assignments);
  return settings.resolve();
}

/// The registered words of an option, as messages list them. Tests that use it need no change for a new variant.
inline std::string words_of(const std::string& key) { return list_in_words(find_option(key)->words); }

/// Candidates for a value other than the given one. They may lie outside the option's bounds.
struct Others {
  const Option& o;
  std::vector<Value> operator()(bool v) const { return {Value(!v)}; }
  std::vector<Value> operator()(std::int64_t v) const {
    return {Value(v + 1), Value(v - 1), Value(2 * v), Value(v / 2)};
  }
  std::vector<Value> operator()(double v) const {
    return {Value(v / 2), Value(v * 2), Value(v + 0.1), Value(v + 1), Value(std::nextafter(v, 1e9)), Value(v / 3)};
  }
  std::vector<Value> operator()(const std::string&) const {
    std::vector<Value> out;
    for (const std::string& w : o.words) out.emplace_back(w);
    if (!o.formula_like.empty()) return {Value(o.formula_like)};
    if (o.name == "metric") return {Value(std::string("val_accuracy")), Value(std::string("steps_to(val_loss, 0.5)"))};
    if (o.words.empty()) out = {Value(std::string("other")), Value(std::string("\"quoted\"\t\\ \u00e4 'x' #"))};
    return out;
  }
  std::vector<Value> operator()(const WordOrNumber&) const {
    std::vector<Value> out{Value(WordOrNumber{"", 0.1}), Value(WordOrNumber{"", 3.0})};
    for (const std::string& w : o.words) out.emplace_back(WordOrNumber{w, 0.0});
    return out;
  }
  template <class T> std::vector<Value> operator()(const std::vector<T>& v) const {
    std::vector<T> longer = v;
    if constexpr (std::is_arithmetic_v<T>) longer.push_back(T{1});
    else longer.push_back(o.name == "also" ? T("val_accuracy") : T{});
    return {Value(longer), Value(std::vector<T>{})};
  }
};

/// Valid values of an option other than its default: each other word, and numbers on both sides of the default.
inline std::vector<Value> other_values(const Option& option) {
  std::vector<Value> out;
  for (Value& v : std::visit(Others{option}, option.default_value))
    if (v != option.default_value && wrong_value(option, option.name, v).empty()) out.push_back(std::move(v));
  return out;
}

/// A temporary folder. The destructor removes it.
class Folder {
public:
  Folder() : path_(make()) {}
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

private:
  static std::filesystem::path make() {
    std::string name = (std::filesystem::temp_directory_path() / "heed-config-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    return name;
  }
  std::filesystem::path path_;
};

} // namespace heed::test
