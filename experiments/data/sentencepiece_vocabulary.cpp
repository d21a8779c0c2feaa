#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/data/vocabulary.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <sys/stat.h>

#include <exception>

namespace heed {

namespace {

class SentencePieceVocabulary final : public Vocabulary {
public:
  explicit SentencePieceVocabulary(const std::string& path) {
    const std::string bytes = read_data_file("data", "sentencepiece", path);
    fingerprint_ = fingerprint_of(bytes);
    if (const std::string wrong = load(bytes); !wrong.empty())
      throw Refused(fmt::format("[data] sentencepiece = \"{}\" is not a SentencePiece model ({}); spm_train makes one: "
                                "spm_train --input=TEXT --model_prefix=NAME --vocab_size=8000",
                                path, wrong));
  }

  std::int64_t size() const override { return processor_.GetPieceSize(); }
  std::int32_t unknown() const override { return processor_.unk_id(); }

  void encode(std::string_view text, std::vector<std::int32_t>& tokens) const override {
    std::vector<int> pieces;
    require(processor_.Encode({text.data(), text.size()}, &pieces));
    tokens.insert(tokens.end(), pieces.begin(), pieces.end());
  }

  std::string decode(std::span<const std::int32_t> tokens) const override {
    for (const std::int32_t token : tokens)
      if (token < 0 || token >= size()) fail_unknown_token(token, size(), "pieces");
    std::string text;
    require(processor_.Decode(std::vector<int>(tokens.begin(), tokens.end()), &text));
    return text;
  }

  std::string show(std::int32_t token) const override {
    if (token < 0 || token >= size()) fail_unknown_token(token, size(), "pieces");
    return processor_.IdToPiece(token);
  }

  std::string label(std::int32_t token) const override { return show(token); }

  std::string fingerprint() const override { return fingerprint_; }

private:
  /// Loads a model. Returns the error; empty if there is none.
  std::string load(const std::string& bytes) {
    try {
      const auto status = processor_.LoadFromSerializedProto(bytes);
      return status.ok() ? "" : status.ToString();
    } catch (const std::exception& failure) { // its index of pieces throws for an empty piece
      return failure.what();
    }
  }

  static void require(const sentencepiece::util::Status& status) {
    if (!status.ok()) throw Failed(fmt::format("[data] SentencePiece: {}", status.ToString()));
  }

  sentencepiece::SentencePieceProcessor processor_;
  std::string fingerprint_;
};

} // namespace

std::shared_ptr<const Vocabulary> make_sentencepiece_vocabulary(const VocabularySource& source) {
  return std::make_shared<SentencePieceVocabulary>(source.options.sentencepiece);
}

std::shared_ptr<const Vocabulary> read_sentencepiece_vocabulary(const DataOptions& options, FieldReader&) {
  return std::make_shared<SentencePieceVocabulary>(options.sentencepiece);
}

std::string sentencepiece_identity(const DataOptions& options) {
  // Another version of the library may tokenise texts differently. This is the file that contains the function: the
  // library, or a program that is linked with it.
  std::string library;
  ::Dl_info found = {};
  struct stat about = {};
  if (::dladdr(reinterpret_cast<const void*>(&sentencepiece::SetRandomGeneratorSeed), &found) != 0 && found.dli_fname &&
      ::stat(found.dli_fname, &about) == 0)
    library = fmt::format(" {} {}", about.st_size, about.st_mtim.tv_sec);
  return fingerprint_of(read_data_file("data", "sentencepiece", options.sentencepiece)) + library;
}

} // namespace heed
