#include "experiments/index/run_index.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/failure.hpp"
#include "experiments/system/own_folder.hpp"
#include "experiments/system/text.hpp"

#include <chrono>
#include <fmt/format.h>
#include <set>
#include <sqlite3.h>
#include <xxhash.h>

namespace heed {
namespace {

constexpr std::chrono::milliseconds for_readers{2'000};
constexpr std::string_view seed_option = "seed";
// "Heed": SQLite's application ID, which marks the file as an index of Heed
constexpr std::int64_t application = 0x48656564;

using Kind = IndexField::Kind;
using Source = IndexField::Source;

std::string tables_sql() {
  std::string columns;
  for (const RunColumn& c : run_columns) columns += fmt::format("{} {}, ", c.name, c.type);
  return "CREATE TABLE runs(" + columns +
         "option_set INTEGER NOT NULL);"
         "CREATE INDEX unfinished ON runs(id, state) WHERE state <> 'finished';"
         "CREATE TABLE option_sets(option_set INTEGER NOT NULL, key TEXT NOT NULL, value, "
         "PRIMARY KEY(option_set, key)) WITHOUT ROWID;"
         "CREATE VIEW options(run, key, value) AS SELECT r.id, o.key, o.value FROM runs r JOIN option_sets o "
         "ON o.option_set = r.option_set UNION ALL SELECT id, 'seed', seed FROM runs WHERE seed IS NOT NULL;"
         "CREATE TABLE metrics(run TEXT NOT NULL, name TEXT NOT NULL, last REAL, step INTEGER, best REAL, "
         "best_step INTEGER, PRIMARY KEY(run, name)) WITHOUT ROWID;"
         "CREATE TABLE metric_names(name TEXT PRIMARY KEY) WITHOUT ROWID;"
         "CREATE TABLE folders(id TEXT PRIMARY KEY, signature INTEGER NOT NULL, problem TEXT NOT NULL) WITHOUT ROWID;";
}

/// A hash of all of an entry's options except the seed.
std::int64_t option_set_of(const RunEntry& entry) {
  std::string text;
  for (const auto& [key, value] : entry.options) {
    if (key == seed_option) continue;
    struct Append {
      std::string& text;
      void operator()(std::monostate) const { text += 'n'; }
      void operator()(std::int64_t v) const { text += fmt::format("i{}", v); }
      void operator()(double v) const { text += fmt::format("r{}", v); }
      void operator()(const std::string& v) const { text += fmt::format("t{}", v); }
    };
    text += key;
    text += '\0';
    std::visit(Append{text}, value);
    text += '\0';
  }
  return static_cast<std::int64_t>(XXH3_64bits(text.data(), text.size()));
}

/// A hash of everything that decides how a folder is read. An index with a different version is created anew.
std::int64_t index_version() {
  std::string text = tables_sql() + fmt::format("6 {} {}", numerics_version, run_format);
  for (const std::string& key : all_keys())
    text += fmt::format(" {}={}", key, value_text(find_option(key)->default_value));
  return static_cast<std::int64_t>(XXH3_64bits(text.data(), text.size()) & 0x7fffffff);
}

Kind kind_of(const Option& option) {
  switch (option.type) {
    case OptionType::boolean: return Kind::flag;
    case OptionType::integer:
    case OptionType::real: return Kind::number;
    case OptionType::word_or_number: return Kind::word_or_number;
    default: return Kind::text;
  }
}

IndexField option_field(const std::string& key, const Option& option) {
  const bool one_word = option.type == OptionType::text || option.type == OptionType::word_or_number;
  return {key, Source::option, kind_of(option), key, "value", one_word ? option.words : std::vector<std::string>{}};
}

// Files in the index's folder beside the database: `sum` has the checksum of its bytes after the last write, `copied`
// identifies the last copy of it in OUT.
constexpr const char *sum_file = "sum", *copied_file = "copied";

/// Identifies a copy as long as no process replaces or changes it.
std::string words_of(const OutputFile& file) {
  const FileIdentity id = file.identity().value.value_or(FileIdentity{});
  return fmt::format("{} {} {} {} {}\n", id.device, id.inode, id.size, id.written, id.changed);
}

/// Whether a file begins like an index of Heed: SQLite's header with Heed's application ID.
bool is_index(const OutputFile& file) {
  constexpr std::string_view header("SQLite format 3\0", 16);
  constexpr std::size_t at = 68; // https://www.sqlite.org/fileformat.html, "Application ID"
  const auto beginning = file.read_beginning(at + 4);
  if (!beginning || beginning->size() < at + 4 || !beginning->starts_with(header)) return false;
  std::int64_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number * 256 + static_cast<unsigned char>((*beginning)[at + i]);
  return number == application;
}

} // namespace

RunIndex::RunIndex(const std::filesystem::path& out) : out_(out) {
  require_folder_of_runs(out);
  open();
  find_fields();
}

RunIndex::~RunIndex() {
  try {
    database_->run("COMMIT");
  } catch (const DatabaseError&) {
    // Nothing is lost: the next RunIndex reads the folders again.
  }
}

std::filesystem::path RunIndex::file() const { return in_memory_.empty() ? folder_ / index_file_name : ""; }

void RunIndex::open() {
  folder_ = index_folder(out_);
  if (folder_.empty()) {
    in_memory_ = "there is no writable folder for it on a local disk; set XDG_CACHE_HOME to one";
    use_memory();
    return;
  }
  const FolderLock lock(folder_, Database::patience);
  const std::string file = (folder_ / index_file_name).string();
  // If the file is damaged, it is removed and the loop runs a second time.
  for (const bool again : {false, true}) {
    try {
      database_.emplace(file);
      database_->run("BEGIN IMMEDIATE");
      // From now on only readers can block this connection. The file is changed only at the end, and readers may not
      // stop.
      database_->wait_up_to(for_readers);
      database_->run("PRAGMA cache_spill = OFF");
      std::string bytes = sum();
      if (!bytes.empty() && read_file(folder_ / sum_file).value != bytes)
        throw DatabaseError(SQLITE_CORRUPT, "the file was changed or damaged");
      // Any commit, even of no changes, waits for readers.
      const bool changed = refresh();
      database_->run(changed ? "COMMIT" : "ROLLBACK");
      if (changed) {
        bytes = sum();
        write_file(folder_ / sum_file, bytes, Durability::process);
      }
      copy_to_out(bytes);
      database_->wait_up_to(Database::patience);
      database_->run("BEGIN");
      fill_arms();
      in_memory_.clear();
      return;
    } catch (const Failed& failed) {
      in_memory_ = failed.what();
      break;
    } catch (const DatabaseError& failed) {
      in_memory_ = failed.what();
      if (failed.code == SQLITE_BUSY) in_memory_ = fmt::format("another program is using it ({})", failed.what());
      const bool damaged = failed.code == SQLITE_CORRUPT || failed.code == SQLITE_NOTADB || failed.code == SQLITE_ERROR;
      if (again || !damaged) break;
    }
    // Processes that have the file open continue to read the removed file.
    database_.reset();
    for (const char* ending : {"", "-journal", "-wal", "-shm"}) {
      std::error_code gone;
      std::filesystem::remove(file + ending, gone);
    }
  }
  use_memory();
}

std::string RunIndex::sum() {
  ContentHash hash;
  bool empty = true; // true if the file was just created
  database_->each_block([&](std::string_view block) {
    hash.add(block);
    empty = false;
  });
  return empty ? "" : hash.text();
}

void RunIndex::copy_to_out(const std::string& sum) {
  not_copied_.clear();
  const OutputFile copy(out_, index_file_name);
  if (!may_write(out_) || is_on_shared_file_system(out_)) return;
  const auto before = read_file(folder_ / copied_file);
  if (before && *before == sum + " " + words_of(copy)) return;
  // A file of another program is not overwritten. SQLite would treat its journal as a journal of the new file.
  if (copy.exists() && !is_index(copy)) {
    not_copied_ = fmt::format("'{}' is not an index of Heed's", copy.string());
    return;
  }
  for (const char* ending : {"-journal", "-wal", "-shm"})
    if (const OutputFile journal = copy.beside(std::string(index_file_name) + ending); journal.exists()) {
      not_copied_ = fmt::format("'{}' is in its folder", journal.string());
      return;
    }
  try {
    NewFile file = copy.create();
    database_->each_block([&](std::string_view block) { file.write(block); });
    file.finish(Durability::process);
    write_file(folder_ / copied_file, sum + " " + words_of(copy), Durability::process);
  } catch (const Failed& failed) {
    not_copied_ = failed.what();
  }
}

void RunIndex::use_memory() {
  database_.emplace(":memory:");
  database_->run("BEGIN");
  refresh();
  fill_arms();
}

void RunIndex::set_arms(const std::map<std::string, std::string>& labels) {
  arms_ = labels;
  fill_arms();
}

void RunIndex::fill_arms() {
  database_->run("PRAGMA temp_store = MEMORY; DROP TABLE IF EXISTS temp.arms;"
                 "CREATE TEMP TABLE arms(run TEXT PRIMARY KEY, label TEXT NOT NULL) WITHOUT ROWID");
  Statement insert(*database_, "INSERT INTO temp.arms VALUES(?, ?)");
  for (const auto& [run, label] : arms_) insert.run({run, label});
}

void RunIndex::make_tables() {
  std::string drop;
  for (const auto& row : database_->query("SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') "
                                          "AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"))
    drop += fmt::format("DROP {} {};", text_in(row[0]), sql_name(text_in(row[1])));
  database_->run(drop + tables_sql() +
                 fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}", index_version(), application));
}

/// The statements that update the index, each prepared once.
class RunIndex::Writing {
public:
  explicit Writing(RunIndex& index) : index_(index), database_(*index.database_) {
    for (const auto& row : database_.query("SELECT DISTINCT option_set FROM option_sets"))
      sets_.insert(std::get<std::int64_t>(row.at(0)));
    for (const auto& row : database_.query("SELECT name FROM metric_names")) names_.insert(text_in(row.at(0)));
  }

  void remove(const std::string& id) {
    for (Statement* statement : {&delete_run_, &delete_metrics_, &delete_folder_}) statement->run({id});
    removed_ = true;
  }

  /// @param known  the run is already in the index
  void take(const std::string& id, std::int64_t signature, bool known) {
    if (known) remove(id);
    const auto entry = reader_.read_entry(RunFolder{index_.out_ / id});
    // If a folder can't be read at the moment, its signature is made invalid, so that it is read again the next time.
    insert_folder_.run({id, entry.is_unreadable() ? ~signature : signature, entry.error});
    if (!entry) return;
    const std::int64_t set = option_set_of(*entry);
    std::vector<Cell> row = row_of(*entry);
    row.emplace_back(set);
    insert_run_.run(row);
    if (sets_.insert(set).second)
      for (const auto& [key, value] : entry->options)
        if (key != seed_option) insert_option_.run({set, key, value});
    for (const MetricEntry& m : entry->metrics) {
      insert_metric_.run({id, m.name, m.last, m.step, cell_of(m.best), cell_of(m.best_step)});
      if (names_.insert(m.name).second) insert_name_.run({m.name});
    }
  }

  /// Removes option sets and metric names that no run has any more.
  void finish() {
    if (removed_)
      database_.run("DELETE FROM option_sets WHERE option_set NOT IN (SELECT option_set FROM runs);"
                    "DELETE FROM metric_names; INSERT INTO metric_names SELECT DISTINCT name FROM metrics");
  }

private:
  static std::string marks() {
    std::string out = "?";
    for (std::size_t i = 0; i < std::size(run_columns); ++i) out += ", ?";
    return out;
  }

  RunIndex& index_;
  Database& database_;
  EntryReader reader_;
  std::set<std::int64_t> sets_;
  std::set<std::string> names_;
  bool removed_ = false;
  Statement delete_run_{database_, "DELETE FROM runs WHERE id = ?"};
  Statement delete_metrics_{database_, "DELETE FROM metrics WHERE run = ?"};
  Statement delete_folder_{database_, "DELETE FROM folders WHERE id = ?"};
  Statement insert_folder_{database_, "INSERT INTO folders VALUES(?, ?, ?)"};
  Statement insert_run_{database_, "INSERT INTO runs VALUES(" + marks() + ")"};
  Statement insert_option_{database_, "INSERT OR REPLACE INTO option_sets VALUES(?, ?, ?)"};
  Statement insert_metric_{database_, "INSERT OR REPLACE INTO metrics VALUES(?, ?, ?, ?, ?, ?)"};
  Statement insert_name_{database_, "INSERT INTO metric_names VALUES(?)"};
};

bool RunIndex::refresh() {
  read_ = 0;
  const bool whole = database_
                         ->query("SELECT count(*) FROM sqlite_master WHERE name IN ('runs', 'options', 'metrics', "
                                 "'folders', 'flat', 'option_sets', 'metric_names', 'unfinished')")
                         .at(0)
                         .at(0) == Cell(std::int64_t{8});
  const bool anew = !whole || database_->query("PRAGMA user_version").at(0).at(0) != Cell(index_version());
  if (anew) make_tables();

  // Both lists are sorted by ID and are merged.
  struct Known {
    std::string id;
    std::int64_t signature;
  };
  std::vector<Known> known;
  Statement(*database_, "SELECT id, signature FROM folders ORDER BY id").each({}, [&](const Row& row) {
    known.push_back({std::string(row.text(0)), row.integer(1)});
  });
  std::map<std::string, std::string> unfinished;
  Statement(*database_, "SELECT id, state FROM runs WHERE state <> 'finished'").each({}, [&](const Row& row) {
    unfinished.emplace(row.text(0), row.text(1));
  });
  const std::vector<std::string> ids = run_ids(out_);
  // Computed before anything is read: a change during reading is noticed the next time.
  const std::vector<std::int64_t> signatures = folder_signatures(out_, ids);

  std::optional<Writing> writing;
  const auto write = [&]() -> Writing& { return writing ? *writing : writing.emplace(*this); };
  auto before = known.begin();
  const auto remove_until = [&](const std::string* id) {
    for (; before != known.end() && (!id || before->id < *id); ++before) write().remove(before->id);
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    remove_until(&ids[i]);
    const bool is_known = before != known.end() && before->id == ids[i];
    bool stale = !is_known || before->signature != signatures[i];
    // Taking or releasing a claim does not change the signature.
    if (!stale && !unfinished.empty())
      if (const auto state = unfinished.find(ids[i]); state != unfinished.end())
        stale = state->second != name_of(state_of(RunFolder{out_ / ids[i]}));
    if (stale) {
      ++read_;
      write().take(ids[i], signatures[i], is_known);
    }
    if (is_known) ++before;
  }
  remove_until(nullptr);
  if (!anew && !writing) return false;
  write().finish();
  writing.reset(); // tables can't be changed while statements exist
  make_flat_view();
  return true;
}

void RunIndex::make_flat_view() {
  // SQLite allows 2000 columns. Options and plain metrics come first, then metrics of single layers and heads.
  // A name from somebody's metrics.jsonl can be so long that the statement would be too large for SQLite.
  constexpr std::size_t most = 1900, longest_name = 1000;
  std::set<std::string> taken;
  for (const RunColumn& c : run_columns) taken.insert(std::string(c.name));
  std::string columns = joined(run_columns, ", ", [](const RunColumn& c) { return fmt::format("r.{}", c.name); });
  const auto add = [&](const std::string& name, std::string_view value, std::string_view key) {
    if (name.size() > longest_name || taken.size() >= most || !taken.insert(name).second) return;
    columns += fmt::format(", (SELECT {} AND {} = '{}') AS {}", value, key, replaced(name, {{'\'', "''"}}),
                           sql_name(name));
  };
  for (const auto& row : database_->query("SELECT DISTINCT key FROM option_sets ORDER BY key"))
    add(text_in(row[0]), "value FROM option_sets o WHERE o.option_set = r.option_set", "key");
  for (const auto& row : database_->query("SELECT name FROM metric_names ORDER BY instr(name, '.') > 0, name"))
    add(text_in(row[0]), "last FROM metrics WHERE run = r.id", "name");
  database_->run("DROP VIEW IF EXISTS flat; CREATE VIEW flat AS SELECT " + columns + " FROM runs r");
}

void RunIndex::find_fields() {
  std::set<std::string> taken;
  const auto add = [&](IndexField field) {
    if (taken.insert(field.name).second) fields_.push_back(std::move(field));
  };
  for (const RunColumn& c : run_columns) {
    add({std::string(c.name), Source::run, c.kind, "", std::string(c.name), {}});
    if (c.name == "state")
      for (const RunState state : {RunState::missing, RunState::queued, RunState::running, RunState::interrupted,
                                   RunState::failed, RunState::finished})
        fields_.back().words.emplace_back(name_of(state));
  }
  add({"arm", Source::arm, Kind::text, "", "label", {}});
  for (const std::string& key : all_keys())
    if (const Option* option = find_option(key)) add(option_field(key, *option));
  for (const auto& row : query("SELECT DISTINCT key FROM option_sets ORDER BY key"))
    if (const Option* option = option_of_flat(text_in(row[0]))) add(option_field(text_in(row[0]), *option));

  // Metrics that any run may have can be queried before a run has them.
  std::vector<std::string> metrics = names_of(metrics_of(default_config()));
  for (const auto& row : query("SELECT name FROM metric_names ORDER BY name")) metrics.push_back(text_in(row[0]));
  for (const std::string& name : metrics) {
    add({name, Source::metric, Kind::number, name, "last", {}});
    add({name + ".best", Source::metric, Kind::number, name, "best", {}});
    add({name + ".best_step", Source::metric, Kind::number, name, "best_step", {}});
  }
}

} // namespace heed
