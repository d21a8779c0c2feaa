#include "experiments/decoding/search.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

LengthPenalty length_penalty_kind(const std::string& word) {
  if (word == "gnmt") return LengthPenalty::gnmt;
  if (word == "fairseq") return LengthPenalty::fairseq;
  throw Failed(fmt::format("[decoding] there is no length penalty '{}'; there are gnmt and fairseq", word));
}

double length_factor(std::int64_t tokens, double alpha, LengthPenalty kind) {
  if (alpha == 0) return 1;
  const auto n = static_cast<double>(tokens);
  return std::pow(kind == LengthPenalty::gnmt ? (5 + n) / 6 : n, alpha);
}

namespace {

/// An output that has not ended.
struct Open {
  std::int64_t source; // sequence of the batch
  std::vector<std::int32_t> tokens;
  double log_probability;
};

/// A possible next token of an open output.
struct Candidate {
  std::int64_t parent; // index in the open outputs
  std::int32_t token;
  double log_probability;
};

void add_candidates(const Real* logits, std::int64_t classes, std::int32_t never, std::int64_t parent, double before,
                    std::int64_t most, std::vector<Candidate>& out) {
  const double best = static_cast<double>(*std::max_element(logits, logits + classes));
  double sum = 0;
  for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(logits[c]) - best);
  const double whole = best + std::log(sum);
  const std::size_t first = out.size();
  for (std::int64_t c = 0; c < classes; ++c)
    if (c != never)
      out.push_back({parent, static_cast<std::int32_t>(c), before + static_cast<double>(logits[c]) - whole});
  // At most `most` candidates of one parent can be among the best `most` of all.
  const auto from = out.begin() + static_cast<std::ptrdiff_t>(first);
  if (std::ssize(out) - static_cast<std::int64_t>(first) <= most) return;
  std::partial_sort(from, from + most, out.end(), [](const Candidate& a, const Candidate& b) {
    return a.log_probability != b.log_probability ? a.log_probability > b.log_probability : a.token < b.token;
  });
  out.resize(first + static_cast<std::size_t>(most));
}

bool before(const Candidate& a, const Candidate& b) {
  if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
  return a.parent != b.parent ? a.parent < b.parent : a.token < b.token;
}

class Search {
public:
  Search(std::int64_t sequences, const SearchOptions& options)
      : options_(options), best_(static_cast<std::size_t>(sequences)), found_(static_cast<std::size_t>(sequences)) {
    for (std::int64_t r = 0; r < sequences; ++r) open_.push_back({r, {}, 0});
  }

  bool done() const { return open_.empty(); }

  std::vector<std::int32_t> next_tokens() const {
    std::vector<std::int32_t> out;
    for (const Open& o : open_) out.push_back(o.tokens.empty() ? options_.begin : o.tokens.back());
    return out;
  }

  /// The index of the sequence of each open output, starting with `first_sequence`.
  std::vector<std::int64_t> sequences() const {
    std::vector<std::int64_t> out;
    for (const Open& o : open_) out.push_back(options_.first_sequence + o.source);
    return out;
  }

  /// Extends the open outputs, given their logits [open, classes]. Returns the parent of each new open output.
  std::vector<std::int64_t> advance(const Real* logits, std::int64_t classes) {
    ++length_;
    std::vector<Open> next;
    std::vector<std::int64_t> parents;
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < open_.size();) {
      const std::int64_t source = open_[i].source;
      candidates.clear();
      for (; i < open_.size() && open_[i].source == source; ++i) {
        const auto parent = static_cast<std::int64_t>(i);
        // At most one candidate of a parent is an end. With one more candidate, enough others remain.
        add_candidates(logits + parent * classes, classes, options_.begin, parent, open_[i].log_probability,
                       options_.beam + 1, candidates);
      }
      std::ranges::sort(candidates, before);
      take(source, candidates, next, parents);
    }
    open_ = std::move(next);
    return parents;
  }

  std::vector<Hypothesis> result() && { return std::move(best_); }

private:
  // Takes the `beam` most probable candidates that do not end, in order of probability, and the ends before the last of
  // them. With a beam of 1, and at the maximum length, an end also counts towards `beam`.
  void take(std::int64_t source, const std::vector<Candidate>& candidates, std::vector<Open>& next,
            std::vector<std::int64_t>& parents) {
    const std::size_t first = next.size();
    const bool last = length_ == options_.longest;
    std::int64_t taken = 0;
    for (const Candidate& c : candidates) {
      if (taken == options_.beam) break;
      const Open& parent = open_[static_cast<std::size_t>(c.parent)];
      const bool ends = c.token == options_.end;
      if (ends || last) {
        offer(source, parent.tokens, c, ends);
        if (options_.beam == 1 || last) ++taken;
        continue;
      }
      next.push_back({source, parent.tokens, c.log_probability});
      next.back().tokens.push_back(c.token);
      parents.push_back(c.parent);
      ++taken;
    }
    if (next.size() > first && can_not_improve(source, next[first].log_probability)) {
      next.resize(first);
      parents.resize(first);
    }
  }

  void offer(std::int64_t source, const std::vector<std::int32_t>& tokens, const Candidate& c, bool ends) {
    const double score = c.log_probability / factor(length_);
    Hypothesis& best = best_[static_cast<std::size_t>(source)];
    char& found = found_[static_cast<std::size_t>(source)];
    if (found && score <= best.score) return;
    found = 1;
    best = {tokens, c.log_probability, score, ends};
    if (!ends) best.tokens.push_back(c.token);
  }

  // Log probabilities only decrease, and no output is longer than the maximum.
  bool can_not_improve(std::int64_t source, double highest) const {
    const auto s = static_cast<std::size_t>(source);
    const std::int64_t kindest = options_.length_penalty > 0 ? options_.longest : length_ + 1;
    return found_[s] && best_[s].score >= highest / factor(kindest);
  }

  double factor(std::int64_t tokens) const { return length_factor(tokens, options_.length_penalty, options_.kind); }

  SearchOptions options_;
  std::int64_t length_ = 0;
  std::vector<Open> open_; // ordered by sequence, and within a sequence by probability
  std::vector<Hypothesis> best_;
  std::vector<char> found_;
};

} // namespace

std::vector<Hypothesis> search(Tape& tape, Parameters& parameters, const Model& model, const Batch& batch,
                               const SearchOptions& options) {
  if (options.longest < 1 || options.beam < 1)
    throw Failed(fmt::format("[decoding] a beam of {} and outputs of {} tokens: both must be 1 at least", options.beam,
                             options.longest));
  const Tape::FrozenWeights fixed(tape, parameters.values(), parameters.extent());
  std::unique_ptr<Decoding> decoding;
  {
    Pass pass(tape, parameters, nullptr, {.first_sequence = options.first_sequence});
    decoding = start_decoding(model, pass, batch);
    tape.rewind();
  }
  Search state(batch.sequences, options);
  while (!state.done()) {
    const std::vector<std::int64_t> sequences = state.sequences();
    Pass pass(tape, parameters, nullptr, {.sequences = sequences});
    const Tensor logits = decoding->step(pass, state.next_tokens());
    const std::vector<std::int64_t> parents = state.advance(contiguous(logits).data, logits.shape[1]);
    tape.rewind();
    if (!state.done()) decoding->select(parents);
  }
  return std::move(state).result();
}

namespace {

/// Selects sequences `parents` of [sequences, width] values.
void select_sequences(std::vector<std::int32_t>& numbers, std::int64_t width, std::span<const std::int64_t> parents) {
  std::vector<std::int32_t> out;
  out.reserve(parents.size() * static_cast<std::size_t>(width));
  for (const std::int64_t parent : parents)
    out.insert(out.end(), numbers.begin() + parent * width, numbers.begin() + (parent + 1) * width);
  numbers = std::move(out);
}

class Reread : public Decoding {
public:
  Reread(const Model& model, const Batch& batch) : model_(model), batch_(batch) {
    if (batch.format != TaskFormat::sequence_to_sequence && batch.format != TaskFormat::language_model)
      throw Failed("[decoding] the model gives a class, and no tokens");
    own_tokens_ = batch.format == TaskFormat::language_model;
    (own_tokens_ ? batch_.tokens : batch_.outputs).clear();
    (own_tokens_ ? batch_.lengths : batch_.output_lengths).assign(static_cast<std::size_t>(batch.sequences), 0);
    (own_tokens_ ? batch_.length : batch_.output_length) = 0;
  }

  Tensor step(Pass& pass, std::span<const std::int32_t> tokens) override {
    std::vector<std::int32_t>& read = own_tokens_ ? batch_.tokens : batch_.outputs;
    std::int64_t& length = own_tokens_ ? batch_.length : batch_.output_length;
    std::vector<std::int32_t> longer;
    for (std::int64_t r = 0; r < batch_.sequences; ++r) {
      longer.insert(longer.end(), read.begin() + r * length, read.begin() + (r + 1) * length);
      longer.push_back(tokens[static_cast<std::size_t>(r)]);
    }
    read = std::move(longer);
    ++length;
    std::ranges::fill(own_tokens_ ? batch_.lengths : batch_.output_lengths, static_cast<std::int32_t>(length));
    batch_.targets.assign(read.size(), ignored);
    const Tensor all = model_.logits(pass, batch_);
    return reshape(contiguous(slice(all, 1, length - 1, 1)), {batch_.sequences, all.shape[2]});
  }

  void select(std::span<const std::int64_t> parents) override {
    if (!own_tokens_) {
      select_sequences(batch_.tokens, batch_.length, parents);
      select_sequences(batch_.lengths, 1, parents);
      select_sequences(batch_.outputs, batch_.output_length, parents);
      select_sequences(batch_.output_lengths, 1, parents);
    } else {
      select_sequences(batch_.tokens, batch_.length, parents);
      select_sequences(batch_.lengths, 1, parents);
    }
    batch_.sequences = std::ssize(parents);
  }

  std::int64_t state_size(std::int64_t) const override { return 0; }

private:
  const Model& model_;
  Batch batch_;
  bool own_tokens_ = false; // true: new tokens are appended to batch_.tokens; false: to batch_.outputs
};

} // namespace

std::unique_ptr<Decoding> reread(const Model& model, const Batch& batch) {
  return std::make_unique<Reread>(model, batch);
}

std::unique_ptr<Decoding> start_decoding(const Model& model, Pass& pass, const Batch& batch) {
  std::unique_ptr<Decoding> own = model.decoding(pass, batch);
  return own ? std::move(own) : reread(model, batch);
}

} // namespace heed::HEED_REAL
