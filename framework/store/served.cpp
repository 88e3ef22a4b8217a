// SPDX-License-Identifier: BSD-3-Clause
// Merges what servers have recorded of their inputs (`exp serve --monitor`) into the tables served_*, and
// deletes what has expired. A record is a JSON object with up to three members: the lists "texts" and
// "contents", and the object "feedback". Invalid records are reported and skipped, because any program may
// have written the file. `exp monitor` calls it. Read served.hpp first.
#include "store/served.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "record/spool_reader.hpp"

namespace encore::store {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *texts_key = "texts", *feedback_key = "feedback", *contents_key = "contents";

/// The member of the column `labels` with the group of the request ("group") and the fields of an
/// application's answer ("decide.band"). No label has a line break, and earlier versions of Encore, which
/// read only whole numbers there, ignore the member. So the column needed no new version of the schema.
constexpr const char* more_key = "\nmore";
constexpr const char* group_key = "group";

/// The least age of a spool that may be removed after it was merged: the server of a younger one may not have
/// locked it yet.
constexpr std::chrono::seconds least_age(2);

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Turns the records of one spool into rows.
class RowWriter {
 public:
  RowWriter(Database& database, std::int64_t run, double now, ServedMerge& merge)
      : database_(database), run_(run), now_(now), merge_(merge) {}

  /// Throws Error if the record is invalid.
  void add(std::string_view text) try {
    const Json record = parse_json<Json>(text);
    if (record.contains(texts_key))
      for (const Json& each : record[texts_key]) add_text(each);
    if (record.contains(contents_key))
      for (const Json& each : record[contents_key]) add_content(each);
    if (record.contains(feedback_key)) add_feedback(record[feedback_key]);
  } catch (const nlohmann::json::exception& error) {
    throw Error(std::string("invalid record: ") + error.what());
  }

 private:
  void add_text(const Json& json) {
    const record::TextFacts facts = record::TextFacts::parse(json.at("facts").dump());
    database_
        .cached(
            "INSERT OR IGNORE INTO served (run, request, text, time, seconds, digest, pieces, unknown, "
            "confidence, distance, labels) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .run(run_, request_of(json), json.at("text").get<std::int64_t>(), json.at("time").get<double>(),
             json.at("seconds").get<double>(), json.at("weights").get<std::string>(), facts.tokens,
             facts.unknown, facts.confidence, facts.distance, labels_column(facts, json));
    merge_.texts += database_.changes();
  }
  /// Adds the feedback of an input. Skips an input that the user deleted: nothing about it may be stored
  /// again.
  void add_feedback(const Json& json) {
    database_
        .cached(
            "INSERT OR REPLACE INTO served_feedback (run, request, text, time, correct) "
            "SELECT run, request, text, ?4, ?5 FROM served WHERE run = ?1 AND request = ?2 AND text = ?3")
        .run(run_, request_of(json), json.at("text").get<std::int64_t>(), json.at("time").get<double>(),
             json.at("correct").get<bool>() ? 1 : 0);
    merge_.feedback += database_.changes();
  }
  void add_content(const Json& json) {
    const double expires = json.at("expires").get<double>();
    if (expires <= now_) return;
    const auto part = [&](const char* name) -> std::optional<std::string> {
      if (!json.contains(name)) return {};
      return name == std::string_view("content") ? json.at(name).get<std::string>() : json.at(name).dump();
    };
    database_
        .cached(
            "INSERT INTO served_content (run, request, text, content, answer, truth, expires) VALUES (?, ?, "
            "?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET content = coalesce(excluded.content, content), answer "
            "= coalesce(excluded.answer, answer), truth = coalesce(excluded.truth, truth)")
        .run(run_, request_of(json), json.at("text").get<std::int64_t>(), part("content"), part("answer"),
             part("truth"), expires);
  }
  static std::string labels_column(const record::TextFacts& facts, const Json& json) {
    Json labels = facts.labels, more = facts.fields;
    if (json.contains(group_key)) more[group_key] = json.at(group_key).get<std::string>();
    if (!more.empty()) labels[more_key] = std::move(more);
    return labels.dump();
  }
  static std::string request_of(const Json& json) { return json.at("request").get<std::string>(); }

  Database& database_;
  std::int64_t run_;
  double now_;
  ServedMerge& merge_;
};

std::vector<std::filesystem::path> spools_in(const std::filesystem::path& folder) {
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> found;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    std::error_code gone;  // another process may merge and remove it meanwhile, here and below
    const auto written = entry.last_write_time(gone);
    if (!gone && entry.is_regular_file(gone) && entry.path().extension() == ".spool")
      found.emplace_back(written, entry.path());
  }
  std::ranges::sort(found);
  std::vector<std::filesystem::path> paths;
  for (auto& [time, path] : found) paths.push_back(std::move(path));
  return paths;
}

/// Opens and locks a spool if no server writes it. Returns nothing if a server does, or if the file is gone.
std::optional<world::FileDescriptor> closed_spool(const std::filesystem::path& path) {
  world::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file && errno == ENOENT) return {};
  if (!file) throw Error(world::system_message("open", path, errno));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return file;
}

void merge_one(Store& store, const RunRow& run, const std::filesystem::path& path, double now,
               ServedMerge& merge) {
  const std::string name = path.filename().string();
  std::error_code gone;
  const auto written = std::filesystem::last_write_time(path, gone);
  if (gone) return;
  const bool young = std::filesystem::file_time_type::clock::now() - written < least_age;
  std::optional<world::FileDescriptor> closed = young ? std::nullopt : closed_spool(path);
  Database& database = store.database();
  Transaction transaction(database);
  Statement& known = database.cached("SELECT bytes, records FROM served_spool WHERE run = ? AND name = ?");
  known.with(run.number, name);
  std::uint64_t bytes = 0, records = 0;
  if (known.step()) {
    bytes = static_cast<std::uint64_t>(known.integer(0));
    records = static_cast<std::uint64_t>(known.integer(1));
  }
  known.reset();
  record::SpoolReader reader(path, record::SpoolOwner{run.id, 1}, bytes, records);
  RowWriter rows(database, run.number, now, merge);
  record::SpoolRecord record;
  bool whole = true;
  const auto problem = [&](const std::string& text) {
    merge.problems.push_back(text);
    whole = false;
  };
  for (;;) {
    while (reader.next(record)) try {
        if (record.kind == record::SpoolKind::event) rows.add(record.text);
      } catch (const Error& error) {
        problem(name + ": record " + std::to_string(record.sequence) + ": " + error.what());
      }
    if (reader.end() == record::SpoolEnd::clean || reader.end() == record::SpoolEnd::torn ||
        reader.end() == record::SpoolEnd::missing)
      break;
    problem(reader.problem());
    if (!closed || reader.end() != record::SpoolEnd::damaged || !reader.skip_damage()) break;
  }
  const bool missing = reader.end() == record::SpoolEnd::missing;
  // Nothing new: no page is written, so that a process that merges each second does not write each second.
  const bool moved = reader.offset() != bytes || reader.sequence() != records;
  if (!missing && moved)
    database.cached("INSERT OR REPLACE INTO served_spool (run, name, bytes, records) VALUES (?, ?, ?, ?)")
        .run(run.number, name, reader.offset(), reader.sequence());
  if (!closed && !missing) merge.open.push_back(name);
  if (missing || (closed && whole))
    database.cached("DELETE FROM served_spool WHERE run = ? AND name = ?").run(run.number, name);
  transaction.commit();
  std::error_code ignored;
  if (closed && whole) std::filesystem::remove(path, ignored);
  // Another merge may have read the spool meanwhile, and its row would stay. Whichever of the two comes last
  // finds the file gone.
  if (!missing && !std::filesystem::exists(path, ignored))
    database.cached("DELETE FROM served_spool WHERE run = ? AND name = ?").run(run.number, name);
}

void remove_expired(Database& database, double now) {
  Transaction transaction(database);
  database.cached("DELETE FROM served_content WHERE expires <= ?").run(now);
  transaction.commit();
}

std::map<std::string, std::int64_t> labels_in(const std::string& text) {
  std::map<std::string, std::int64_t> labels;
  const Json json = json_or_null<Json>(text);
  if (!json.is_object()) return labels;
  for (const auto& [label, count] : json.items())
    if (count.is_number_integer() && count >= 0 && count <= record::most_counted)
      labels[label] = count.get<std::int64_t>();
  return labels;
}

/// Returns what the column `labels` has beside labels: the group and the fields of the answer.
std::map<std::string, std::string> more_in(const std::string& text) {
  std::map<std::string, std::string> more;
  const Json json = json_or_null<Json>(text);
  if (!json.is_object() || !json.contains(more_key) || !json.at(more_key).is_object()) return more;
  for (const auto& [name, value] : json.at(more_key).items())
    if (value.is_string()) more[name] = value.get<std::string>();
  return more;
}

}  // namespace

void make_served_folder(const std::filesystem::path& folder) {
  std::filesystem::create_directory(folder);
  std::error_code ignored;  // the folder of another user, who gave this one access
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ignored);
}

std::string record_text(const std::vector<ServedText>& texts, const std::vector<std::string>& facts) {
  std::string list;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const ServedText& text = texts[i];
    Json object = Json({{"request", text.request},
                        {"text", text.text},
                        {"time", text.time},
                        {"seconds", text.seconds},
                        {"weights", text.digest}});
    if (!text.group.empty()) object[group_key] = text.group;
    std::string members = dumped(object);
    members.pop_back();
    list += (i > 0 ? "," : "") + members + ",\"facts\":" + facts[i] + "}";
  }
  return "{\"" + std::string(texts_key) + "\":[" + list + "]}";
}

std::string record_text(const std::vector<ServedContent>& contents) {
  Json list = Json::array();
  for (const ServedContent& each : contents) {
    Json object = {{"request", each.request}, {"text", each.text}, {"expires", each.expires}};
    if (!each.content.empty()) object["content"] = each.content;
    if (!each.answer.empty()) object["answer"] = parse_json<Json>(each.answer);
    if (!each.truth.empty()) object["truth"] = parse_json<Json>(each.truth);
    list.push_back(std::move(object));
  }
  return dumped({{contents_key, list}});
}

std::string record_text(const ServedFeedback& feedback) {
  return dumped({{feedback_key,
                  {{"request", feedback.request},
                   {"text", feedback.text},
                   {"time", feedback.time},
                   {"correct", feedback.correct}}}});
}

ServedMerge merge_served(Store& store, const RunRow& run, double now) {
  ServedMerge merge;
  // SQLite overwrites deleted rows: a deleted input must not remain in a free page.
  store.database().execute("PRAGMA secure_delete = ON");
  for (const std::filesystem::path& path : spools_in(store.run_folder(run.id) / served_folder))
    merge_one(store, run, path, now, merge);
  remove_expired(store.database(), now);
  return merge;
}

std::vector<ServedText> read_served(Store& store, std::int64_t run) {
  Statement rows(store.database(),
                 "SELECT request, text, time, seconds, digest, pieces, unknown, confidence, distance, labels "
                 "FROM served WHERE run = ? ORDER BY number");
  rows.with(run);
  std::vector<ServedText> texts;
  while (rows.step())
    texts.push_back({.request = rows.text(0),
                     .text = rows.integer(1),
                     .time = rows.number(2),
                     .seconds = rows.number(3),
                     .digest = rows.text(4),
                     .facts = {.tokens = rows.integer(5),
                               .unknown = rows.integer(6),
                               .confidence = rows.optional_number(7),
                               .distance = rows.optional_number(8),
                               .labels = labels_in(rows.text(9))}});
  return texts;
}

bool visit_served(Store& store, std::int64_t run, ServedPlace& place,
                  const std::function<void(const ServedAnswer&)>& seen) {
  const std::int64_t after = place.number;
  if (after > 0) {
    Statement row(store.database(),
                  "SELECT 1 FROM served WHERE number = ? AND run = ? AND request = ? AND text = ?");
    row.with(after, run, place.request, place.text);
    if (!row.step()) return false;
  }
  // "+run" excludes the index by run, with which SQLite would read all rows of the run to find the few new
  // ones.
  Statement rows(store.database(), "SELECT request, text, time, labels, number FROM served WHERE " +
                                       std::string(after > 0 ? "+run" : "run") +
                                       " = ? AND number > ? ORDER BY time, number");
  rows.with(run, after);
  // Most rows have one of a few contents, which need not be parsed again.
  constexpr std::size_t most_parsed = 4096;
  std::unordered_map<std::string, ServedAnswer> parsed;
  ServedAnswer answer;
  while (rows.step()) {
    const std::string labels = rows.text(3);
    auto known = parsed.find(labels);
    if (known == parsed.end()) {
      if (parsed.size() >= most_parsed) parsed.clear();
      ServedAnswer content{.labels = labels_in(labels), .fields = more_in(labels)};
      content.group = std::exchange(content.fields[group_key], {});
      content.fields.erase(group_key);
      known = parsed.emplace(labels, std::move(content)).first;
    }
    answer = known->second;
    answer.request = rows.text(0);
    answer.text = rows.integer(1);
    answer.time = rows.number(2);
    seen(answer);
    if (const std::int64_t number = rows.integer(4); number > place.number)
      place = {.number = number, .request = answer.request, .text = answer.text};
  }
  return true;
}

ServedVerdicts read_verdicts(Store& store, std::int64_t run, std::int64_t last) {
  Statement rows(store.database(),
                 "SELECT sum(correct), count(*) FROM (SELECT correct FROM served JOIN served_feedback USING "
                 "(run, request, text) WHERE run = ? ORDER BY number DESC LIMIT ?)");
  rows.with(run, last);
  ServedVerdicts verdicts;
  if (rows.step()) verdicts = {rows.is_null(0) ? 0 : rows.integer(0), rows.integer(1)};
  return verdicts;
}

std::int64_t forget_served(Store& store, std::int64_t run, const std::string& request) {
  Database& database = store.database();
  database.execute("PRAGMA secure_delete = ON");
  Transaction transaction(database);
  for (const char* table : {"served_content", "served_feedback"})
    Statement(database, std::string("DELETE FROM ") + table + " WHERE run = ? AND request = ?")
        .run(run, request);
  Statement(database, "DELETE FROM served WHERE run = ? AND request = ?").run(run, request);
  const std::int64_t texts = database.changes();
  transaction.commit();
  database.execute("PRAGMA wal_checkpoint(TRUNCATE)");  // the log of SQLite still holds the old pages
  return texts;
}

}  // namespace encore::store
