// Tests that the index always agrees with the run folders, whatever happened to the index or to the folders.
#include "experiments/index/run_index.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/lease.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace heed;
using Catch::Contains;
using heed::test::index_file;
using heed::test::losses;
using heed::test::run_of;
namespace fs = std::filesystem;

namespace {

using Rows = std::vector<std::vector<Cell>>;

/// The whole content of an index, in order.
std::vector<Rows> dump(RunIndex& index) {
  return {index.query("SELECT * FROM runs ORDER BY id"), index.query("SELECT * FROM options ORDER BY run, key"),
          index.query("SELECT * FROM metrics ORDER BY run, name"), index.query("SELECT * FROM folders ORDER BY id")};
}

std::vector<Rows> dump(const fs::path& out) {
  RunIndex index(out);
  return dump(index);
}

const Cell nothing;

/// Three runs that differ in seed and score.
struct Three : Scratch {
  RunFolder a = run_of(*this, "name = \"a\"\nseed = 0\n", losses({2.0, 1.5, 1.75}));
  RunFolder b = run_of(*this, "name = \"a\"\nseed = 1\nattention.score = \"additive\"\n", losses({3.0}));
  RunFolder c = run_of(*this, "name = \"c\"\nseed = 2\n", {}, "");
};

} // namespace

TEST_CASE("runs, options and metrics are in tables that any SQLite tool can query", "[runs][index]") {
  const Three runs;
  { RunIndex made(runs.path); }
  Database file(index_file(runs.path).string());
  CHECK(file.query("SELECT id, name, state, seed, created, seconds, step, threads FROM runs WHERE id = ?",
                   {runs.a.id()}) == Rows{{runs.a.id(), "a", "finished", std::int64_t{0}, "2024-05-01T12:00:00Z", 9.0,
                                           std::int64_t{30}, std::int64_t{2}}});
  CHECK(file.query("SELECT state, seed, created, seconds FROM runs WHERE id = ?", {runs.c.id()}) ==
        Rows{{"missing", std::int64_t{2}, nothing, nothing}});
  CHECK(file.query("SELECT value FROM options WHERE run = ? AND key IN ('attention.score', 'attention.causal', "
                   "'model.width', 'train.learning_rate') ORDER BY key",
                   {runs.b.id()}) == Rows{{std::int64_t{1}}, {"additive"}, {std::int64_t{64}}, {0.001}});
  CHECK(file.query("SELECT name, last, step, best, best_step FROM metrics WHERE run = ?", {runs.a.id()}) ==
        Rows{{"val_loss", 1.75, std::int64_t{30}, 1.5, std::int64_t{20}}});
  CHECK(file.query("SELECT id, \"attention.score\", val_loss FROM flat WHERE val_loss > 2") ==
        Rows{{runs.b.id(), "additive", 3.0}});
}

TEST_CASE("the best of an accuracy is its largest, the first time that it is reached", "[runs][index]") {
  const Scratch out;
  std::vector<MetricsRecord> lines;
  for (const double accuracy : {0.5, 0.75, 0.75, 0.25})
    lines.push_back(
        {static_cast<std::int64_t>(lines.size()) + 1, 0, 0, {{"val_accuracy", accuracy}, {"odd", accuracy}}});
  run_of(out, "seed = 0\n", lines);
  RunIndex index(out.path);
  CHECK(index.query("SELECT name, last, best, best_step FROM metrics ORDER BY name") ==
        Rows{{"odd", 0.25, nothing, nothing}, {"val_accuracy", 0.25, 0.75, std::int64_t{2}}});
}

TEST_CASE("only what changed is read anew, and the index is then as one made from nothing", "[runs][index]") {
  const Three runs;
  CHECK(RunIndex(runs.path).read_anew() == 3);
  CHECK(RunIndex(runs.path).read_anew() == 0);

  append_metrics(runs.b, {20, 1, 0, {{"val_loss", 2.5}}});
  CHECK(RunIndex(runs.path).read_anew() == 1);
  run_of(runs, "name = \"c\"\nseed = 2\n", losses({4.0}));
  run_of(runs, "name = \"d\"\nseed = 9\n", losses({5.0}));
  CHECK(RunIndex(runs.path).read_anew() == 2);
  fs::remove_all(runs.a.path);
  {
    RunIndex index(runs.path);
    CHECK(index.read_anew() == 0);
    CHECK(index.size() == 3);
    CHECK(index.query("SELECT count(*) FROM options WHERE run = ?", {runs.a.id()}) == Rows{{std::int64_t{0}}});
  }
  const auto step_by_step = dump(runs.path);
  fs::remove(index_file(runs.path));
  CHECK(dump(runs.path) == step_by_step);
}

TEST_CASE("a configuration that differs from an earlier one only in its seed is read less often", "[runs][index]") {
  const Scratch out;
  EntryReader reader;
  int reads = 0;
  const ReadHook counting([&](const fs::path& path) {
    reads += path.filename() == "config.toml";
    return 0;
  });
  const auto reads_of = [&](const std::string& toml) {
    const RunFolder run = run_of(out, toml, losses({2.0}));
    reads = 0;
    CHECK(reader.read_entry(run)->id == run.id());
    return reads;
  };
  const int first = reads_of("seed = 3\n");
  for (const std::string seed : {"0", "4", "50"}) CHECK(reads_of("seed = " + seed + "\n") < first);
  CHECK(reads_of("seed = 3\nmodel.heads = 2\n") == first);
}

TEST_CASE("a run that is claimed is running, and no longer when it is let go, though no file changed",
          "[runs][index]") {
  const Scratch out;
  const RunFolder run = run_of(out, "seed = 0\n", losses({2.0}), "interrupted");
  const auto state = [&] {
    RunIndex index(out.path);
    return std::get<std::string>(index.query("SELECT state FROM runs").at(0).at(0));
  };
  CHECK(state() == "interrupted");
  {
    const auto claim = Lease::attempt(run.claim());
    CHECK(state() == "running");
  }
  CHECK(state() == "interrupted");
}

TEST_CASE("an index that is damaged, empty, cut or of another version is made anew", "[runs][index]") {
  const Three runs;
  const auto right = dump(runs.path);
  const fs::path file = index_file(runs.path);
  const std::string bytes = content(file);
  const auto heals = [&](const std::string& what) {
    INFO(what);
    RunIndex index(runs.path);
    CHECK(index.in_memory().empty());
    CHECK(dump(index) == right);
  };
  put(file, "not a database at all, but long enough to be taken for one: " + std::string(4000, 'x'));
  heals("garbage");
  put(file, "");
  heals("empty");
  put(file, bytes.substr(0, bytes.size() / 2));
  heals("cut");
  std::string holed = bytes;
  for (std::size_t i = 4096; i < holed.size(); ++i) holed[i] = static_cast<char>(i * 7);
  put(file, holed);
  heals("overwritten but for its first page");
  Database(file.string()).run("PRAGMA user_version = 1");
  put(index_folder(runs.path) / "sum", content_hash(content(file)));
  heals("another version");
  Database(file.string()).run("DELETE FROM metrics; PRAGMA user_version = 1");
  heals("another version, with other content");
  Database(file.string()).run("DROP VIEW flat; DROP TABLE metrics");
  put(index_folder(runs.path) / "sum", content_hash(content(file)));
  heals("a table missing");
  fs::remove(index_folder(runs.path) / "sum");
  heals("its checksum missing");
}

TEST_CASE("every cut of an index heals, or leaves it whole", "[runs][index]") {
  const Three runs;
  const auto right = dump(runs.path);
  const std::string bytes = content(index_file(runs.path));
  for (std::size_t size = 0; size < bytes.size(); size += 1500) {
    put(index_file(runs.path), bytes.substr(0, size));
    INFO(size);
    CHECK(dump(runs.path) == right);
  }
}

TEST_CASE("where its file can't be written, the index is in memory", "[runs][index]") {
  const Three runs;
  const auto right = dump(runs.path);
  fs::remove(index_file(runs.path));
  fs::create_directory(index_file(runs.path));
  RunIndex index(runs.path);
  CHECK_FALSE(index.in_memory().empty());
  CHECK(dump(index) == right);
  CHECK(fs::is_directory(index_file(runs.path)));
}

TEST_CASE("several processes may bring an index up to date at once", "[runs][index]") {
  const Scratch out;
  for (int seed = 0; seed < 20; ++seed) run_of(out, "seed = " + std::to_string(seed) + "\n", losses({2.0, 1.0}));
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      int status = 1;
      try {
        RunIndex index(out.path);
        status = index.size() == 20 && index.in_memory().empty() ? 0 : 1;
      } catch (...) {
      }
      _exit(status);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(RunIndex(out.path).read_anew() == 0);
}

TEST_CASE("who reads is not waited for: the index is then in memory, and says so", "[runs][index]") {
  const Three runs;
  { RunIndex made(runs.path); }
  Database reader(index_file(runs.path).string());
  reader.run("BEGIN");
  REQUIRE(reader.query("SELECT count(*) FROM runs") == Rows{{std::int64_t{3}}});
  CHECK(RunIndex(runs.path).in_memory().empty()); // no folder is new, so nothing is written
  run_of(runs, "seed = 3\n", losses({1.0}));
  const auto start = std::chrono::steady_clock::now();
  {
    RunIndex index(runs.path);
    CHECK_THAT(index.in_memory(), Contains("another program is using it"));
    CHECK(index.size() == 4);
  }
  // the time limit for waiting for the process that writes
  CHECK(std::chrono::steady_clock::now() - start < Database::patience);
  reader.run("COMMIT");
  RunIndex index(runs.path);
  CHECK(index.in_memory().empty());
  CHECK(index.size() == 4);
}

TEST_CASE("an index that is open keeps no other from being brought up to date at once", "[runs][index]") {
  const Three runs;
  const RunIndex one(runs.path);
  RunIndex other(runs.path);
  CHECK(other.in_memory().empty()); // the index as a process sees it that has waited in vain
  CHECK(other.read_anew() == 0);
}

TEST_CASE("folders that can't be relied on are left out, each with its reason", "[runs][index]") {
  const Scratch out;
  const auto left_out = [&](const std::string& seed, const std::function<void(const RunFolder&)>& damage) {
    const RunFolder run = run_of(out, "seed = " + seed + "\n", losses({2.0, 1.0}));
    { RunIndex before(out.path); }
    damage(run);
    RunIndex index(out.path);
    CHECK(index.query("SELECT 1 FROM runs WHERE id = ?", {run.id()}).empty());
    for (const LeftOut& folder : index.left_out())
      if (folder.id == run.id()) return folder.reason;
    return std::string("nothing is said of it");
  };
  const RunFolder whole = run_of(out, "seed = 99\n", losses({1.0}));
  const auto with_manifest = [](const RunFolder& run, const std::function<void(Manifest&)>& change) {
    Manifest m = *read_manifest(run);
    change(m);
    run.manifest().write(to_json(m));
  };

  CHECK_THAT(left_out("0", [](const RunFolder& r) { put(r.manifest(), "{\"format\": 1, \"run\": "); }),
             Contains("manifest.json' is damaged") && Contains("not JSON"));
  CHECK_THAT(left_out("1", [](const RunFolder& r) { fs::remove(r.manifest()); }),
             Contains("half-written") && Contains("manifest.json is missing"));
  CHECK_THAT(left_out("2", [](const RunFolder& r) { fs::remove(r.config()); }), Contains("no config.toml"));
  CHECK_THAT(left_out("3", [](const RunFolder& r) { put(r.metrics(), "{\"step\": 1}\nnonsense\n"); }),
             Contains("metrics.jsonl' is damaged in line 1"));
  CHECK_THAT(left_out("4", [](const RunFolder& r) { put(r.config(), content(r.config()) + "\n[nonsense"); }),
             Contains("config.toml is damaged"));
  CHECK_THAT(left_out("5",
                      [](const RunFolder& r) {
                        std::string text = content(r.config());
                        text.replace(text.find("seed = 5"), 8, "seed = 6");
                        put(r.config(), text);
                      }),
             Contains("no longer hashes to its ID") && Contains("edited"));
  CHECK_THAT(left_out("7", [&](const RunFolder& r) { with_manifest(r, [](Manifest& m) { m.numerics = "12"; }); }),
             Contains("another version of Heed"));
  CHECK_THAT(left_out("17",
                      [](const RunFolder& r) {
                        std::string text = content(r.manifest());
                        text.replace(text.find("  \"format\": 1,\n"), 15, "");
                        put(r.manifest(), text);
                      }),
             Contains("manifest.json' has no format number: a version of Heed before 0.3.0 wrote this run"));
  CHECK_THAT(left_out("18", [&](const RunFolder& r) { with_manifest(r, [](Manifest& m) { m.format = 2; }); }),
             Contains("manifest.json' has the format 2: a later version of Heed wrote this run"));
  CHECK_THAT(left_out("8",
                      [&](const RunFolder& r) { with_manifest(r, [](Manifest& m) { m.run = "0123456789abcdef"; }); }),
             Contains("that of run 0123456789abcdef"));

  const Scratch elsewhere;
  CHECK_THAT(left_out("10",
                      [&](const RunFolder& r) {
                        fs::rename(r.path, elsewhere / "run");
                        fs::create_directory_symlink(elsewhere / "run", r.path);
                      }),
             Contains("a link stands there"));

  RunIndex index(out.path);
  CHECK(index.left_out().size() == 11);
  CHECK(index.query("SELECT id FROM runs") == Rows{{whole.id()}});
}

TEST_CASE("a run that changes only its name or its threads is still itself", "[runs][index]") {
  const Scratch out;
  const RunFolder run = run_of(out, "name = \"before\"\n", losses({2.0}));
  std::string text = content(run.config());
  text.replace(text.find("before"), 6, "after!");
  put(run.config(), text);
  RunIndex index(out.path);
  CHECK(index.left_out().empty());
  CHECK(index.query("SELECT name FROM runs") == Rows{{"after!"}});
}

TEST_CASE("the trained parameters are counted from a checkpoint, without the optimiser's", "[runs][index]") {
  const Scratch out;
  const RunFolder run = run_of(out, "seed = 0\n", losses({2.0}));
  Checkpoint checkpoint;
  checkpoint.metadata["step"] = "10";
  const auto tensor = [&](const std::string& name, std::vector<std::int64_t> shape, std::size_t count) {
    checkpoint.tensors.push_back({name, std::move(shape), false, std::vector<std::byte>(4 * count)});
  };
  tensor("a.weight", {3, 4}, 12);
  tensor("a.bias", {4}, 4);
  tensor("gain", {}, 1);
  tensor("optimizer.adam.m.a.weight", {3, 4}, 12);
  write_checkpoint(run, 10, checkpoint);
  CHECK(parameters_in(*run.checkpoint(10).open()) == 17);
  RunIndex index(out.path);
  CHECK(index.query("SELECT parameters FROM runs") == Rows{{std::int64_t{17}}});

  // Whatever the bytes are, the answer is a number or nothing.
  const std::string bytes = content(run.checkpoint(10));
  for (std::size_t size = 0; size < bytes.size(); size += 3) {
    put(run.checkpoint(10), bytes.substr(0, size));
    parameters_in(*run.checkpoint(10).open());
  }
  put(run.checkpoint(10), std::string("\xff\xff\xff\xff\xff\xff\xff\x7f") + bytes.substr(8));
  CHECK_FALSE(parameters_in(*run.checkpoint(10).open()));
}

TEST_CASE("single blocks' options are fields of their own", "[runs][index]") {
  const Scratch out;
  run_of(out, "seed = 0\n[[block.override]]\nlayers = [1]\nresidual = \"none\"\nattention.score = \"additive\"\n", {});
  RunIndex index(out.path);
  const auto value = [&](const std::string& name) {
    return index.select({field_named(index.fields(), name, "")}).at(0).at(0);
  };
  CHECK(value("block[1].residual") == Cell("none"));
  CHECK(value("block[1].attention.score") == Cell("additive"));
  CHECK(value("block.residual") == Cell("both"));
}

TEST_CASE("runs are sorted by any field, those without a value last, and otherwise by their start", "[runs][index]") {
  const Three runs;
  RunIndex index(runs.path);
  const std::vector<IndexField> id{field_named(index.fields(), "id", "")};
  Selection by_loss;
  by_loss.sort = field_named(index.fields(), "val_loss", "");
  CHECK(index.select(id, by_loss) == Rows{{runs.a.id()}, {runs.b.id()}, {runs.c.id()}});
  by_loss.reverse = true;
  CHECK(index.select(id, by_loss) == Rows{{runs.b.id()}, {runs.a.id()}, {runs.c.id()}});
  by_loss.limit = 1;
  CHECK(index.select(id, by_loss) == Rows{{runs.b.id()}});
  CHECK(index.select(id).back() == std::vector<Cell>{runs.c.id()});
}

TEST_CASE("options that tell runs apart are found", "[runs][index]") {
  const Three runs;
  RunIndex index(runs.path);
  std::vector<std::string> names;
  for (const IndexField& field : index.options_that_differ({})) names.push_back(field.name);
  CHECK(std::count(names.begin(), names.end(), "attention.score") == 1);
  CHECK(std::count(names.begin(), names.end(), "model.width") == 0);
  CHECK(std::count(names.begin(), names.end(), "name") == 0);
}

TEST_CASE("an output folder that isn't there is refused", "[runs][index]") {
  CHECK_THROWS_AS(RunIndex("/nowhere/runs"), Refused);
}

namespace {

/// Things that can be in the place of the index's copy in an output folder, or beside it.
const std::string copy_name = "index.sqlite";

std::string all_bits_flipped_at(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(~bytes[at]);
  return bytes;
}

} // namespace

TEST_CASE("a copy for other tools lies in the output folder, as new as the index", "[runs][index][copy]") {
  const Three runs;
  const fs::path copy = runs / copy_name;
  const auto count = [&] { return Database(copy.string()).query("SELECT count(*) FROM flat"); };
  CHECK(RunIndex(runs.path).not_copied().empty());
  CHECK(count() == Rows{{std::int64_t{3}}});
  run_of(runs, "seed = 3\n", losses({1.0}));
  { RunIndex again(runs.path); }
  CHECK(count() == Rows{{std::int64_t{4}}});
  // If nothing is new, the copy is not written again. If the copy was changed or removed, it is.
  const auto written = fs::last_write_time(copy);
  { RunIndex again(runs.path); }
  CHECK(fs::last_write_time(copy) == written);
  const std::string whole = content(copy);
  put(copy, all_bits_flipped_at(whole, whole.size() / 2));
  { RunIndex again(runs.path); }
  CHECK(content(copy) == whole);
  fs::remove(copy);
  { RunIndex again(runs.path); }
  CHECK(content(copy) == whole);
}

TEST_CASE("what somebody else put in place of the copy is neither opened nor changed", "[runs][index][copy]") {
  const Three runs;
  const auto right = dump(runs.path);
  const fs::path copy = runs / copy_name;
  const Scratch elsewhere;
  const auto answers = [&](const std::string& reason) {
    RunIndex index(runs.path);
    CHECK(dump(index) == right);
    CHECK_THAT(index.not_copied(), Contains(reason));
  };
  fs::remove(copy);
  SECTION("a link to a file, which stays as it is") {
    put(elsewhere / "precious", "not to be lost");
    fs::create_symlink(elsewhere / "precious", copy);
    answers("is not an index of Heed's");
    CHECK(content(elsewhere / "precious") == "not to be lost");
    CHECK(fs::is_symlink(copy));
  }
  SECTION("a link to an index") {
    fs::copy_file(index_file(runs.path), elsewhere / "other.sqlite");
    fs::create_symlink(elsewhere / "other.sqlite", copy);
    answers("is not an index of Heed's");
    CHECK(fs::is_symlink(copy));
  }
  SECTION("another program's database") {
    Database(copy.string()).run("CREATE TABLE measurements(x); INSERT INTO measurements VALUES(7)");
    const std::string before = content(copy);
    answers("is not an index of Heed's");
    CHECK(content(copy) == before);
  }
  SECTION("a pipe, which is not waited for") {
    REQUIRE(::mkfifo(copy.c_str(), 0600) == 0);
    answers("is not an index of Heed's");
  }
  SECTION("an empty file") {
    put(copy, "");
    answers("is not an index of Heed's");
  }
}

TEST_CASE("an index that an earlier version left in the output folder is replaced, and not opened",
          "[runs][index][copy]") {
  const Three runs;
  const auto right = dump(runs.path);
  const fs::path copy = runs / copy_name;
  const std::string whole = content(copy);
  put(copy, all_bits_flipped_at(whole, 5000)); // with the header of a valid index
  SECTION("by itself") {
    CHECK(dump(runs.path) == right);
    CHECK(content(copy) == whole);
  }
  SECTION("with a journal, which SQLite would play back into what replaces it, or delete what the journal names") {
    const Scratch elsewhere;
    put(elsewhere / "victim", "not to be lost");
    // The form that SQLite's pager reads: a header, then the name of a "super-journal", its length, its checksum, a
    // mark.
    const std::string name = (elsewhere / "victim").string();
    std::uint32_t sum = 0;
    for (const char c : name) sum += static_cast<std::uint32_t>(c);
    const auto big_endian = [](std::uint32_t n) {
      return std::string{static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8),
                         static_cast<char>(n)};
    };
    const std::string mark = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
    put(runs / (copy_name + "-journal"), mark + std::string(504, '\0') + big_endian(0) + name +
                                             big_endian(static_cast<std::uint32_t>(name.size())) + big_endian(sum) +
                                             mark);
    const std::string left = content(copy);
    RunIndex index(runs.path);
    CHECK(dump(index) == right);
    CHECK_THAT(index.not_copied(), Contains("index.sqlite-journal' is in its folder"));
    CHECK(content(copy) == left);
    CHECK(content(elsewhere / "victim") == "not to be lost");
  }
}

TEST_CASE("whatever bit of an index is flipped, what it says is what the folders say", "[runs][index]") {
  const Three runs;
  const auto right = dump(runs.path);
  const fs::path file = index_file(runs.path);
  const std::string bytes = content(file);
  const auto time = fs::last_write_time(file);
  const std::size_t step = bytes.size() / 150;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    put(file, flipped);
    fs::last_write_time(file, time); // a disk can lose data without an error
    INFO("byte " << at);
    RunIndex index(runs.path);
    REQUIRE(index.in_memory().empty());
    REQUIRE(dump(index) == right);
  }
}

TEST_CASE("a run that could not be read once is in the index the next time", "[runs][index]") {
  const Three runs;
  const auto right = dump(runs.path);
  fs::remove(index_file(runs.path));
  {
    const ReadHook unreadable([&](const fs::path& path) { return path == runs.b.metrics().path() ? EIO : 0; });
    RunIndex index(runs.path);
    CHECK(index.size() == 2);
    REQUIRE(index.left_out().size() == 1);
    CHECK_THAT(index.left_out().front().reason, Contains("cannot read") && Contains("Input/output error"));
  }
  CHECK(dump(runs.path) == right);
}

TEST_CASE("a configuration and records that claim any size are named, and not read", "[runs][index]") {
  const Three runs;
  fs::resize_file(runs.a.config().path(), std::uint64_t{1} << 30);
  fs::resize_file(runs.b.manifest().path(), std::uint64_t{1} << 30);
  fs::resize_file(runs.c.config().path(), 1'000'000);
  RunIndex index(runs.path);
  CHECK(index.size() == 0);
  const auto reason = [&](const RunFolder& run) {
    for (const LeftOut& left_out : index.left_out())
      if (left_out.id == run.id()) return left_out.reason;
    return std::string();
  };
  CHECK_THAT(reason(runs.a), Contains("it has 1073741824 bytes, and at most 1048576 make sense there"));
  CHECK_THAT(reason(runs.b), Contains("it has 1073741824 bytes, and at most 67108864 make sense there"));
  CHECK_THAT(reason(runs.c), Contains("is zero, and a text has no such byte"));
}

TEST_CASE("texts of a manifest are cut, and the fingerprint of the data is not", "[runs][index][many]") {
  const Three runs;
  Manifest m = *read_manifest(runs.b);
  m.outcome = "failed";
  m.failure = std::string(20'000'000, 'f');
  m.build.version = m.failure;
  runs.b.manifest().write(to_json(m));
  {
    RunIndex index(runs.path);
    const Rows found = index.query("SELECT state, length(failure), length(heed) FROM runs WHERE id = ?", {runs.b.id()});
    CHECK(found.at(0).at(0) == Cell("failed"));
    CHECK(std::get<std::int64_t>(found.at(0).at(1)) < 17'000);
    CHECK(std::get<std::int64_t>(found.at(0).at(2)) < 17'000);
  }
  m.numerics = "12";
  runs.b.manifest().write(to_json(m));
  m.run = m.failure;
  runs.a.manifest().write(to_json(m));
  RunIndex index(runs.path);
  REQUIRE(index.left_out().size() == 2);
  for (const LeftOut& left_out : index.left_out()) CHECK(left_out.reason.size() < 1000);
  m.data = std::string(100'000, 'd');
  CHECK(manifest_from_json(to_json(m))->data == m.data);
}
