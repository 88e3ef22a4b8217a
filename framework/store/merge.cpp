// SPDX-License-Identifier: BSD-3-Clause
// Merges one spool (the file of a worker's events) into the database: reads the records after the last merged
// one and writes their rows in one transaction per batch. Store::merge calls it every half second. A record
// that was merged twice must give the same rows. Read merge.hpp first.
#include "store/merge.hpp"

#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "record/spool_reader.hpp"
#include "store/connection_flag.hpp"
#include "store/metrics.hpp"
#include "store/newest.hpp"
#include "store/source_rows.hpp"
#include "world/lease_clock.hpp"

namespace encore::store {

namespace {

/// A spool with less unread bytes is short: about a thousand records.
constexpr std::uint64_t short_spool = 32768;
/// The most records in one transaction: it holds the write lock for some tens of milliseconds.
constexpr std::uint64_t batch_records = 20000;

/// Damage of at most this many bytes is searched for the next valid record while the write lock is held.
constexpr std::uint64_t short_damage = 64 << 10;

class Merger {
 public:
  Merger(Database& database, const SpoolSource& source)
      : database_(database),
        source_(source),
        newest_(database, source.run, source.attempt),
        add_point_(database,
                   "INSERT OR REPLACE INTO point (run, metric, step, attempt, value, special) VALUES (?, ?, "
                   "?, ?, ?, ?)") {}

  MergeReport merge(const std::function<void()>& check,
                    const std::function<void(const MergeReport&)>& conclude) {
    MergeReport report;
    for (bool over = false; !over;) {
      std::optional<record::SpoolReader> damaged;
      {
        Transaction transaction(database_);
        if (check) check();
        newest_.begin();
        record::SpoolReader reader = continue_reading();
        const std::uint64_t before = reader.sequence();
        const Stop stop = merge_batch(reader);
        over = stop == Stop::end;
        report.records += reader.sequence() - before;
        if (source_.is_over && over) note_end(reader);
        describe(reader, !over, report);
        save_place(reader, report.problem);
        newest_.write();
        if (over && conclude) conclude(report);
        transaction.commit();
        if (stop == Stop::damage) damaged.emplace(std::move(reader));
      }
      // This runs outside a transaction, so other processes may write to the database meanwhile.
      if (damaged) search(*damaged);
    }
    return report;
  }

 private:
  /// Reads the position inside the transaction, because another process may have merged further.
  record::SpoolReader continue_reading() {
    Statement& place =
        database_.cached("SELECT spool_bytes, spool_records, first_step FROM attempt WHERE number = ?");
    place.with(source_.attempt).step();
    const auto bytes = static_cast<std::uint64_t>(place.integer(0));
    const auto records = static_cast<std::uint64_t>(place.integer(1));
    first_step_ = place.optional_integer(2);
    place.reset();
    if (records != records_) load_metrics();
    records_ = records;
    return record::SpoolReader(source_.path, {source_.run_id, source_.ordinal}, bytes, records);
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

  enum class Stop : std::uint8_t {
    batch,   ///< stopped after batch_records; there may be more
    damage,  ///< damage longer than short_damage: call search() first
    end,
  };

  Stop merge_batch(record::SpoolReader& reader) {
    for (std::uint64_t count = 0; count < batch_records; ++count) {
      if (!reader.next(record_)) {
        const bool stopped =
            reader.end() == record::SpoolEnd::damaged || reader.end() == record::SpoolEnd::torn;
        if (!source_.is_over || !stopped) return Stop::end;
        const bool searched = searched_ && searched_->offset == reader.offset();
        if (searched && !searched_->gap) return Stop::end;
        if (searched) reader.continue_behind(*searched_->gap);
        const std::optional<record::SpoolGap> gap =
            searched ? searched_->gap : reader.skip_damage(short_damage);
        if (!gap) return Stop::damage;
        note_gap(*gap);
        continue;
      }
      switch (record_.kind) {
        case record::SpoolKind::metric:
          merge_metric();
          break;
        case record::SpoolKind::point:
          merge_point();
          break;
        case record::SpoolKind::event:
          merge_event();
          break;
      }
    }
    return Stop::batch;
  }

  /// Searches for the next valid record after damage. Call it outside a transaction, because the damage may
  /// be long.
  void search(record::SpoolReader& reader) {
    const std::uint64_t offset = reader.offset(), before = reader.searched_bytes();
    std::error_code failure;
    const std::uint64_t size = std::filesystem::file_size(source_.path, failure);
    const bool enough = failure || search_work_ > 8 * size;
    searched_ = Searched{.offset = offset, .gap = enough ? std::nullopt : reader.skip_damage()};
    search_work_ += reader.searched_bytes() - before;
  }

  void note_gap(const record::SpoolGap& gap) {
    const std::uint64_t lost = gap.last_record + 1 - gap.first_record;
    const std::string records = lost == 0   ? "no record is lost"
                                : lost == 1 ? "record " + std::to_string(gap.first_record) + " is lost"
                                            : "records " + std::to_string(gap.first_record) + " to " +
                                                  std::to_string(gap.last_record) + " are lost";
    if (gap.end_byte > gap.first_byte)
      note_damage(source_.path.filename().string() + ": bytes " + std::to_string(gap.first_byte) + " to " +
                      std::to_string(gap.end_byte - 1) + " are damaged: " + records,
                  lost);
  }

  /// Records damage that no valid record follows. Each merge repeats this, since the file may have been
  /// repaired.
  void note_end(const record::SpoolReader& reader) {
    database_
        .cached(
            "DELETE FROM event WHERE attempt = ? AND sequence <= 0 AND type = ? AND body ->> 'records' IS "
            "NULL")
        .run(source_.attempt, spool_damage_event);
    if (reader.end() == record::SpoolEnd::damaged || reader.end() == record::SpoolEnd::refused)
      note_damage(reader.problem(), nullptr);
  }

  void note_damage(const std::string& text, const nlohmann::json& records) {
    add_own_event(database_, source_.attempt, spool_damage_event,
                  {{"text", text}, {"records", records}, {"from_step", first_step_maybe_lost()}});
  }

  /// Returns the first step whose records may be lost. The record of a checkpoint comes after all records of
  /// its step, so only later steps can be missing.
  std::int64_t first_step_maybe_lost() {
    Statement& step = database_.cached(
        "SELECT max(coalesce((SELECT max(step) FROM point WHERE run = ?1 AND attempt = ?2), 0), "
        "coalesce((SELECT max(step) + 1 FROM checkpoint WHERE run = ?1 AND attempt = ?2), 0))");
    step.with(source_.run, source_.attempt).step();
    const std::int64_t found = step.integer(0);
    step.reset();
    return found;
  }

  void describe(const record::SpoolReader& reader, bool more, MergeReport& report) {
    std::string text;
    Statement& damages = database_.cached(
        "SELECT body ->> 'text' FROM event WHERE attempt = ? AND sequence <= 0 AND type = ? "
        "ORDER BY sequence DESC");
    damages.with(source_.attempt, spool_damage_event);
    while (damages.step()) text += (text.empty() ? "" : "; ") + damages.text(0);
    damages.reset();
    report.complete = text.empty() && (reader.end() == record::SpoolEnd::clean || more);
    const bool noted = source_.is_over && reader.end() != record::SpoolEnd::torn;
    const bool stopped = reader.end() != record::SpoolEnd::clean && reader.end() != record::SpoolEnd::missing;
    if (stopped && !noted && !more) text += (text.empty() ? "" : "; ") + reader.problem();
    report.problem = text;
  }

  void save_place(const record::SpoolReader& reader, const std::string& problem) {
    records_ = reader.sequence();
    database_
        .cached(
            "UPDATE attempt SET spool_bytes = ?, spool_records = ?, first_step = ?, spool_problem = ? WHERE "
            "number = ?")
        .run(reader.offset(), reader.sequence(), first_step_, problem, source_.attempt);
  }

  void merge_metric() {
    add_spool_metric(database_, source_.attempt, record_.metric,
                     metric_from(record_.name, record_.unit, record_.meaning));
    metrics_[record_.metric] = {add_metric(database_, record_.name), record_.name.starts_with("train/")};
  }

  void merge_point() {
    const auto metric = metrics_.find(record_.metric);
    if (metric == metrics_.end()) return leave_out(record_.metric);
    if (metric->second.train && (!first_step_ || record_.step < *first_step_)) {
      first_step_ = record_.step;
      newest_.first_step_changed();
    }
    newest_.add(metric->second.number, record_.step, record_.value);
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

  /// Records that points were lost because the record that names their metric lies in a gap.
  void leave_out(std::int64_t metric) {
    if (!nameless_.insert(metric).second) return;
    note_damage(source_.path.filename().string() + ": the name of metric " + std::to_string(metric) +
                    " is among what is lost, so that its points are too",
                1);
  }

  void merge_event() {
    record::ReadEvent read = record_.event();
    if (read.event && std::holds_alternative<record::Started>(*read.event))
      read.body = without_diff(read.body);
    if (read.event) merge_content(*read.event, read);
    if (read.event && !keeps_its_text(*read.event)) return;
    database_
        .cached("INSERT OR REPLACE INTO event (attempt, sequence, time, type, body) VALUES (?, ?, ?, ?, ?)")
        .run(source_.attempt, record_.sequence, read.time, read.type, read.body);
  }

  /// Returns whether the row keeps the text of the event. Progress keeps only the newest, scores are also
  /// points, and digests have their own table. Events that cannot be read, or that only a newer program
  /// knows, are kept as they are.
  static bool keeps_its_text(const record::Event& event) {
    return !std::holds_alternative<record::Progressed>(event) &&
           !std::holds_alternative<record::Evaluated>(event) &&
           !std::holds_alternative<record::Digested>(event);
  }

  void merge_content(const record::Event& event, const record::ReadEvent& read) {
    record::handle(
        event,
        [&](const record::Progressed&) {
          database_.cached("UPDATE attempt SET progress = ? WHERE number = ?")
              .run(read.body, source_.attempt);
        },
        [&](const record::Digested& digest) { merge_digest(digest); },
        [&](const record::Started& started) { merge_started(started, read); },
        [&](const record::Saved& saved) { merge_checkpoint(saved, read.time); },
        [&](const record::Wrote& file) { merge_artifact(file, read.time); },
        [&](const record::Concluded&) { merge_result(read); });
  }

  /// Merges the digest of a block, and those of its tensors if the worker reports them one by one.
  void merge_digest(const record::Digested& digest) {
    merge_digest(digest.step, digest.scope, digest.sha256);
    for (const auto& [path, value] : digest.tensors) merge_digest(digest.step, path, value);
  }

  void merge_digest(std::int64_t step, const std::string& scope, const std::string& value) {
    database_
        .cached("INSERT OR REPLACE INTO digest (run, step, scope, attempt, value) VALUES (?, ?, ?, ?, ?)")
        .run(source_.run, step, scope, source_.attempt, value);
  }

  void merge_checkpoint(const record::Saved& saved, double time) {
    database_
        .cached(
            "INSERT OR REPLACE INTO checkpoint (run, step, kind, attempt, path, bytes, sha256, created) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        .run(source_.run, saved.step, std::string(record::name_of(saved.kind)), source_.attempt, saved.path,
             saved.bytes, saved.sha256, time);
  }

  void merge_artifact(const record::Wrote& file, double time) {
    database_
        .cached(
            "INSERT OR REPLACE INTO artifact (run, name, attempt, path, sha256, created) VALUES (?, ?, ?, ?, "
            "?, ?)")
        .run(source_.run, file.name, source_.attempt, file.path, file.sha256, time);
  }

  /// Stores the result of the run. That of the latest attempt counts, in whatever order the spools are
  /// merged.
  void merge_result(const record::ReadEvent& read) {
    database_
        .cached(
            "UPDATE run SET result = ?1 WHERE number = ?2 AND NOT EXISTS (SELECT 1 FROM event "
            "JOIN attempt ON attempt.number = event.attempt "
            "WHERE attempt.run = ?2 AND attempt.number > ?3 AND event.type = ?4)")
        .run(read.body, source_.run, source_.attempt, std::string(record::Concluded::type));
  }

  void merge_started(const record::Started& started, const record::ReadEvent& read) {
    std::optional<std::string> environment;
    if (!started.numeric_environment.text.empty()) environment = started.numeric_environment.text;
    database_
        .cached("UPDATE attempt SET environment = ?, started_event = ?, host = ?, build = ? WHERE number = ?")
        .run(environment, read.body, host_row(started.host), build_row(started), source_.attempt);
    for (const record::PluginUse& plugin : started.plugins) merge_plugin(plugin);
  }

  std::optional<std::int64_t> build_row(const record::Started& started) {
    if (started.build.text.empty()) return std::nullopt;
    return add_build(database_, started.build.text);
  }

  std::optional<std::int64_t> host_row(const record::JsonText& description) {
    if (description.text.empty()) return std::nullopt;
    return add_host(database_, description.text);
  }

  void merge_plugin(const record::PluginUse& plugin) {
    database_.cached("INSERT OR IGNORE INTO plugin (name, version, sha256, fingerprint) VALUES (?, ?, ?, ?)")
        .run(plugin.name, plugin.version, plugin.sha256, plugin.fingerprint);
    database_
        .cached(
            "INSERT OR IGNORE INTO attempt_plugin (attempt, plugin) SELECT ?, number FROM plugin "
            "WHERE name = ? AND version = ? AND sha256 = ? AND fingerprint = ?")
        .run(source_.attempt, plugin.name, plugin.version, plugin.sha256, plugin.fingerprint);
  }

  struct Metric {
    std::int64_t number = 0;
    bool train = false;
  };

  Database& database_;
  const SpoolSource& source_;
  NewestPoints newest_;
  Statement add_point_;
  record::SpoolRecord record_;
  std::unordered_map<std::int64_t, Metric> metrics_;
  std::set<std::int64_t> nameless_;
  std::uint64_t records_ = 0;
  std::optional<std::int64_t> first_step_;
  /// The result of search(): the damage at `offset` and what was found after it.
  struct Searched {
    std::uint64_t offset = 0;
    std::optional<record::SpoolGap> gap = {};
  };
  std::optional<Searched> searched_;
  std::uint64_t search_work_ = 0;  ///< bytes that search() has hashed so far
};

/// Returns the number of bytes that were not merged yet; 0 if there is no file yet.
std::uint64_t unread_bytes(Database& database, const SpoolSource& source) {
  Statement& place = database.cached("SELECT spool_bytes FROM attempt WHERE number = ?");
  const std::uint64_t read =
      place.with(source.attempt).step() ? static_cast<std::uint64_t>(place.integer(0)) : 0;
  place.reset();
  std::error_code failure;
  const std::uint64_t size = std::filesystem::file_size(source.path, failure);
  return failure || size < read ? 0 : size - read;
}

}  // namespace

void add_own_event(Database& database, std::int64_t attempt, const std::string& type,
                   const nlohmann::json& body) {
  database
      .cached(
          "INSERT INTO event (attempt, sequence, time, type, body) "
          "SELECT ?1, min(0, coalesce(min(sequence), 1) - 1), ?2, ?3, ?4 FROM event WHERE attempt = ?1")
      .run(attempt, world::now_seconds(), type, body.dump());
}

MergeReport merge_spool(Database& database, const SpoolSource& source, const std::function<void()>& check,
                        const std::function<void(const MergeReport&)>& conclude) {
  ENCORE_REQUIRE(!database.in_transaction(), "merging begins its own transactions");
  // The rows refer to numbers that were read in the same transaction, so foreign keys, three for each point,
  // need no check; they would cost half of the time. The checks of the schema are off too: for column
  // `special` SQLite builds the set of its three names again for each point, which takes as long as all the
  // rest. The names bound here are valid, and JSON has been parsed. For a short spool the checks cost less
  // than preparing all statements again.
  std::optional<ConnectionFlag> unlinked, unchecked;
  if (unread_bytes(database, source) > short_spool) {
    unlinked.emplace(database, "foreign_keys", false);
    unchecked.emplace(database, "ignore_check_constraints", true);
  }
  return Merger(database, source).merge(check, conclude);
}

}  // namespace encore::store
