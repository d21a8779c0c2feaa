#include "experiments/tasks/token_text.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/data_file.hpp"
#include "experiments/tasks/vocabulary_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace heed {

namespace {

/// Increases with every change that makes different tokens from the same files and options, or that changes the format.
constexpr int token_text_version = 2;

constexpr std::array<const char*, 2> count_names = {"training counts", "validation counts"};

/// @param counts  the number of occurrences of each token
UnknownTokens count_unknown(std::span<const std::int64_t> counts, const Vocabulary& vocabulary) {
  const std::int32_t unknown = vocabulary.unknown();
  return {unknown < 0 ? 0 : counts[static_cast<std::size_t>(unknown)],
          std::accumulate(counts.begin(), counts.end(), std::int64_t{0})};
}

/// A range of bytes of a file.
struct Range {
  const DataFile* file = nullptr;
  std::uint64_t begin = 0, end = 0;
};

/// The parts of n bytes or characters of data.path. A part is empty if its split has a separate file.
std::array<TextPart, 3> split_text(std::int64_t size, const DataOptions& data) {
  const auto n = static_cast<double>(size);
  const auto test_begin = size - (data.test_path.empty() ? static_cast<std::int64_t>(n * data.test) : 0);
  const auto train_end = data.validation_path.empty() ? static_cast<std::int64_t>(n * data.train) : test_begin;
  return {TextPart{0, train_end}, TextPart{train_end, std::max(train_end, test_begin)}, TextPart{test_begin, size}};
}

/// The positions where a text may be cut so that its pieces give the same tokens as the whole text.
Cut cut_of(const std::string& tokens) {
  if (tokens == "bytes") return Cut::anywhere;
  if (tokens == "characters") return Cut::after_character;
  return tokens == "words" ? Cut::after_space : Cut::nowhere;
}

/// Writes tokens with a fixed number of bytes each, and counts them per part.
class TokenSink {
public:
  TokenSink(DataCacheWriter& to, const Vocabulary& vocabulary, std::int64_t width)
      : to_(to), vocabulary_(vocabulary), width_(width) {
    for (std::vector<std::int64_t>& counts : counts_) counts.resize(static_cast<std::size_t>(vocabulary.size()));
  }

  void add(std::string_view text) {
    tokens_.clear();
    vocabulary_.encode(text, tokens_);
    if (width_ == 1) write<std::uint8_t>();
    else write<std::uint16_t>();
    written_ += std::ssize(tokens_);
  }

  std::int64_t written() const { return written_; }

  /// The tokens from now on belong to this part.
  void begin_part(std::size_t part) {
    part_ = part;
    ends_ = nullptr;
  }
  /// Parts end at these positions; each is followed by the next.
  void end_parts_at(const std::array<TextPart, 3>& parts) { ends_ = &parts; }

  const std::array<std::vector<std::int64_t>, 3>& counts() const { return counts_; }

private:
  template <class Token> void write() {
    bytes_.resize(tokens_.size() * sizeof(Token));
    auto* const out = reinterpret_cast<Token*>(bytes_.data());
    for (std::size_t i = 0; i < tokens_.size(); ++i) out[i] = static_cast<Token>(tokens_[i]);
    to_.write(bytes_);
    count();
  }

  void count() {
    for (std::size_t i = 0; i < tokens_.size();) {
      while (ends_ && part_ < 2 && written_ + static_cast<std::int64_t>(i) >= (*ends_)[part_].end) ++part_;
      const std::int64_t left = ends_ ? (*ends_)[part_].end - written_ : std::ssize(tokens_);
      const auto end = static_cast<std::size_t>(std::clamp<std::int64_t>(left, 0, std::ssize(tokens_)));
      std::vector<std::int64_t>& counts = counts_[part_];
      for (; i < end; ++i) ++counts[static_cast<std::size_t>(tokens_[i])];
    }
  }

  DataCacheWriter& to_;
  const Vocabulary& vocabulary_;
  std::int64_t width_, written_ = 0;
  std::size_t part_ = 0;
  const std::array<TextPart, 3>* ends_ = nullptr; // null: parts begin with begin_part
  std::array<std::vector<std::int64_t>, 3> counts_;
  std::vector<std::int32_t> tokens_;
  std::vector<std::byte> bytes_;
};

} // namespace

struct TokenText::Files {
  std::array<std::optional<DataFile>, 3> files; // by Split; that of training is data.path
  std::array<std::uint64_t, 3> begins{};        // of the texts, after byte-order marks
  std::array<std::string, 3> fingerprints;

  const DataFile& main() const { return *files[0]; }
  bool whole_alphabet = false; // the tokens are characters, and one file has all splits

  /// Checks that a file that is read again has not changed.
  void require_same(std::size_t i) const {
    if (files[i]->fingerprint(begins[i]) == fingerprints[i]) return;
    throw Refused(fmt::format("{} was changed while Heed read it; start again when the change is "
                              "complete",
                              files[i]->name()));
  }

  /// The byte range of each part.
  std::array<Range, 3> ranges(const DataOptions& data) const {
    std::array<Range, 3> out;
    std::uint64_t begin = begins[0];
    const auto wanted = split_text(static_cast<std::int64_t>(main().size() - begin), data);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::uint64_t end = std::max(
          begin, i == 2 ? main().size() : main().behind_space(begins[0] + static_cast<std::uint64_t>(wanted[i].end)));
      out[i] = {&main(), begin, end};
      begin = end;
    }
    for (const std::size_t i : {1U, 2U})
      if (files[i]) out[i] = {&*files[i], begins[i], files[i]->size()};
    return out;
  }
};

TokenText::TokenText(const DataOptions& data, const std::function<DataCachePlace(std::uint64_t)>& place_of,
                     const std::string& of_set) {
  const auto files = std::make_shared<Files>();
  const std::array<std::pair<const char*, const std::string*>, 3> names = {
      {{"path", &data.path},
       {of_set.empty() ? "validation_path" : "validation_sets", of_set.empty() ? &data.validation_path : &of_set},
       {"test_path", &data.test_path}}};
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && names[i].second->empty()) continue;
    const DataFile& file = files->files[i].emplace("data", names[i].first, *names[i].second);
    if (data.tokens != "bytes") files->begins[i] = file.mark_size();
    bytes += file.size();
  }
  files->whole_alphabet = data.tokens == "characters" && data.validation_path.empty() && data.test_path.empty();
  noun_ = token_noun(data.tokens);
  const DataCachePlace place = place_of(bytes);
  const std::array<const char*, 3> words = {"", of_set.empty() ? " validation " : " set ", " test "};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (files->files[i]) {
      files->fingerprints[i] = known_fingerprint(*files->files[i], files->begins[i], place);
      fingerprint_ += words[i] + files->fingerprints[i];
    }
  // The key does not contain paths. It contains the exact split fractions.
  const std::string key = fmt::format("text {}\n{}\n{}\n{:a} {:a} {} {}\n{}", token_text_version, fingerprint_,
                                      data.tokens, data.train, data.test, data.min_count, data.max_vocabulary,
                                      vocabulary_identity(data));
  make_ = maker(data, files, !of_set.empty());
  if (!take(data_cache(place, key, make_), data) && !take(made_data(make_), data))
    throw Failed("a cached text is damaged, or another program wrote it; remove Heed's folder data/ in ~/.cache");
  fingerprint_ += vocabulary_->fingerprint();
}

std::function<void(DataCacheWriter&)> TokenText::maker(const DataOptions& options, std::shared_ptr<const Files> from,
                                                       bool of_set) const {
  return [files = std::move(from), data = options, noun = noun_, of_set](DataCacheWriter& to) {
    const DataFile& main = files->main();
    for (const auto& file : files->files)
      if (file && data.tokens != "bytes" && !files->whole_alphabet) file->require_utf8();
    std::shared_ptr<const Vocabulary> vocabulary;
    std::array<Range, 3> ranges;
    std::array<TextPart, 3> parts;
    if (files->whole_alphabet) {
      if (files->begins[0] == main.size())
        throw Refused(fmt::format("{} is empty; a text needs characters to learn from", main.name()));
      std::vector<std::uint8_t> occurs(0x110000);
      std::int64_t length = 0;
      main.each_character(files->begins[0], main.size(), [&](char32_t c) {
        occurs[c] = 1;
        ++length;
      });
      std::vector<char32_t> alphabet;
      for (std::size_t c = 0; c < occurs.size(); ++c)
        if (occurs[c] != 0) alphabet.push_back(static_cast<char32_t>(c));
      vocabulary = character_vocabulary(std::move(alphabet), false);
      parts = split_text(length, data);
    } else {
      ranges = files->ranges(data);
      vocabulary = make_vocabulary(
          data,
          [&](const std::function<void(std::string_view)>& use) {
            ranges[0].file->each_piece(ranges[0].begin, ranges[0].end, cut_of(data.tokens),
                                       [&](std::string_view piece, std::uint64_t) { use(piece); });
          },
          true);
    }
    constexpr std::int64_t most = std::int64_t{std::numeric_limits<std::uint16_t>::max()} + 1;
    if (vocabulary->size() > most)
      throw Refused(files->whole_alphabet ? fmt::format("{} has {} different characters; at most {} are supported",
                                                        main.name(), vocabulary->size(), most)
                                          : fmt::format("{} has a vocabulary of {}; at most {} are supported: set "
                                                        "data.max_vocabulary, or raise data.min_count",
                                                        main.name(), vocabulary->size(), most));

    const std::int64_t width = vocabulary->size() <= 256 ? 1 : 2;
    std::uint64_t bytes = 0;
    for (const auto& file : files->files) bytes += file ? file->size() : 0;
    to.begin("tokens", Check::when_used, bytes * (data.tokens == "words" ? 1 : static_cast<std::uint64_t>(width)));
    TokenSink sink(to, *vocabulary, width);
    const auto add = [&](const Range& range) {
      range.file->each_piece(range.begin, range.end, cut_of(data.tokens),
                             [&](std::string_view piece, std::uint64_t) { sink.add(piece); });
    };
    if (files->whole_alphabet) {
      sink.end_parts_at(parts);
      add({&main, files->begins[0], main.size()});
      if (const auto& set = files->files[1]) {
        set->require_utf8();
        parts[1].begin = sink.written();
        sink.begin_part(1);
        add({&*set, files->begins[1], set->size()});
        parts[1].end = sink.written();
      }
    } else {
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        sink.begin_part(i);
        parts[i].begin = sink.written();
        add(ranges[i]);
        parts[i].end = sink.written();
      }
    }
    for (std::size_t i = 0; i < files->files.size(); ++i)
      if (files->files[i]) files->require_same(i);

    for (std::size_t i = 0; i < count_names.size(); ++i) {
      to.begin(count_names[i]);
      to.write_numbers(std::span<const std::int64_t>(sink.counts()[i]));
    }
    FieldWriter about;
    about.number(width);
    for (const TextPart& part : parts) about.number(part.begin).number(part.end);
    std::array<UnknownTokens, 3> unknown;
    for (std::size_t i = 0; i < unknown.size(); ++i) unknown[i] = count_unknown(sink.counts()[i], *vocabulary);
    about.text(unknown_note(noun + "s", unknown, of_set));
    vocabulary->write(about);
    to.begin("about");
    to.write(about.bytes());
  };
}

/// Takes over the cached data. Returns false if it is incomplete or damaged.
bool TokenText::take(std::shared_ptr<const DataCache> kept, const DataOptions& data) {
  FieldReader about(kept->section("about"));
  width_ = about.number();
  for (TextPart& part : parts_) {
    part.begin = about.number();
    part.end = about.number();
  }
  notes_.clear();
  if (const std::string_view note = about.text(); !note.empty()) notes_ = {std::string(note)};
  vocabulary_ = read_vocabulary(data, about);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const auto counts = kept->numbers<std::int64_t>(count_names[i]);
    counts_[i].assign(counts.begin(), counts.end());
  }
  if (!kept->problem().empty() || !about.whole() || (width_ != 1 && width_ != 2)) return false;
  kept_ = std::move(kept);
  return true;
}

std::string TokenText::warning(bool of_set) const {
  std::array<UnknownTokens, 3> unknown;
  unknown[1] = count_unknown(counts_[1], *vocabulary_);
  return unknown[1].share() < many_unknown ? "" : unknown_note(noun_ + "s", unknown, of_set);
}

std::span<const std::byte> TokenText::tokens() const {
  std::call_once(checked_, [&] {
    checked_data_ = kept_->is_whole("tokens") ? kept_ : made_data(make_); // damaged data is made again
    tokens_ = checked_data_->section("tokens");
    used_ = true;
  });
  return tokens_;
}

void TokenText::copy(std::int64_t begin, std::int64_t size, std::int32_t* to) const {
  const std::byte* const from = tokens().data() + begin * width_;
  if (width_ == 1) std::copy_n(reinterpret_cast<const std::uint8_t*>(from), size, to);
  else std::copy_n(reinterpret_cast<const std::uint16_t*>(from), size, to);
}

void TokenText::require_whole() const {
  if (!used_) return;
  if (const std::string problem = checked_data_->problem(); !problem.empty()) throw Failed(problem);
}

} // namespace heed
