// See merge.hpp.
#include "store/merge.hpp"

#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "record/spool_reader.hpp"
#include "store/lease_clock.hpp"

namespace encore {

namespace {

/// So many records hold the write lock for some tens of milliseconds.
constexpr std::uint64_t batch_records = 20000;

std::string text_of(const nlohmann::json& event, const char* name) {
  const auto found = event.find(name);
  return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t integer_of(const nlohmann::json& event, const char* name) {
  const auto found = event.find(name);
  return found != event.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

double time_of(const nlohmann::json& event) {
  const auto found = event.find("time");
  return found != event.end() && found->is_number() ? found->get<double>() : 0.0;
}

const char* special_name(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// Another value of a connection's flag, as long as it lives.
class FlagMeanwhile {
 public:
  FlagMeanwhile(Database& database, const std::string& name, bool on)
      : database_(database), name_(name), on_(on) {
    set(on);
  }
  ~FlagMeanwhile() {
    try {
      set(!on_);
    } catch (const Error&) {
      // Setting a flag of the connection touches no file.
    }
  }
  FlagMeanwhile(const FlagMeanwhile&) = delete;
  FlagMeanwhile& operator=(const FlagMeanwhile&) = delete;

 private:
  void set(bool on) { database_.execute("PRAGMA " + name_ + (on ? " = ON" : " = OFF")); }

  Database& database_;
  const std::string name_;
  const bool on_;
};

class Merger {
 public:
  Merger(Database& database, const SpoolSource& source)
      : database_(database),
        source_(source),
        add_point_(database,
                   "INSERT OR REPLACE INTO point (run, metric, step, attempt, value, special) VALUES (?, ?, "
                   "?, ?, ?, ?)") {}

  MergeReport merge(const std::function<void()>& check,
                    const std::function<void(const MergeReport&)>& conclude) {
    MergeReport report;
    for (;;) {
      Transaction transaction(database_);
      if (check) check();
      SpoolReader reader = continue_reading();
      const std::uint64_t before = reader.sequence();
      const bool more = merge_batch(reader);
      report.records += reader.sequence() - before;
      if (source_.is_over && !more) note_end(reader);
      describe(reader, more, report);
      save_place(reader, report.problem);
      if (!more && conclude) conclude(report);
      transaction.commit();
      if (!more) return report;
    }
  }

 private:
  /// Read inside the transaction: another process may have merged further since.
  SpoolReader continue_reading() {
    Statement& place =
        database_.cached("SELECT spool_bytes, spool_records, first_step FROM attempt WHERE number = ?");
    place.with(source_.attempt).step();
    const auto bytes = static_cast<std::uint64_t>(place.integer(0));
    const auto records = static_cast<std::uint64_t>(place.integer(1));
    first_step_ = place.optional_integer(2);
    place.reset();
    if (records != records_) load_metrics();
    records_ = records;
    return SpoolReader(source_.path, {source_.run_id, source_.ordinal}, bytes, records);
  }

  void load_metrics() {
    metrics_.clear();
    Statement& rows = database_.cached(
        "SELECT spool_metric.number, metric.number, metric.name FROM spool_metric "
        "JOIN metric ON metric.number = spool_metric.metric WHERE attempt = ?");
    rows.with(source_.attempt);
    while (rows.step()) metrics_[rows.integer(0)] = {rows.integer(1), rows.text(2).starts_with("train/")};
    rows.reset();
  }

  /// True when there may be more.
  bool merge_batch(SpoolReader& reader) {
    for (std::uint64_t count = 0; count < batch_records; ++count) {
      if (!reader.next(record_)) {
        if (!source_.is_over || !skip_damage(reader)) return false;
        continue;
      }
      switch (record_.kind) {
        case SpoolKind::metric:
          merge_metric();
          break;
        case SpoolKind::point:
          merge_point();
          break;
        case SpoolKind::event:
          merge_event();
          break;
      }
    }
    return true;
  }

  bool skip_damage(SpoolReader& reader) {
    const std::optional<SpoolGap> gap = reader.skip_damage();
    if (!gap) return false;
    const std::uint64_t lost = gap->last_record + 1 - gap->first_record;
    const std::string records = lost == 0   ? "no record is lost"
                                : lost == 1 ? "record " + std::to_string(gap->first_record) + " is lost"
                                            : "records " + std::to_string(gap->first_record) + " to " +
                                                  std::to_string(gap->last_record) + " are lost";
    if (gap->end_byte > gap->first_byte)
      note_damage(source_.path.filename().string() + ": bytes " + std::to_string(gap->first_byte) + " to " +
                      std::to_string(gap->end_byte - 1) + " are damaged: " + records,
                  lost);
    return true;
  }

  /// What is not followed by anything whole; again each time, since the file may have been put right.
  void note_end(const SpoolReader& reader) {
    database_
        .cached(
            "DELETE FROM event WHERE attempt = ? AND sequence <= 0 AND type = ? AND body ->> 'records' IS "
            "NULL")
        .run(source_.attempt, spool_damage_event);
    if (reader.end() == SpoolEnd::damaged || reader.end() == SpoolEnd::refused)
      note_damage(reader.problem(), nullptr);
  }

  void note_damage(const std::string& text, const nlohmann::json& records) {
    add_own_event(database_, source_.attempt, spool_damage_event,
                  {{"text", text}, {"records", records}, {"from_step", first_step_not_surely_told()}});
  }

  /// A checkpoint's record stands behind all records of its step, so that only later ones can be missing.
  std::int64_t first_step_not_surely_told() {
    Statement& step = database_.cached(
        "SELECT max(coalesce((SELECT max(step) FROM point WHERE run = ?1 AND attempt = ?2), 0), "
        "coalesce((SELECT max(step) + 1 FROM checkpoint WHERE run = ?1 AND attempt = ?2), 0))");
    step.with(source_.run, source_.attempt).step();
    const std::int64_t found = step.integer(0);
    step.reset();
    return found;
  }

  void describe(const SpoolReader& reader, bool more, MergeReport& report) {
    std::string text;
    Statement& damages = database_.cached(
        "SELECT body ->> 'text' FROM event WHERE attempt = ? AND sequence <= 0 AND type = ? "
        "ORDER BY sequence DESC");
    damages.with(source_.attempt, spool_damage_event);
    while (damages.step()) text += (text.empty() ? "" : "; ") + damages.text(0);
    damages.reset();
    report.complete = text.empty() && (reader.end() == SpoolEnd::clean || more);
    const bool noted = source_.is_over && reader.end() != SpoolEnd::torn;
    const bool stopped = reader.end() != SpoolEnd::clean && reader.end() != SpoolEnd::missing;
    if (stopped && !noted && !more) text += (text.empty() ? "" : "; ") + reader.problem();
    report.problem = text;
  }

  void save_place(const SpoolReader& reader, const std::string& problem) {
    records_ = reader.sequence();
    database_
        .cached(
            "UPDATE attempt SET spool_bytes = ?, spool_records = ?, first_step = ?, spool_problem = ? WHERE "
            "number = ?")
        .run(reader.offset(), reader.sequence(), first_step_, problem, source_.attempt);
  }

  void merge_metric() {
    database_
        .cached(
            "INSERT INTO metric (name, unit) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET unit = ?2 "
            "WHERE unit = ''")
        .run(record_.name, record_.unit);
    Statement& find = database_.cached("SELECT number FROM metric WHERE name = ?");
    find.with(record_.name).step();
    const std::int64_t metric = find.integer(0);
    find.reset();
    database_.cached("INSERT OR REPLACE INTO spool_metric (attempt, number, metric) VALUES (?, ?, ?)")
        .run(source_.attempt, record_.metric, metric);
    metrics_[record_.metric] = {metric, record_.name.starts_with("train/")};
  }

  void merge_point() {
    const auto metric = metrics_.find(record_.metric);
    if (metric == metrics_.end()) return leave_out(record_.metric);
    if (metric->second.train && (!first_step_ || record_.step < *first_step_)) first_step_ = record_.step;
    add_point_.bind(1, source_.run);
    add_point_.bind(2, metric->second.number);
    add_point_.bind(3, record_.step);
    add_point_.bind(4, source_.attempt);
    if (std::isfinite(record_.value)) {
      add_point_.bind(5, record_.value);
      add_point_.bind(6, nullptr);
    } else {
      add_point_.bind(5, nullptr);
      add_point_.bind(6, std::string_view(special_name(record_.value)));
    }
    add_point_.step();
    add_point_.reset();
  }

  /// Points whose metric has no name: its record was lost in a gap.
  void leave_out(std::int64_t metric) {
    if (!nameless_.insert(metric).second) return;
    note_damage(source_.path.filename().string() + ": the name of metric " + std::to_string(metric) +
                    " is among what is lost, so that its points are too",
                1);
  }

  void merge_event() {
    const nlohmann::json event = record_.event();
    const std::string type = event["type"];
    if (type == "progress") {
      database_.cached("UPDATE attempt SET progress = ? WHERE number = ?").run(record_.text, source_.attempt);
      return;
    }
    if (type == "measured") return;  // the same values are there as points
    if (type == "digest") return merge_digest(event);
    if (type == "started") merge_started(event);
    if (type == "checkpoint") merge_checkpoint(event);
    if (type == "artifact") merge_artifact(event);
    if (type == "result") merge_result();
    database_
        .cached("INSERT OR REPLACE INTO event (attempt, sequence, time, type, body) VALUES (?, ?, ?, ?, ?)")
        .run(source_.attempt, record_.sequence, time_of(event), type, event.dump());
  }

  /// Of a block, and of its tensors where they are told one by one.
  void merge_digest(const nlohmann::json& event) {
    const std::int64_t step = integer_of(event, "step");
    merge_digest(step, text_of(event, "scope"), text_of(event, "value"));
    const auto tensors = event.find("tensors");
    if (tensors == event.end() || !tensors->is_object()) return;
    for (const auto& [path, value] : tensors->items())
      if (value.is_string()) merge_digest(step, path, value.get<std::string>());
  }

  void merge_digest(std::int64_t step, const std::string& scope, const std::string& value) {
    database_
        .cached("INSERT OR REPLACE INTO digest (run, step, scope, attempt, value) VALUES (?, ?, ?, ?, ?)")
        .run(source_.run, step, scope, source_.attempt, value);
  }

  void merge_checkpoint(const nlohmann::json& event) {
    database_
        .cached(
            "INSERT OR REPLACE INTO checkpoint (run, step, kind, attempt, path, bytes, sha256, created) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        .run(source_.run, integer_of(event, "step"), text_of(event, "kind"), source_.attempt,
             text_of(event, "path"), integer_of(event, "bytes"), text_of(event, "sha256"), time_of(event));
  }

  void merge_artifact(const nlohmann::json& event) {
    database_
        .cached(
            "INSERT OR REPLACE INTO artifact (run, name, attempt, path, sha256, created) VALUES (?, ?, ?, ?, "
            "?, ?)")
        .run(source_.run, text_of(event, "name"), source_.attempt, text_of(event, "path"),
             text_of(event, "sha256"), time_of(event));
  }

  /// The latest attempt with a result has the word, in whatever order the spools are merged.
  void merge_result() {
    database_
        .cached(
            "UPDATE run SET result = ?1 WHERE number = ?2 AND NOT EXISTS (SELECT 1 FROM event "
            "JOIN attempt ON attempt.number = event.attempt "
            "WHERE attempt.run = ?2 AND attempt.number > ?3 AND event.type = 'result')")
        .run(record_.text, source_.run, source_.attempt);
  }

  void merge_started(const nlohmann::json& event) {
    std::optional<std::string> environment;
    if (event.contains("numeric_environment")) environment = event["numeric_environment"].dump();
    database_
        .cached("UPDATE attempt SET environment = ?, started_event = ?, host = ?, build = ? WHERE number = ?")
        .run(environment, event.dump(), described("host", event), described("build", event), source_.attempt);
    if (!event.contains("plugins") || !event["plugins"].is_array()) return;
    for (const nlohmann::json& plugin : event["plugins"]) {
      if (plugin.is_object()) merge_plugin(plugin);
    }
  }

  /// The row of table `what` with the description in the event.
  std::optional<std::int64_t> described(const std::string& what, const nlohmann::json& event) {
    if (!event.contains(what)) return std::nullopt;
    const std::string description = event[what].dump();
    database_.cached("INSERT OR IGNORE INTO " + what + " (description) VALUES (?)").run(description);
    Statement& find = database_.cached("SELECT number FROM " + what + " WHERE description = ?");
    find.with(description).step();
    const std::int64_t number = find.integer(0);
    find.reset();
    return number;
  }

  void merge_plugin(const nlohmann::json& plugin) {
    const std::string name = text_of(plugin, "name"), version = text_of(plugin, "version"),
                      sha256 = text_of(plugin, "sha256"), fingerprint = text_of(plugin, "fingerprint");
    database_.cached("INSERT OR IGNORE INTO plugin (name, version, sha256, fingerprint) VALUES (?, ?, ?, ?)")
        .run(name, version, sha256, fingerprint);
    database_
        .cached(
            "INSERT OR IGNORE INTO attempt_plugin (attempt, plugin) SELECT ?, number FROM plugin "
            "WHERE name = ? AND version = ? AND sha256 = ? AND fingerprint = ?")
        .run(source_.attempt, name, version, sha256, fingerprint);
  }

  struct Metric {
    std::int64_t number = 0;
    bool train = false;
  };

  Database& database_;
  const SpoolSource& source_;
  Statement add_point_;
  SpoolRecord record_;
  std::unordered_map<std::int64_t, Metric> metrics_;
  std::set<std::int64_t> nameless_;
  std::uint64_t records_ = 0;
  std::optional<std::int64_t> first_step_;
};

}  // namespace

void add_own_event(Database& database, std::int64_t attempt, const std::string& type,
                   const nlohmann::json& body) {
  database
      .cached(
          "INSERT INTO event (attempt, sequence, time, type, body) "
          "SELECT ?1, min(0, coalesce(min(sequence), 1) - 1), ?2, ?3, ?4 FROM event WHERE attempt = ?1")
      .run(attempt, now_seconds(), type, body.dump());
}

MergeReport merge_spool(Database& database, const SpoolSource& source, const std::function<void()>& check,
                        const std::function<void(const MergeReport&)>& conclude) {
  ENCORE_REQUIRE(!database.in_transaction(), "merging begins its own transactions");
  // Rows are merged by numbers that were read in the same transaction, so to look each of them up again,
  // three times per point, would prove nothing and cost half of the time.
  const FlagMeanwhile unlinked(database, "foreign_keys", false);
  // Likewise the checks of the schema: for that of `special` SQLite builds the set of its three names anew
  // for each point, which takes as long as all the rest; the names bound here are those, and JSON has been
  // parsed.
  const FlagMeanwhile unchecked(database, "ignore_check_constraints", true);
  return Merger(database, source).merge(check, conclude);
}

}  // namespace encore
