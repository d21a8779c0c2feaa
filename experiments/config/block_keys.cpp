#include "experiments/config/block_keys.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/unknown_names.hpp"
#include "experiments/config/values.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>

namespace heed {
namespace {

constexpr std::string_view block_key_example = "such as block[3].mixer.kind";

/// "2nd", "11th"
std::string ordinal(std::int64_t n) {
  const std::int64_t last = n % 100 / 10 == 1 ? 0 : n % 10;
  return fmt::format("{}{}", n, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

/// Which blocks an override means.
std::string blocks_in_words(const BlockOverride& of) {
  std::string out = of.stack;
  const auto add = [&](const std::string& words) { out += (out.empty() ? "" : " ") + words; };
  if (!of.layers.empty()) add(fmt::format("block{} {}", of.layers.size() > 1 ? "s" : "", fmt::join(of.layers, ", ")));
  if (of.every > 1) add(fmt::format("every {}", ordinal(of.every)));
  if (of.from > 0) add(fmt::format("from {}", of.from));
  if (of.to >= 0) add(fmt::format("to {}", of.to));
  return out.empty() ? "every block" : out;
}

/// A text without quotes if it is a word.
std::string value_in_words(const Value& value) {
  const std::string word = choice_word(value);
  const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  return plain ? word : value_text(value);
}

std::string unknown_in_block(std::string_view key, std::string_view name) {
  if (find_table(name) || find_table(fmt::format("block.{}", name)))
    return fmt::format("{}: {}", key,
                       unknown_key(find_table(name) ? std::string(name) : fmt::format("block.{}", name)));
  std::vector<std::string> allowed;
  for (const std::string& option : all_keys())
    if (belongs_to_blocks(option)) allowed.push_back(name_in_block(option));
  return fmt::format("{}: a block has no option '{}'{}", key, name, did_you_mean(name_in_block(name), allowed));
}

} // namespace

std::string name_in_block(std::string_view option) {
  return std::string(option.starts_with("block.") ? option.substr(6) : option);
}

std::variant<BlockKey, std::string> read_block_key(std::string_view key) {
  const std::size_t end = key.find("].");
  if (!names_block(key) || end == std::string_view::npos)
    return fmt::format("'{}' is no option of a block: give the block's number and an option, {}", key,
                       block_key_example);
  BlockKey out;
  std::string_view which = key.substr(6, end - 6);
  if (const std::size_t dot = which.find('.'); dot != std::string_view::npos) {
    out.stack = which.substr(0, dot);
    which.remove_prefix(dot + 1);
  }
  constexpr std::size_t most_digits = 9;
  const bool digits = !which.empty() && which.size() <= most_digits &&
                      std::ranges::all_of(which, [](unsigned char c) { return std::isdigit(c) != 0; }) &&
                      (which == "0" || which.front() != '0');
  const bool of_stack = out.stack.empty() ? !key.substr(6).starts_with('.')
                                          : out.stack == "encoder" || out.stack == "decoder";
  if (!digits || !of_stack)
    return fmt::format("{}: a block is named by its number, counted from 0, {}; in an encoder-decoder, also such as "
                       "block[decoder.3].mixer.kind",
                       key, block_key_example);
  out.block = std::stoll(std::string(which));
  const std::string_view name = key.substr(end + 2);
  const bool dotted = name.find('.') != std::string_view::npos && !name.starts_with("block.");
  const Option* whole = dotted ? find_option(name) : nullptr;
  out.option = whole ? std::string(name) : fmt::format("block.{}", name);
  if (!whole && !find_option(out.option)) {
    if (find_option(name) && !name.starts_with("block."))
      return fmt::format("{}: {} belongs to the whole model: set it without block[{}]", key, name, out.block);
    return unknown_in_block(key, name);
  }
  if (belongs_to_blocks(out.option)) return out;
  return out.option.starts_with("position.")
             ? fmt::format(
                   "{}: {} is about the token embeddings, which belong to the whole model; set it in [position]", key,
                   out.option)
             : fmt::format("{}: {} belongs to the whole model: set it without block[{}]", key, out.option, out.block);
}

const Option* option_of_key(std::string_view key) {
  if (!names_block(key)) return find_option(key);
  const auto read = read_block_key(key);
  const auto* of_block = std::get_if<BlockKey>(&read);
  return of_block ? find_option(of_block->option) : nullptr;
}

std::string wrong_key(std::string_view key) {
  if (!names_block(key)) return unknown_key(key);
  const auto read = read_block_key(key);
  const auto* wrong = std::get_if<std::string>(&read);
  return wrong ? *wrong : "";
}

std::string block_in_words(const BlockKey& key) {
  return fmt::format("{}{}block {}: ", key.stack, key.stack.empty() ? "" : " ", key.block);
}

void set_in_block(std::vector<BlockOverride>& overrides, std::string_view key, const Setting& setting) {
  std::erase_if(overrides, [&](const BlockOverride& other) { return other.key == key; });
  const BlockKey read = std::get<BlockKey>(read_block_key(key));
  BlockOverride& added = overrides.emplace_back();
  added.layers = {read.block};
  added.stack = read.stack;
  added.values[read.option] = setting;
  added.origin = setting.origin;
  added.key = key;
}

void replace_overrides(std::vector<BlockOverride>& overrides, std::vector<BlockOverride> with, int layer) {
  for (BlockOverride& override : with) {
    override.origin.layer = layer;
    for (auto& [key, setting] : override.values) setting.origin.layer = layer;
  }
  std::erase_if(overrides, [](const BlockOverride& other) { return other.key.empty(); });
  const auto place = std::ranges::find_if(overrides, [&](const BlockOverride& o) { return o.origin.layer >= layer; });
  overrides.insert(place, std::make_move_iterator(with.begin()), std::make_move_iterator(with.end()));
}

std::string in_words(const std::vector<BlockOverride>& overrides) {
  std::string out;
  for (const BlockOverride& override : overrides) {
    out += fmt::format("{}{}: ", out.empty() ? "" : "; ", blocks_in_words(override));
    bool first = true;
    for (const auto& [key, setting] : override.values) {
      std::string name = name_in_block(key);
      if (name.ends_with(".kind")) name.resize(name.size() - 5);
      out += fmt::format("{}{} = {}", first ? "" : ", ", name, value_in_words(setting.value));
      first = false;
    }
  }
  return out;
}

} // namespace heed
