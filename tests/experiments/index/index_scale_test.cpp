// Tests that the optimisations for very many run folders do not change the index's content: values that arms share are
// read and stored once, and folders are checked without being opened.
#include "experiments/config/config.hpp"
#include "experiments/index/index_place.hpp"
#include "experiments/index/run_index.hpp"
#include "experiments/system/lease.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <algorithm>
#include <cmath>
#include <fcntl.h>
#include <map>
#include <random>
#include <sys/stat.h>

using namespace heed;
using Catch::Contains;
using heed::test::index_file;
using heed::test::losses;
using heed::test::run_of;
namespace fs = std::filesystem;

namespace {

using Rows = std::vector<std::vector<Cell>>;

/// The whole content of an index, in order.
std::vector<Rows> full_dump(const fs::path& out) {
  RunIndex index(out);
  std::vector<Rows> rows;
  for (const char* sql :
       {"SELECT * FROM runs ORDER BY id", "SELECT * FROM options ORDER BY run, key",
        "SELECT * FROM metrics ORDER BY run, name", "SELECT * FROM folders ORDER BY id",
        "SELECT * FROM option_sets ORDER BY option_set, key", "SELECT * FROM metric_names ORDER BY name",
        "SELECT sql FROM sqlite_master WHERE name = 'flat'", "SELECT * FROM flat ORDER BY id"})
    rows.push_back(index.query(sql));
  return rows;
}

std::vector<Rows> full_dump_from_nothing(const fs::path& out) {
  fs::remove(index_file(out));
  return full_dump(out);
}

/// The runs, options and metrics that a slow reading of the folders, one by one, gives.
struct Slowly {
  Rows runs, options, metrics;

  explicit Slowly(const fs::path& out) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(out))
      if (entry.is_directory()) folders.push_back(entry.path());
    std::ranges::sort(folders);
    for (const fs::path& folder : folders) read(RunFolder{folder});
    std::ranges::sort(options);
    std::ranges::sort(metrics);
  }

private:
  void read(const RunFolder& run) {
    Config config;
    try {
      config = Settings::load(run.config()).resolve();
    } catch (const Refused&) {
      return;
    }
    std::optional<Manifest> manifest;
    if (fs::exists(run.manifest())) manifest = manifest_from_json(content(run.manifest())).value;
    if (fs::exists(run.manifest()) && !manifest) return;
    if (!manifest && fs::exists(run.metrics())) return;
    if (manifest && run_id(config, manifest->data) != run.id()) return;
    std::map<std::string, std::vector<std::pair<std::int64_t, double>>> values;
    std::int64_t last = 0;
    const std::string text = fs::exists(run.metrics()) ? content(run.metrics()) : "";
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      const auto line = metrics_from_json(std::string_view(text).substr(at, end - at));
      if (!line) return;
      last = line->step;
      for (const auto& [name, value] : line->values) values[name].emplace_back(line->step, value);
    }
    const bool finished = manifest && manifest->outcome == "finished";
    if (finished && (last < manifest->step || !text.ends_with('\n'))) return;
    runs.push_back({run.id(), std::string(!manifest ? "missing" : manifest->outcome), config.general.seed,
                    manifest ? Cell(manifest->seconds) : Cell()});
    for (const FlatOption& option : flatten(config))
      options.push_back({run.id(), option.key, option_cell(option.key, option.value)});
    for (const auto& [name, of] : values) {
      auto best = of.front();
      for (const auto& point : of)
        if (point.second < best.second) best = point;
      metrics.push_back({run.id(), name, of.back().second, of.back().first, best.second, best.first});
    }
  }
};

void check_by_reading_slowly(const fs::path& out) {
  const Slowly slowly(out);
  RunIndex index(out);
  CHECK(index.query("SELECT id, state, seed, seconds FROM runs ORDER BY id") == slowly.runs);
  Rows options = index.query("SELECT run, key, value FROM options");
  Rows metrics = index.query("SELECT run, name, last, step, best, best_step FROM metrics");
  std::ranges::sort(options);
  std::ranges::sort(metrics);
  CHECK(options == slowly.options);
  CHECK(metrics == slowly.metrics);
}

/// Folders of some arms and seeds that appear, change and disappear.
class Changing {
public:
  explicit Changing(const fs::path& out) : out_(out) {}

  void step(const Scratch& scratch) {
    const std::vector<fs::path> folders = all();
    const int what = draw(0, 9);
    if (folders.empty() || what < 4) return add(scratch);
    const RunFolder run{folders[static_cast<std::size_t>(draw(0, static_cast<int>(folders.size()) - 1))]};
    switch (what) {
      case 4: fs::remove_all(run.path); break;
      case 5: append_metrics(run, {1000, 1, 0, {{"val_loss", number()}}}); break;
      case 6: put(run.config(), content(run.config()) + "# edited in place\n"); break;
      case 7: put(run.config(), "seed = \"none\"\n"); break;
      case 8: put(run.metrics(), content(run.metrics()) + "half a li"); break;
      default: fs::remove(run.manifest()); break;
    }
  }

private:
  std::vector<fs::path> all() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(out_))
      if (entry.is_directory()) out.push_back(entry.path());
    std::ranges::sort(out);
    return out;
  }

  void add(const Scratch& scratch) {
    static const std::vector<std::string> arms{"", "attention.score = \"additive\"\n", "train.learning_rate = 0.01\n",
                                               "model.layers = 3\n[[block.override]]\nlayers = [1]\nresidual = "
                                               "\"none\"\n"};
    static const std::vector<std::string> outcomes{"finished", "finished", "failed", "interrupted", ""};
    const auto any = [&](const auto& of) {
      return of[static_cast<std::size_t>(draw(0, static_cast<int>(of.size()) - 1))];
    };
    const std::string outcome = any(outcomes);
    run_of(scratch, "name = \"n\"\nseed = " + std::to_string(draw(0, 12)) + "\n" + any(arms),
           outcome.empty() ? std::vector<MetricsRecord>() : losses({number(), number(), number()}), outcome);
  }

  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(numbers_); }
  double number() { return std::uniform_real_distribution<double>(0, 4)(numbers_); }

  fs::path out_;
  std::mt19937 numbers_{7};
};

} // namespace

TEST_CASE("after random additions, changes and removals the index is as one made from nothing, and as the folders say",
          "[runs][index][scale]") {
  const Scratch out;
  Changing folders(out.path);
  std::size_t largest = 0;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 1 + round % 7; ++i) folders.step(out);
    INFO("round " << round);
    const auto step_by_step = full_dump(out.path);
    check_by_reading_slowly(out.path);
    // A new index beside the stored one.
    const fs::path kept = out.path / "kept.sqlite";
    fs::copy_file(index_file(out.path), kept, fs::copy_options::overwrite_existing);
    CHECK(full_dump_from_nothing(out.path) == step_by_step);
    fs::copy_file(kept, index_file(out.path), fs::copy_options::overwrite_existing); // it may be on another device
    fs::remove(kept);
    largest = std::max(largest, step_by_step[0].size());
  }
  CHECK(largest > 10);
}

TEST_CASE("runs of one arm share their options in the index", "[runs][index][scale]") {
  const Scratch out;
  for (int seed = 0; seed < 5; ++seed) {
    run_of(out, "seed = " + std::to_string(seed) + "\n", losses({1.0}));
    run_of(out, "seed = " + std::to_string(seed) + "\nmodel.width = 32\n", losses({1.0}));
  }
  RunIndex index(out.path);
  CHECK(index.query("SELECT count(DISTINCT option_set) FROM option_sets") == Rows{{std::int64_t{2}}});
  CHECK(index.query("SELECT count(*) FROM options WHERE key = 'seed'") == Rows{{std::int64_t{10}}});
  CHECK(index.query("SELECT run FROM options WHERE key = 'model.width' AND value = 32").size() == 5);
}

TEST_CASE("what an entry reader has read before changes no entry", "[runs][index][scale]") {
  const Scratch out;
  std::vector<RunFolder> runs;
  for (const int seed : {0, 1, 7, 10, 1000000})
    for (const char* arm : {"", "attention.score = \"additive\"\n", "model.layers = 3\n"})
      runs.push_back(run_of(out, "name = \"n\"\nseed = " + std::to_string(seed) + "\n" + arm, losses({2.0, 1.0})));
  // The seed is not written as Heed writes it, or only one of two lines is the seed.
  const auto edit = [&](std::size_t which, const std::string& from, const std::string& to) {
    std::string text = content(runs[which].config());
    INFO(which << " " << text);
    REQUIRE(text.find(from) != std::string::npos);
    put(runs[which].config(), text.replace(text.find(from), from.size(), to));
  };
  edit(0, "seed = 0\n", "seed = 0x0\n");
  edit(3, "seed = 1\n", "seed = 01\n");                     // invalid TOML
  edit(4, "seed = 1\n", "");                                // the default value
  edit(5, "seed = 1\n", "seed = 1000000000000001\n");       // too large
  edit(6, "seed = 7\n", "seed = 8\n");                      // the seed of another run
  edit(7, "seed = 7\n", "seed = 7 # as it was\n");          // a comment
  edit(8, "name = \"n\"\n", "name = '''\nseed = 3\n'''\n"); // inside a string
  EntryReader reader;
  std::size_t left_out = 0;
  for (int again = 0; again < 2; ++again)
    for (const RunFolder& run : runs) {
      INFO(run.id());
      const auto with = reader.read_entry(run), without = read_entry(run);
      CHECK(with.error == without.error);
      REQUIRE(bool(with) == bool(without));
      left_out += !with;
      if (!with) continue;
      CHECK(with->options == without->options);
      CHECK(with->state == without->state);
      const Config config = read_config(run);
      REQUIRE(with->options.size() == flatten(config).size());
      std::size_t at = 0;
      for (const FlatOption& option : flatten(config)) {
        CHECK(with->options[at].first == option.key);
        CHECK(with->options[at].second == option_cell(option.key, option.value));
        ++at;
      }
    }
  CHECK(left_out >= 8);
  CHECK(left_out < 20);

  // A line inside a string is not the seed, even where it was the seed by chance before.
  const auto seed_in = [&](const RunFolder& run) {
    const auto entry = reader.read_entry(run);
    REQUIRE(entry);
    return std::ranges::find(entry->options, "seed", &std::pair<std::string, Cell>::first)->second;
  };
  edit(10, "name = \"n\"\n", "name = '''\nseed = 10\n'''\n");
  CHECK(seed_in(runs[10]) == Cell(std::int64_t{10}));
  edit(10, "seed = 10\n", "seed = 11\n");
  CHECK(seed_in(runs[10]) == Cell(std::int64_t{10}));
}

TEST_CASE("the signature of a folder tells each of its three files from any other, alone and among thousands",
          "[runs][index][scale]") {
  const Scratch out;
  std::vector<std::string> ids;
  for (int i = 0; i < 6000; ++i) ids.push_back(fmt::format("{:016x}", i));
  std::vector<RunFolder> runs;
  for (const int i : {0, 1, 2999, 5998, 5999}) {
    runs.push_back({out.path / ids[static_cast<std::size_t>(i)]});
    fs::create_directories(runs.back().path);
    for (const fs::path& file : {runs.back().config(), runs.back().manifest(), runs.back().metrics()})
      put(file, "text");
  }
  const auto many = folder_signatures(out.path, ids);
  REQUIRE(many.size() == ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) REQUIRE(folder_signatures(out.path, {ids[i]}).front() == many[i]);
  CHECK(many[3] == many[4]); // neither of them exists
  CHECK(many[0] != many[1]);
  const auto signature = [&] { return folder_signatures(out.path, {runs[0].id()}).front(); };
  std::int64_t before = signature();
  for (const fs::path& file : {runs[0].config(), runs[0].manifest(), runs[0].metrics()}) {
    put(file, "other text");
    CHECK(signature() != before);
    before = signature();
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
    CHECK(signature() != before);
    before = signature();
    fs::remove(file);
    CHECK(signature() != before);
    before = signature();
  }
}

TEST_CASE("states of thousands of runs, looked at several at a time, are each one's own", "[runs][scale]") {
  const Scratch out;
  std::vector<RunFolder> folders;
  for (int i = 0; i < 6000; ++i) folders.push_back({out.path / fmt::format("{:016x}", i)});
  for (const std::size_t i : {0, 17, 1499, 1500, 3000, 4501, 5999}) {
    const char* const outcomes[] = {"finished", "failed", "interrupted"};
    folders[i] = run_of(out, "seed = " + std::to_string(i) + "\n", losses({1.0}), outcomes[i % 3]);
  }
  const auto claim = Lease::attempt(folders[17].claim());
  const std::vector<RunState> states = states_of(folders);
  REQUIRE(states.size() == folders.size());
  for (std::size_t i = 0; i < folders.size(); ++i) REQUIRE(states[i] == state_of(folders[i]));
  CHECK(states[0] == RunState::finished);
  CHECK(states[17] == RunState::running);
  CHECK(states[1499] == RunState::interrupted);
  CHECK(states[18] == RunState::missing);
}
