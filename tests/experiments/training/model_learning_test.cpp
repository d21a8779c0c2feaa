// Tests that the models other than Transformers over tokens learn small tasks, each in a few seconds. The required
// results are so low that other seeds, and therefore other rounding errors, exceed them by far.
#include "tests/experiments/training/training_support.hpp"

using namespace heed;
using namespace heed::test;

namespace {

const std::string reversing = R"(
seed = 3
[task]
kind = "reverse"
validation = 100
[task.reverse]
length = 5
symbols = 6
[model]
kind = "recurrent"
width = 32
[train]
steps = 500
batch = 32
learning_rate = 1e-2
warmup = 20
schedule = "cosine"
clip = 1.0
)";

} // namespace

TEST_CASE("a recurrent translator with attention learns to reverse sequences", "[training][learning]") {
  for (const std::string attention : {"bahdanau", "luong"}) {
    INFO(attention);
    const History h = train(config(reversing, {"recurrent.attention=" + attention}));
    CHECK(h.all("train_loss")[0] > 1.7);
    CHECK(h.final("val_sequence_accuracy") > 0.9);
  }
}

TEST_CASE("a recurrent language model learns a sentence by heart", "[training][learning]") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the quick brown fox jumps over the lazy dog; ";
  const History h = train(config(R"(
[task]
kind = "text"
[task.text]
block = 16
[model]
kind = "recurrent_decoder"
width = 48
[train]
steps = 200
batch = 16
learning_rate = 2e-2
warmup = 10
clip = 1.0
)",
                                 {"data.path=" + folder.write("text.txt", text).string()}));
  CHECK(h.all("train_loss")[0] > 2);
  CHECK(h.final("val_loss") < 0.4);
}

TEST_CASE("a classifier with a context vector learns which word of a text decides", "[training][learning]") {
  // Sequences of neutral words with one word of praise or of blame among them; there are ten different words of each.
  std::string table = "label\ttext\n";
  for (int i = 0; i < 1000; ++i) {
    const bool praise = i * 7 % 13 % 2 == 0;
    table += praise ? "good\t" : "bad\t";
    const int words = 3 + i % 9, at = i * 5 % words;
    for (int w = 0; w < words; ++w)
      table += (w == at ? fmt::format("{}{}", praise ? "praise" : "blame", i % 10)
                        : fmt::format("w{}", (i * i + w * 31) % 40)) +
               " ";
    table += "\n";
  }
  const Folder folder;
  const std::string path = folder.write("sequences.tsv", table).string();
  const std::string text = R"(
seed = 3
[data]
train = 0.8
[task]
kind = "labelled_text"
[task.labelled_text]
text = "text"
label = "label"
format = "tsv"
[model]
kind = "recurrent_classifier"
width = 16
[train]
steps = 200
batch = 32
learning_rate = 1e-2
clip = 1.0
)";
  for (const std::string& pooling : find_option("model.recurrent_classifier.pooling")->words) {
    INFO(pooling);
    const History h = train(config(text, {"data.path=" + path, "model.recurrent_classifier.pooling=" + pooling}));
    // Only the first state has seen all tokens, since one direction reads from the end.
    CHECK(h.final("val_accuracy") > 0.95);
  }
}

TEST_CASE("a Transformer over patches learns to tell shapes", "[training][learning][many]") {
  const History h = train(config(R"(
seed = 3
[task]
kind = "shapes"
validation = 200
[task.shapes]
size = 12
kinds = 3
[model]
kind = "patches"
layers = 1
width = 24
heads = 2
init_std = 0.1
[model.patches]
stem = "convolution"
channels = 8
groups = 2
[train]
steps = 300
batch = 32
learning_rate = 5e-3
warmup = 20
schedule = "cosine"
clip = 1.0
)"));
  CHECK(h.all("train_loss")[0] > 0.9); // guessing gives ln 3 = 1.1
  CHECK(h.final("val_accuracy") > 0.7);
}
