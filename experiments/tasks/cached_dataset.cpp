#include "experiments/tasks/cached_dataset.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/data/data_file.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

namespace heed {

namespace {

/// Increases with every change that makes a different dataset from the same files and options, or that changes the
/// format.
constexpr int listing_version = 2;

constexpr std::array<const char*, 3> token_names = {"training tokens", "validation tokens", "test tokens"};
constexpr std::array<const char*, 3> place_names = {"training places", "validation places", "test places"};

void write_level(const std::optional<Task::Level>& level, FieldWriter& to) {
  to.number(level.has_value());
  if (level) to.real(level->value).text(level->how);
}

std::optional<Task::Level> read_level(FieldReader& from) {
  if (from.number() == 0) return std::nullopt;
  const double value = from.real();
  return Task::Level{value, std::string(from.text())};
}

void write_texts(const std::vector<std::string>& texts, FieldWriter& to) {
  to.number(std::ssize(texts));
  for (const std::string& text : texts) to.text(text);
}

std::vector<std::string> read_texts(FieldReader& from) {
  std::vector<std::string> texts;
  for (std::int64_t left = from.number(); left > 0 && from; --left) texts.emplace_back(from.text());
  return texts;
}

void write_dataset(const Dataset& dataset, DataCacheWriter& to) {
  for (std::size_t i = 0; i < token_names.size(); ++i) {
    const auto tokens = dataset.examples[i].tokens();
    to.begin(token_names[i], Check::at_once, tokens.size_bytes());
    to.write_numbers(tokens);
    to.begin(place_names[i]);
    to.write_numbers(dataset.examples[i].places());
  }
  FieldWriter about;
  about.text(dataset.name).text(dataset.fingerprint);
  for (const std::string& file : dataset.files) about.text(file);
  for (const auto& references : dataset.references) {
    about.number(std::ssize(references));
    for (const Task::Reference& reference : references) about.text(reference.text).number(reference.in_vocabulary);
  }
  write_texts(dataset.labels, about);
  write_texts(dataset.notes, about);
  about.real(dataset.chance.accuracy).text(dataset.chance.how);
  write_level(dataset.chance.sequence, about);
  write_level(dataset.chance.loss, about);
  dataset.input->write(about);
  about.number(dataset.output == nullptr ? 0 : dataset.output == dataset.input ? 1 : 2);
  if (dataset.output && dataset.output != dataset.input) dataset.output->write(about);
  to.begin("about");
  to.write(about.bytes());
}

/// Reads a dataset; empty if it is damaged.
std::optional<Dataset> read_dataset(const std::shared_ptr<const DataCache>& kept, const DataOptions& data) {
  Dataset out;
  for (std::size_t i = 0; i < token_names.size(); ++i)
    out.examples[i] = ExampleList(kept->numbers<std::int32_t>(token_names[i]),
                                  kept->numbers<ExampleList::Place>(place_names[i]), kept);
  FieldReader about(kept->section("about"));
  out.name = about.text();
  out.fingerprint = about.text();
  for (std::string& file : out.files) file = about.text();
  for (auto& references : out.references)
    for (std::int64_t left = about.number(); left > 0 && about; --left) {
      references.push_back({std::string(about.text()), true});
      references.back().in_vocabulary = about.number() != 0;
    }
  out.labels = read_texts(about);
  out.notes = read_texts(about);
  out.chance.accuracy = about.real();
  out.chance.how = about.text();
  out.chance.sequence = read_level(about);
  out.chance.loss = read_level(about);
  out.input = read_vocabulary(data, about);
  if (const std::int64_t output = about.number(); output == 1) out.output = out.input;
  else if (output == 2) out.output = read_vocabulary(data, about);
  out.kept = kept;
  if (!kept->problem().empty()) return std::nullopt;
  if (!about.whole())
    throw Failed("the cached data is damaged, or another program wrote it; remove Heed's folder data/ in ~/.cache");
  return out;
}

} // namespace

std::vector<NamedFile> named_files(const Config& config) {
  const DataOptions& data = config.data;
  std::vector<NamedFile> files = {{"data", "path", data.path}};
  if (!data.validation_path.empty()) files.push_back({"data", "validation_path", data.validation_path});
  if (!data.test_path.empty()) files.push_back({"data", "test_path", data.test_path});
  if (!config.of_set.empty()) files.push_back({"data", "validation_sets", config.of_set});
  return files;
}

Dataset cached_dataset(const Config& config, const std::vector<NamedFile>& names, const std::function<Dataset()>& make,
                       const std::function<DataCachePlace(std::uint64_t)>& place_of) {
  std::vector<DataFile> files;
  std::uint64_t bytes = 0;
  for (const NamedFile& named : names) bytes += files.emplace_back(named.table, named.option, named.path).size();
  const DataCachePlace place = place_of(bytes);
  if (place.folder.empty()) return make();

  std::string key = fmt::format("listing {}\n", listing_version);
  std::vector<std::string> fingerprints;
  for (const DataFile& file : files) key += fingerprints.emplace_back(known_fingerprint(file, 0, place)) + "\n";
  // Notes contain file names and lines, so the key includes paths.
  for (const FlatOption& option : flatten(config))
    if (decides_data(option.key) && option.key != "data.bucket" &&
        (option.key != "data.split_seed" || option.identifies)) // lists of before this option stay in use
      key += option.key + "=" + option.value + "\n";
  if (!config.of_set.empty()) key += fmt::format("set={}\n", config.of_set);
  key += vocabulary_identity(config.data);

  const auto kept = data_cache(place, key, [&](DataCacheWriter& to) {
    const Dataset dataset = make();
    for (std::size_t i = 0; i < files.size(); ++i)
      if (files[i].fingerprint() != fingerprints[i])
        throw Refused(fmt::format("{} was changed while Heed read it; start again when the change is "
                                  "complete",
                                  files[i].name()));
    write_dataset(dataset, to);
  });
  auto dataset = read_dataset(kept, config.data);
  return dataset ? std::move(*dataset) : make();
}

} // namespace heed
