// SPDX-License-Identifier: BSD-3-Clause
// Tests that `exp verify` notices a bundle that another person has changed (bundle/check_bundle.hpp,
// bundle/evidence.hpp). Every column of every table and every file is changed alone, and by a forger who
// adapts all other parts to it. Each change is found when the bundle is opened, or makes a difference when
// the run is trained again, or is printed as a claim: evidence.hpp says which. A new column of
// store/schema.sql needs a row there.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/measure_json.hpp"
#include "bundle/check_bundle.hpp"
#include "bundle/evidence.hpp"
#include "bundle/settings_agreement.hpp"
#include "plan/identity.hpp"
#include "record/spool_reader.hpp"
#include "record/weights_file.hpp"
#include "store/foreign_schema.hpp"
#include "store/merge.hpp"
#include "support/places.hpp"
#include "system/control/archive.hpp"
#include "system/control/real_worker.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

const config::Catalogue& catalogue() {
  static const config::Catalogue all = config::Catalogue::survey({ENCORE_BUILD_DIR "/lib/encore/plugins"});
  return all;
}

/// Sets of values, keyed by evidence and name, such as "claimed point.value".
using ValuesByEvidence = std::map<std::string, std::set<std::string>>;

ValuesByEvidence values_by_evidence(store::Store& store) {
  ValuesByEvidence all;
  for (const bundle::ColumnEvidence& part : bundle::column_evidence()) {
    if (part.evidence == bundle::Evidence::own) continue;
    const std::string value = *part.expression == '\0' ? part.column : part.expression;
    store::Statement rows(store.database(),
                          "SELECT DISTINCT CAST((" + value + ") AS TEXT) FROM " + part.table + " AS t" +
                              (*part.condition == '\0' ? "" : std::string(" WHERE ") + part.condition));
    std::set<std::string>& texts =
        all[std::string(bundle::name_of(part.evidence)) + " " + part.table + "." + part.column];
    while (rows.step()) texts.insert(rows.text(0));
  }
  return all;
}

/// What a reader of the bundle sees, and what follows from it.
struct Opened {
  std::string refusal = {};  ///< the message; empty if the bundle was opened
  ValuesByEvidence by_evidence = {};
  std::size_t claimed_questions = 0, unproved = 0;

  /// Returns the names of values with that evidence that differ from those of `other`.
  std::vector<std::string> changed(const std::string& evidence, const Opened& other) const {
    std::vector<std::string> names;
    for (const auto& [name, values] : by_evidence)
      if (name.starts_with(evidence) && other.by_evidence.at(name) != values) names.push_back(name);
    return names;
  }
};

Opened open(const fs::path& archive) {
  Opened opened;
  try {
    const archive::UnpackedBundle bundle(archive);
    const bundle::CheckedBundle checked = bundle::check_bundle(bundle, archive.string(), catalogue());
    opened.claimed_questions = checked.claimed_questions.size();
    opened.unproved = checked.unproved.size();
    store::Store store(bundle.database(), store::OpenMode::read);
    opened.by_evidence = values_by_evidence(store);
    bundle::claims_of(store, 0);
  } catch (const Error& error) {
    opened.refusal = error.what();
  }
  return opened;
}

/// Returns another value of the same type, as an SQL expression over the column `name`.
std::string other_value(const std::string& table, const std::string& name) {
  static const std::map<std::string, std::string> words = {
      {"run.state", "CASE run.state WHEN 'failed' THEN 'stopped' ELSE 'failed' END"},
      {"run.kind", "'application'"},
      {"attempt.state", "'interrupted'"},
      {"param.type", "CASE type WHEN 'integer' THEN 'number' ELSE 'integer' END"},
      {"verification.outcome", "'not comparable'"},
      {"search_decision.kind", "CASE kind WHEN 'prune' THEN 'promote' ELSE 'prune' END"},
      {"search_observation.outcome", "'failed'"},
      {"search_trial.excluded", "1 - excluded"},
      {"search_run.confirms", "1 - confirms"}};
  if (const auto word = words.find(table + "." + name); word != words.end()) return word->second;
  return "CASE typeof(" + name + ") WHEN 'integer' THEN " + name + " + 1 WHEN 'real' THEN " + name +
         " * 1.5 + 1 WHEN 'null' THEN 1 ELSE CASE WHEN substr(" + name +
         ", 1, 1) IN ('0', '1', '2', '3') THEN '9' || substr(" + name + ", 2) ELSE " + name +
         " || 'x' END END";
}

/// Returns another value for one member of the JSON object in the column `name`, as an SQL expression.
std::string other_member(const std::string& name, const std::string& path) {
  return "json_set(" + name + ", '" + path + "', json(CASE json_type(" + name + ", '" + path +
         "') WHEN 'integer' THEN (" + name + " ->> '" + path + "') + 1 WHEN 'real' THEN (" + name + " ->> '" +
         path + "') * 1.5 + 1 WHEN 'text' THEN json_quote((" + name + " ->> '" + path +
         "') || 'x') ELSE '{\"forged\": 1}' END))";
}

/// A bundle that a test can change.
class Forger {
 public:
  Forger(fs::path folder, const std::string& bundle)
      : folder_(std::move(folder)), honest_(Archive::load(folder_ / bundle)), archive_(honest_) {}

  fs::path evil() const { return folder_ / "evil.tar.zst"; }
  Archive& archive() { return archive_; }
  void start_over() { archive_ = honest_; }

  /// Writes the bundle with a list that matches its files.
  void save() {
    archive_.list_again();
    archive_.save(evil());
  }

  /// Runs SQL on the database of the bundle.
  void change_rows(const std::string& sql) {
    with_database([&](store::Database& database) { database.execute(sql); });
  }

  void with_database(const std::function<void(store::Database&)>& change) {
    const fs::path path = folder_ / "forged.db";
    write_bytes(path, archive_.content("encore.db"));
    {
      store::Database database(path, SQLITE_OPEN_READWRITE, std::chrono::seconds(1));
      database.execute("PRAGMA ignore_check_constraints = 1; PRAGMA foreign_keys = 0");
      change(database);
    }
    archive_.content("encore.db") = bytes_of(path);
    fs::remove(path);
  }

  /// Makes every other part agree with specification.json and the spool, as a forger does who knows Encore:
  /// question, rows, digests of files. `change` may change files first.
  void make_consistent(const std::function<void(record::Specification&)>& change = {}) {
    const fs::path work = folder_ / "forging";
    fs::remove_all(work);
    for (const auto& [name, content] : archive_.files) {
      fs::create_directories((work / name).parent_path());
      write_bytes(work / name, content);
    }
    {
      store::Store store(work / "encore.db", store::OpenMode::write);
      const store::RunRow run = store.list_runs({.sight = store::Sight::any}).front();
      const fs::path run_folder = store.run_folder(run.id);
      record::Specification specification = record::Specification::load(run_folder);
      if (change) change(specification);
      const plan::RecomputedIdentity identity = plan::recompute_identity(specification, catalogue());
      if (specification.question != identity.question) answer(run_folder, identity.question);
      specification.question = identity.question;
      specification.group = identity.group;
      specification.save(run_folder);
      store::Database& database = store.database();
      database.execute(
          "DELETE FROM newest; DELETE FROM point; DELETE FROM digest; DELETE FROM checkpoint; DELETE FROM "
          "artifact; DELETE FROM spool_metric; DELETE FROM attempt_plugin; DELETE FROM event WHERE sequence "
          "> "
          "0; UPDATE attempt SET spool_bytes = 0, spool_records = 0, first_step = NULL, host = NULL, build = "
          "NULL");
      database.cached("UPDATE run SET question = ?, group_id = ?, seed = ?, backend = ?")
          .run(specification.question, specification.group, static_cast<std::int64_t>(specification.seed),
               specification.backend);
      bundle::take_from_specification(store, store.read_run(run.number), specification);
      store::merge_spool(database, {.path = run_folder / record::spool_name(1),
                                    .run = run.number,
                                    .attempt = *database.integer("SELECT number FROM attempt"),
                                    .ordinal = 1,
                                    .run_id = run.id,
                                    .is_over = true});
      const store::Unguarded unguarded(database);
      database.execute("VACUUM; PRAGMA journal_mode = DELETE");
    }
    for (auto& [name, content] : archive_.files) content = bytes_of(work / name);
    fs::remove_all(work);
  }

  /// Makes the weights file say that it answers this question, and the spool name its new digest.
  void answer(const fs::path& run_folder, const std::string& question) {
    if (!fs::exists(run_folder / record::weights_file)) return;
    {
      const record::WeightsFile weights(run_folder);
      record::WeightsFacts facts = weights.facts();
      facts.question = question;
      std::vector<record::TensorSlice> slices;
      for (const auto& [name, entry] : weights.tensors().tensors())
        slices.push_back({name, entry.dtype, entry.shape, entry.bytes});
      const fs::path other = run_folder / "forged";
      fs::create_directory(other);
      record::save_weights(other, slices, facts, 1);
      fs::rename(other / record::weights_file, run_folder / record::weights_file);
      fs::remove_all(other);
    }
    archive_.content(record::weights_file) = bytes_of(run_folder / record::weights_file);
    sign(record::weights_file);
    write_bytes(run_folder / record::spool_name(1), archive_.content(record::spool_name(1)));
  }

  /// Writes the spool with each record as `change` leaves it, and matching checksums.
  void change_spool(const std::function<void(record::SpoolRecord&)>& change) {
    const fs::path in = folder_ / record::spool_name(1), out = folder_ / "forged.spool";
    write_bytes(in, archive_.content(record::spool_name(1)));
    fs::remove(out);
    {
      record::SpoolReader reader(in);
      std::optional<record::SpoolWriter> writer;
      for (record::SpoolRecord record; reader.next(record);) {
        if (!writer) writer.emplace(out, 1, run_id());
        change(record);
        write(*writer, record);
      }
      writer->sync();
    }
    archive_.content(record::spool_name(1)) = bytes_of(out);
    fs::remove(in);
    fs::remove(out);
  }

  /// Changes one member of the first event of that type.
  void change_event(const std::string& type, const std::function<void(json&)>& change) {
    bool done = false;
    change_spool([&](record::SpoolRecord& record) {
      if (record.kind != record::SpoolKind::event || done) return;
      json event = json::parse(record.text);
      if (event.at("type") != type) return;
      change(event);
      record.text = event.dump();
      done = true;
    });
  }

  /// Sets the digest of a file, in the event that names it, to that of its content.
  void sign(const std::string& path) {
    const std::string content = archive_.content(path);
    change_spool([&](record::SpoolRecord& record) {
      if (record.kind != record::SpoolKind::event) return;
      json event = json::parse(record.text);
      if (event.value("path", "") != path) return;
      event["sha256"] = sha256(content);
      if (event.contains("bytes")) event["bytes"] = content.size();
      record.text = event.dump();
    });
  }

  std::string run_id() const {
    for (const auto& [name, content] : archive_.files)
      if (name.starts_with(archive::bundle_runs)) return name.substr(archive::bundle_runs.size(), 10);
    return "";
  }

 private:
  void write(record::SpoolWriter& writer, const record::SpoolRecord& record) {
    switch (record.kind) {
      case record::SpoolKind::metric:
        names_[record.metric] = record.name;
        {
          Measure measure = measure_in(json::parse(record.meaning));
          measure.unit = record.unit;
          writer.define(record.name, measure);
        }
        break;
      case record::SpoolKind::point:
        writer.point(names_.at(record.metric), record.step, record.value);
        break;
      case record::SpoolKind::event:
        writer.event_text(record.text);
        break;
    }
  }

  fs::path folder_;
  const Archive honest_;
  Archive archive_;
  std::map<std::uint32_t, std::string> names_;
};

TEST(Evidence, NamesEveryColumnOfTheSchema) {
  store::Database database(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
  database.execute(store::schema_sql);
  std::set<std::string> named, there;
  for (const bundle::ColumnEvidence& part : bundle::column_evidence())
    named.insert(std::string(part.table) + "." + part.column);
  store::Statement tables(database,
                          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'");
  while (tables.step())
    for (const std::string& column : store::own_columns(tables.text(0)))
      there.insert(tables.text(0) + "." + column);
  EXPECT_EQ(named, there) << "a new column has no evidence: bundle/evidence.cpp";
}

// --- every column, alone ---

class ForgedColumns : public ::testing::Test {
 protected:
  ForgedColumns() {
    // Hundreds of bundles are opened, and none of them has to be kept on disk.
    if (fs::is_directory("/dev/shm")) ::setenv("TMPDIR", "/dev/shm", 1);
    sandbox_.set("FAKE_STEP_MS", "0");
    sandbox_.set("FAKE_WEIGHTS", "1");
  }
  void exp(const std::vector<std::string>& arguments) const {
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    ASSERT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  }

  /// Changes each column of each table that has rows, and the members of each that holds an object.
  void change_every_column(const std::string& bundle) {
    Forger forger(sandbox_.folder(), bundle);
    forger.save();
    const Opened honest = open(forger.evil());
    ASSERT_EQ(honest.refusal, "");
    std::vector<std::array<std::string, 3>> changes;  // table, column, value
    forger.with_database([&](store::Database& database) {
      std::set<std::pair<std::string, std::string>> seen;
      for (const bundle::ColumnEvidence& part : bundle::column_evidence()) {
        const std::string table = part.table, column = part.column;
        if (!seen.emplace(table, column).second) continue;
        if (*database.integer("SELECT count(*) FROM " + table) == 0) continue;
        changes.push_back({table, column, other_value(table, column)});
        const std::string own = "t." + column;
        store::Statement members(database, "SELECT DISTINCT each.fullkey FROM " + table +
                                               " AS t, json_each(" + own + ") AS each WHERE json_valid(" +
                                               own + ") AND json_type(" + own + ") = 'object'");
        while (members.step()) changes.push_back({table, column, other_member(column, members.text(0))});
      }
    });
    std::size_t found = 0, claimed = 0, without_effect = 0;
    for (const auto& [table, column, value] : changes) {
      const std::string what = table + "." + column + " = " + value;
      forger.start_over();
      bool is_changed = false;
      forger.with_database([&](store::Database& database) {
        std::string key;
        store::Statement columns(database, "SELECT name FROM pragma_table_info(?) WHERE pk > 0");
        columns.with(table);
        while (columns.step()) key += (key.empty() ? "" : ", ") + columns.text(0);
        columns.reset();
        const std::string of_first = "(" + key + ") IN (SELECT " + key + " FROM " + table + " WHERE " +
                                     column + " IS NOT (" + value + ") LIMIT 1)";
        database.execute("UPDATE OR IGNORE " + table + " SET " + column + " = " + value + " WHERE " +
                         of_first);
        is_changed = database.changes() > 0;
      });
      if (!is_changed) continue;
      forger.save();
      const Opened opened = open(forger.evil());
      if (!opened.refusal.empty()) {
        ++found;
        continue;
      }
      for (const char* evidence : {"recomputed", "trained"})
        EXPECT_EQ(opened.changed(evidence, honest), std::vector<std::string>()) << what;
      EXPECT_EQ(opened.claimed_questions, honest.claimed_questions) << what;
      const std::vector<std::string> claims = opened.changed("claimed", honest);
      if (claims.empty())
        ++without_effect;
      else
        ++claimed;
    }
    EXPECT_GT(found, 20U);
    EXPECT_GT(claimed, 20U);
    RecordProperty("changes", std::to_string(changes.size()));
    std::cout << changes.size() << " changes: " << found << " found, " << claimed << " claims, "
              << without_effect << " without effect\n";
  }

  Sandbox sandbox_;
};

TEST_F(ForgedColumns, FoundOrClaimsInASweep) {
  sandbox_.write("two.toml", "tags = [\"seen\", \"twice\"]\nnote = \"a note\"\n" + tiny_experiment("two") +
                                 "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  exp({"run", "two.toml", "-q"});
  sandbox_.write("again.toml", tiny_experiment("again"));
  exp({"run", "again.toml", "-q"});  // one run of it is a run of the other file: it belongs to two sweeps
  exp({"verify", "two", "-q"});
  exp({"bundle", "two", "-o", "two.tar.zst"});
  change_every_column("two.tar.zst");
}

TEST_F(ForgedColumns, FoundOrClaimsInASearch) {
  sandbox_.set("FAKE_SURFACE", "1");
  sandbox_.write("search.toml", tiny_experiment("look") +
                                    "[search]\nmethod = \"random\"\ntrials = 3\nseed = 1\n[search.space]\n"
                                    "\"optimizer.learning_rate\" = { log_uniform = [1e-4, 1e-1] }\n");
  exp({"run", "search.toml", "-q"});
  exp({"bundle", "look", "-o", "look.tar.zst"});
  change_every_column("look.tar.zst");
}

/// Once, a string literal with a comment mark hid the change of a view.
TEST_F(ForgedColumns, AViewOfTheSenderIsNotUsed) {
  exp({"run", "tiny.toml", "-q"});
  exp({"bundle", "tiny", "-o", "tiny.tar.zst"});
  Forger forger(sandbox_.folder(), "tiny.tar.zst");
  forger.with_database([](store::Database& database) {
    std::string view = *database.text("SELECT sql FROM sqlite_schema WHERE name = 'run_status'");
    const std::string column = "run.reason, ";
    view.replace(view.find(column), column.size(), "'verified and signed -- ' AS reason, ");
    database.execute("DROP VIEW run_status; " + view);
  });
  forger.save();
  EXPECT_TRUE(contains(open(forger.evil()).refusal, "another view \"run_status\" than Encore makes"))
      << open(forger.evil()).refusal;
}

TEST_F(ForgedColumns, ATypeThatIsNotHereMakesTheQuestionAClaimThatIsNamed) {
  exp({"run", "tiny.toml", "-q"});
  exp({"bundle", "tiny", "-o", "tiny.tar.zst"});
  const archive::UnpackedBundle bundle(sandbox_.folder() / "tiny.tar.zst");
  const bundle::CheckedBundle checked = bundle::check_bundle(bundle, "tiny.tar.zst", config::Catalogue());
  ASSERT_EQ(checked.claimed_questions.size(), 1U);
  EXPECT_TRUE(contains(checked.claimed_questions.begin()->second, "no plugin offers a"))
      << checked.claimed_questions.begin()->second;
}

// --- every file, alone ---

TEST_F(ForgedColumns, EveryFileIsComparedWithTheRowsThatNameIt) {
  exp({"run", "tiny.toml", "-q"});
  exp({"bundle", "tiny", "--data", "--weights", "all", "-o", "tiny.tar.zst"});
  Forger forger(sandbox_.folder(), "tiny.tar.zst");
  forger.save();
  const Opened honest = open(forger.evil());
  std::set<std::string> claims;
  const std::size_t files = forger.archive().files.size();
  for (std::size_t i = 0; i < files; ++i) {
    forger.start_over();
    auto& [name, content] = forger.archive().files[i];
    if (name == archive::bundle_database) continue;
    content = content.empty() ? "x" : content.substr(0, content.size() - 1) + '~';
    forger.save();
    const Opened opened = open(forger.evil());
    if (!opened.refusal.empty() || opened.unproved > 0) continue;
    for (const char* evidence : {"recomputed", "trained", "claimed"})
      EXPECT_EQ(opened.changed(evidence, honest), std::vector<std::string>()) << name;
    claims.insert(fs::path(name).filename().string());
  }
  // Nothing is derived from these files; the first is found only by its name.
  EXPECT_EQ(claims, (std::set<std::string>{"attempt-0001.log", "report.html"}));
}

TEST_F(ForgedColumns, FilesBeyondThoseOfARunAreRefused) {
  exp({"run", "tiny.toml", "-q"});
  exp({"bundle", "tiny", "-o", "tiny.tar.zst"});
  Forger forger(sandbox_.folder(), "tiny.tar.zst");
  forger.archive().add(archive::bundle_runs + forger.run_id() + "/readme.txt", "signed by the authors");
  forger.archive().save(forger.evil());
  EXPECT_TRUE(contains(open(forger.evil()).refusal, "readme.txt belongs to no run of its database"));
}

// --- a forger who makes all parts agree ---

class ConsistentForger : public RealWorkerTest {
 protected:
  void SetUp() override {
    RealWorkerTest::SetUp();
    if (IsSkipped()) return;
    output_of({"run", "tiny.toml", "-q"});
    output_of({"bundle", "tiny", "--data", "-o", "tiny.tar.zst"});
    forger_.emplace(sandbox_.folder(), "tiny.tar.zst");
    forger_->make_consistent();
    forger_->save();
    honest_ = open(forger_->evil());
    ASSERT_EQ(honest_.refusal, "");
    ASSERT_EQ(verdict(), 0) << "a forgery back to the original is equal";
    forger_->start_over();
  }

  int verdict() const {
    const runner::ProgramOutput output = sandbox_.exp({"verify", "evil.tar.zst", "-q"});
    said_ = output.output + output.errors;
    return output.end.exit_code;
  }

  /// The bundle in its present state is consistent, and training again finds the change, or only claims were
  /// changed.
  void expect_different_or_claimed(const std::string& what) {
    forger_->save();
    const Opened opened = open(forger_->evil());
    ASSERT_EQ(opened.refusal, "") << what << " was not a consistent forgery";
    const std::vector<std::string> facts = opened.changed("trained", honest_);
    const bool is_fact = !facts.empty();
    const bool is_claim = !opened.changed("claimed", honest_).empty();
    EXPECT_TRUE(is_fact || is_claim) << what << " changed nothing";
    // A claim changes nothing that is trained: a few of them show this.
    if (is_fact || claimed_ < 3) {
      EXPECT_EQ(verdict(), is_fact ? 3 : 0) << what << ", " << testing::PrintToString(facts) << ": " << said_;
    }
    (is_fact ? different_ : claimed_) += 1;
    forger_->start_over();
  }

  /// Expects that training again finds the change of a file; no column holds its content.
  void expect_different(const std::string& what) {
    forger_->save();
    EXPECT_EQ(open(forger_->evil()).refusal, "") << what << " was not a consistent forgery";
    EXPECT_EQ(verdict(), 3) << what << ": " << said_;
    forger_->start_over();
  }

  std::optional<Forger> forger_;
  Opened honest_;
  std::size_t different_ = 0, claimed_ = 0;
  mutable std::string said_;
};

TEST_F(ConsistentForger, SettingsAndSeedAreFoundByTrainingAgain) {
  const std::vector<std::pair<std::string, std::function<void(record::Specification&)>>> changes = {
      {"dropout", [](record::Specification& one) { one.config["model"]["dropout"] = 0.5; }},
      {"type of attention",
       [](record::Specification& one) {
         one.config["model"]["layer"]["attention"] = {{"type", "rotary_attention"}, {"heads", 2}};
       }},
      {"learning rate", [](record::Specification& one) { one.config["optimizer"]["learning_rate"] = 0.02; }},
      {"seed", [](record::Specification& one) { one.seed = 7; }},
      {"other data", [](record::Specification& one) { std::swap(one.data["dev"], one.data["test"]); }}};
  for (const auto& [what, change] : changes) {
    forger_->make_consistent(change);
    expect_different_or_claimed(what);
  }
  EXPECT_EQ(different_, changes.size());
}

TEST_F(ConsistentForger, ChangesOfTheWorkersReportsAreFoundOrClaims) {
  std::map<std::string, std::set<std::string>> members;
  forger_->change_spool([&](record::SpoolRecord& record) {
    if (record.kind != record::SpoolKind::event) return;
    const json event = json::parse(record.text);
    for (const auto& [name, value] : event.items())
      if (name != "type" && !value.is_null()) members[event.at("type").get<std::string>()].insert(name);
  });
  forger_->start_over();
  // Points and digests have tables of their own; progress is the content of a live line.
  for (const char* type : {"measured"}) members.erase(type);
  for (const auto& [type, names] : members)
    for (const std::string& name : names) {
      if (name == "path" || name == "kind" || (type == "checkpoint" && name == "step")) continue;  // files
      if (type == "finished" && name != "reason" && name != "time") continue;  // contradicts state or points
      forger_->change_event(type, [&](json& event) {
        json& value = event[name];
        if (value.is_number_float())
          value = value.get<double>() + 0.25;
        else if (value.is_number())
          value = value.get<std::int64_t>() + 1;
        else if (value.is_string())
          value = value.get<std::string>() + (name == "sha256" ? "" : "x");
        else if (value.is_array() && !value.empty())
          value.erase(0);
        else if (value.is_object() && !value.empty()) {
          json& first = *value.begin();
          first = first.is_number() ? json(first.get<double>() + 1) : first;
          if (!first.is_number()) value["forged"] = 1;
        }
      });
      forger_->make_consistent();
      forger_->save();
      const Opened opened = open(forger_->evil());
      if (!opened.refusal.empty()) {
        forger_->start_over();
        continue;
      }
      if (opened.changed("trained", honest_).empty() && opened.changed("claimed", honest_).empty()) {
        forger_->start_over();
        continue;
      }
      expect_different_or_claimed(type + "." + name);
    }
  EXPECT_GT(different_, 6U);
  EXPECT_GT(claimed_, 6U);
}

TEST_F(ConsistentForger, ValuesAndMeaningsOfMetricsAreFoundButForThoseOfTheClock) {
  const std::set<std::string> of_clock = {"train/tokens_per_second", "train/step_seconds"};
  for (const std::string metric : {"train/loss", "train/learning_rate", "train/gradient_norm", "dev/f1",
                                   "dev/loss", "test/f1", "test/token_accuracy", "train/step_seconds"}) {
    std::uint32_t number = 0;
    bool done = false;
    forger_->change_spool([&](record::SpoolRecord& record) {
      if (record.kind == record::SpoolKind::metric && record.name == metric) number = record.metric;
      if (record.kind != record::SpoolKind::point || record.metric != number || number == 0 || done) return;
      record.value += 0.25;
      done = true;
    });
    ASSERT_TRUE(done) << metric;
    forger_->make_consistent();
    const std::size_t before = claimed_;
    expect_different_or_claimed(metric);
    EXPECT_EQ(claimed_ > before, of_clock.contains(metric)) << metric;
  }
  for (const char* member : {"title", "better", "reducer"}) {
    forger_->change_spool([&](record::SpoolRecord& record) {
      if (record.kind != record::SpoolKind::metric || record.name != "test/f1") return;
      json meaning = json::parse(record.meaning);
      meaning[member] = std::string(member) == "better"    ? "lower"
                        : std::string(member) == "reducer" ? "ratio"
                                                           : "accuracy";
      if (std::string(member) == "reducer") meaning["columns"] = {"correct", "truth"};
      record.meaning = meaning.dump();
    });
    forger_->make_consistent();
    expect_different_or_claimed(std::string("the meaning of test/f1: ") + member);
  }
}

/// Whether a checkpoint was the best or the last is not part of what training again compares.
TEST_F(ConsistentForger, TheKindOfACheckpointIsAClaim) {
  forger_->change_event("checkpoint",
                        [](json& event) { event["kind"] = event.at("kind") == "best" ? "last" : "best"; });
  forger_->make_consistent();
  forger_->save();
  const Opened opened = open(forger_->evil());
  ASSERT_EQ(opened.refusal, "");
  EXPECT_TRUE(std::ranges::count(opened.changed("claimed", honest_), "claimed checkpoint.kind")) << "printed";
  EXPECT_EQ(opened.changed("recomputed", honest_), std::vector<std::string>());
}

TEST_F(ConsistentForger, FilesAreFoundByTrainingAgain) {
  const auto changed = [&](const std::string& name, const std::string& from, const std::string& to) {
    std::string& content = forger_->archive().content(name);
    const std::size_t at = content.find(from);
    ASSERT_NE(at, std::string::npos) << name;
    content.replace(at, from.size(), to);
  };
  changed("predictions/test.jsonl", "{", " {");
  forger_->sign("predictions/test.jsonl");
  forger_->make_consistent();
  expect_different_or_claimed("predictions");

  forger_->archive().content("weights.safetensors").back() ^= 1;  // the parameters of a back door
  forger_->sign("weights.safetensors");
  forger_->make_consistent();
  expect_different_or_claimed("weights");
}

/// Names of tokens and labels stand in no row. The file of weights says which belong to it.
TEST_F(ConsistentForger, TokensAndLabelsOfOtherParametersAreRefused) {
  for (const std::string name : {"vocab.txt", "labels.txt"}) {
    std::string& content = forger_->archive().content(name);
    content = content.substr(content.find('\n') + 1) + content.substr(0, content.find('\n') + 1);
    forger_->save();
    EXPECT_TRUE(contains(open(forger_->evil()).refusal, name + " is not the file that belongs to"))
        << open(forger_->evil()).refusal;
    forger_->start_over();
  }
}

TEST_F(ConsistentForger, TokensWithoutTheirParametersAreFoundByTrainingAgain) {
  output_of({"bundle", "tiny", "--data", "--weights", "none", "-o", "none.tar.zst"});
  Forger forger(sandbox_.folder(), "none.tar.zst");
  std::string& labels = forger.archive().content("labels.txt");
  labels += "I-FORGED\n";
  forger.save();
  EXPECT_EQ(open(forger.evil()).refusal, "");
  EXPECT_EQ(verdict(), 3) << said_;
  EXPECT_TRUE(contains(said_, "first in labels.txt")) << said_;
}

TEST_F(ConsistentForger, AnInventedVerificationAndACommitAreClaims) {
  forger_->change_rows(
      "INSERT INTO verification (run, time, outcome, details) SELECT number, 1.0, 'equal', '{}' FROM run; "
      "UPDATE code SET commit_hash = 'c0ffee'; UPDATE run SET name = 'rotary', note = 'signed'");
  expect_different_or_claimed("verification and commit");
  EXPECT_EQ(claimed_, 1U);
  forger_->change_rows(
      "INSERT INTO verification (run, time, outcome, details) SELECT number, 1.0, 'equal', '{}' FROM run");
  forger_->save();
  const std::string shown = output_of({"bundle", "show", "evil.tar.zst"});
  const std::size_t claims = shown.find("\nclaimed by the sender");
  ASSERT_NE(claims, std::string::npos) << shown;
  EXPECT_GT(shown.find("verified 1 time: equal"), claims) << shown;
  EXPECT_GT(shown.find("tiny"), claims) << "the name of a run is a claim: " << shown;
}

/// The written report has the checked facts; the packed report is only a file of the bundle.
TEST_F(ConsistentForger, TheReportIsWrittenFromCheckedRows) {
  forger_->archive().content("report.html") = "<script>alert('verified and signed')</script>";
  forger_->save();
  output_of({"bundle", "show", "evil.tar.zst", "--report", "checked.html"});
  const std::string report = sandbox_.read("checked.html");
  EXPECT_FALSE(contains(report, "verified and signed"));
  EXPECT_TRUE(contains(report, "tiny")) << report.substr(0, 400);
  output_of({"verify", "evil.tar.zst", "-q", "--report", "verified.html"});
  EXPECT_TRUE(contains(sandbox_.read("verified.html"), "tiny"));
}

}  // namespace
}  // namespace encore::system_test
