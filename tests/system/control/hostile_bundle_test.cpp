// SPDX-License-Identifier: BSD-3-Clause
// Tests bundles that were made to do harm (archive/unpack_bundle.hpp, bundle/check_bundle.hpp): each is
// rejected with its reason, nothing is written outside of the folder in which it was unpacked, and that
// folder is removed. A new way to do harm is a new test here; a test is never removed.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include <sqlite3.h>

#include "store/database.hpp"
#include "support/places.hpp"
#include "system/control/archive.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One valid bundle of a run "tiny" with its data, which every test changes in its own way.
class HostileBundle : public ::testing::Test {
 protected:
  void SetUp() override {
    sandbox_.set("FAKE_STEP_MS", "0");
    sandbox_.set("FAKE_WEIGHTS", "1");
    sandbox_.set("TMPDIR", (sandbox_.folder() / "aside").string());
    fs::create_directory(sandbox_.folder() / "aside");
    ASSERT_EQ(sandbox_.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0);
    ASSERT_EQ(sandbox_.exp({"bundle", "tiny", "--data", "-o", "honest.tar.zst"}).end.exit_code, 0);
    run_ = sandbox_.one("SELECT id FROM run");
    archive_ = Archive::load(sandbox_.folder() / "honest.tar.zst");
    for (const char* name : {"encore.db", "encore.db-wal", "encore.db-shm"})
      fs::remove(sandbox_.folder() / name);
    fs::remove_all(sandbox_.folder() / "encore.db.runs");
    ASSERT_EQ(sandbox_.exp({"bundle", "show", "honest.tar.zst"}).end.exit_code, 0);
    before_ = files();
  }
  std::string files() const {
    std::string names;
    for (const auto& entry : fs::recursive_directory_iterator(sandbox_.folder()))
      if (const std::string name = fs::relative(entry.path(), sandbox_.folder()).string();
          !name.ends_with(".tar.zst") && !name.starts_with("cache"))
        names += name + "\n";
    return names;
  }
  void expect_refused(const std::string& reason) const {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"bundle", "show", "evil.tar.zst"}, {"verify", "evil.tar.zst", "-q"}}) {
      const runner::ProgramOutput output = sandbox_.exp(command);
      EXPECT_EQ(output.end.exit_code, 2) << command.front() << output.output << output.errors;
      EXPECT_TRUE(output.errors.starts_with("exp: evil.tar.zst")) << output.errors;
      EXPECT_TRUE(contains(output.errors, reason)) << "wanted: " << reason << "\ngot: " << output.errors;
      EXPECT_FALSE(contains(output.errors, "/aside/"))
          << "the message names a temporary folder: " << output.errors;
      EXPECT_EQ(output.output, "");
      EXPECT_EQ(files(), before_);
    }
  }
  /// Writes the archive in its present state and expects that it is refused with this reason.
  void expect_archive_refused(const std::string& reason) const {
    archive_.save(evil());
    expect_refused(reason);
  }
  /// Adds this block after the files and expects that the archive is refused with this reason.
  void expect_head_refused(const std::string& head, const std::string& reason) {
    archive_.more = head;
    expect_archive_refused(reason);
  }
  void expect_metadata_refused(const std::string& text, const std::string& reason) const {
    Archive::compress(archive_.tar(text), evil());
    expect_refused(reason);
  }
  /// Runs these statements on the database and updates the list of files.
  void change_rows(const std::string& sql) {
    sandbox_.write("encore.db", archive_.content("encore.db"));
    sandbox_.change(sql);
    archive_.content("encore.db") = bytes_of(sandbox_.folder() / "encore.db");
    fs::remove(sandbox_.folder() / "encore.db");
    archive_.list_again();
  }
  fs::path evil() const { return sandbox_.folder() / "evil.tar.zst"; }

  Sandbox sandbox_;
  std::string run_;
  Archive archive_;
  std::string before_;
};

// --- names and kinds of entries ---

TEST_F(HostileBundle, NamesThatLeadOut) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"/etc/cron.d/evil", "\"/etc/cron.d/evil\" is absolute; nothing of that name is written"},
      {"../evil", "\"../evil\" leads out of its folder"},
      {"encore-bundle/../../evil", "leads out of its folder"},
      {"encore-bundle/..", "leads out of its folder"},
      {"encore-bundle//evil", "has an empty part"},
      {"encore-bundle/./evil", "has an empty part"},
      {"encore-bundle/a/b/c/d/e/f/g/h/i", "lies too deep in folders"},
      {"encore-bundle/new\nline", "\"encore-bundle/new\\nline\" holds other letters"},
      {"encore-bundle/\x1b[2J", "\\u001b[2J\" holds other letters"},
      {"encore-bundle/~root", "holds other letters"},
      {"encore-bundle/a\\b", "holds other letters"},
      {"", "\"\" is empty"},
      {std::string("encore-bundle/encore.db\0.txt", 28), "a file name holds a NUL"}};
  for (const auto& [name, reason] : names) expect_head_refused(Archive::head(name, '0'), reason);
}

TEST_F(HostileBundle, AnEntryThatIsNotAPlainFile) {
  const std::vector<std::pair<char, std::string>> kinds = {{'1', "is a hard link"},
                                                           {'2', "is a symbolic link"},
                                                           {'3', "is a device"},
                                                           {'4', "is a device"},
                                                           {'5', "is a folder"},
                                                           {'6', "is a named pipe"},
                                                           {'S', "is of a kind that is not known"}};
  for (const auto& [type, reason] : kinds)
    expect_head_refused(Archive::head("encore-bundle/evil", type, 0, "/etc/passwd"),
                        reason + std::string(type == 'S' ? "" : "; a bundle holds plain files alone"));
}

TEST_F(HostileBundle, AHeaderThatHidesAName) {
  const std::string name(10000, 'a');
  for (const char type : {'x', 'g', 'L', 'K'})
    expect_head_refused(Archive::entry(Archive::head("encore-bundle/long", type, name.size()), name),
                        "is an extended header, which may hide a name");
}

TEST_F(HostileBundle, DamagedHeads) {
  std::string head = Archive::head("encore-bundle/evil", '0');
  head[0] = 'E';
  expect_head_refused(head, "is damaged: the head of an entry does not have its checksum");
  head = Archive::head("encore-bundle/evil", '0');
  head.replace(124, 12, "99999999999 ");
  expect_head_refused(Archive::summed(head), "has no size that can be read");
  head.replace(124, 12, std::string(12, '\xff'));
  expect_head_refused(Archive::summed(head), "has no size that can be read");
  head = Archive::head("encore-bundle/evil", '0');
  head.replace(257, 8, "ustar  ");
  expect_head_refused(Archive::summed(head), "is not written in the ustar form");
}

// --- an archive against its list ---

TEST_F(HostileBundle, FilesThatAreNotListed) {
  archive_.files.emplace_back("encore.db.runs/0123456789/evil", "evil");
  expect_archive_refused("holds encore-bundle/encore.db.runs/0123456789/evil, which its list does not have");
}

TEST_F(HostileBundle, TheSameNameTwice) {
  archive_.files.insert(archive_.files.begin(), archive_.files.front());
  expect_archive_refused("evil.tar.zst holds encore-bundle/" + archive_.files.front().first +
                         " where its list has");
}

TEST_F(HostileBundle, TheSameNameTwiceInItsList) {
  archive_.root().at("hasPart").push_back({{"@id", "encore.db"}});
  expect_archive_refused("lists \"encore.db\" twice");
}

TEST_F(HostileBundle, OneFileWithTwoDescriptions) {
  archive_.metadata.at("@graph").push_back(archive_.entity("encore.db"));
  expect_archive_refused("describes \"encore.db\" twice");
}

TEST_F(HostileBundle, AFileThatIsListedOnly) {
  archive_.files.pop_back();
  expect_archive_refused("report.html is listed, but not there");
}

TEST_F(HostileBundle, ASizeThatIsNotListed) {
  archive_.content("report.html") += "more";
  expect_archive_refused("and its list says");
}

TEST_F(HostileBundle, SwappedDigests) {
  std::swap(archive_.entity("specification.json")["sha256"], archive_.entity("attempt-0001.spool")["sha256"]);
  expect_archive_refused("is not the file that its list names: it has another SHA-256");
}

TEST_F(HostileBundle, ListedNamesThatLeadOut) {
  for (const auto& [name, reason] : std::vector<std::pair<std::string, std::string>>{
           {"../evil", "which leads out of its folder"},
           {"/evil", "which has an empty part"},
           {"evil", "and a bundle has no file of that name"},
           {"encore.db-wal", "and a bundle has no file of that name"},
           {"encore.db-journal", "and a bundle has no file of that name"},
           {"second.db", "and a bundle has no file of that name"},
           {"encore.db.runs/verify-evil/x", "and a bundle has no file of that name"},
           {"data/evil/x", "and a bundle has no file of that name"}}) {
    Archive changed = archive_;
    changed.metadata.at("@graph").push_back(
        {{"@id", name}, {"contentSize", "4"}, {"sha256", sha256("evil")}});
    changed.root().at("hasPart").push_back({{"@id", name}});
    Archive::compress(archive_.tar(changed.metadata.dump()), evil());
    expect_refused(reason);
  }
}

// --- bombs and cuts ---

TEST_F(HostileBundle, ABombOfZeros) {
  archive_.entity("report.html")["contentSize"] = "100000000000000";
  expect_archive_refused(": no bundle packs so well, so it is made to fill the disk");
}

TEST_F(HostileBundle, ABombOfManyFiles) {
  Json parts = Json::array();
  for (int i = 0; i < 200001; ++i) parts.push_back({{"@id", "encore.db"}});
  archive_.root()["hasPart"] = parts;
  expect_archive_refused("lists more than 100000 files");
}

TEST_F(HostileBundle, ABombInItsList) {
  expect_metadata_refused(std::string(std::size_t{65} << 20, ' '), "ro-crate-metadata.json is larger than ");
}

TEST_F(HostileBundle, AFrameThatAsksForTwoGibibytes) {
  // Magic, no flags, a window of 2^31 bytes, one block of a repeated byte that is the last.
  std::ofstream(evil(), std::ios::binary) << std::string("\x28\xb5\x2f\xfd\x00\xa8\x03\x02\x00\x00", 10);
  expect_refused("is damaged: Frame requires too much memory for decoding");
}

TEST_F(HostileBundle, CutAnywhere) {
  const std::string whole = bytes_of(sandbox_.folder() / "honest.tar.zst");
  for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{10}}) {
    std::ofstream(evil(), std::ios::binary) << whole.substr(0, size);
    expect_refused("is cut off: it ends within its compressed content");
  }
  const std::string tar = archive_.tar();
  Archive::compress(tar.substr(0, tar.size() / 2), evil());
  expect_refused("is cut off: its archive has no end");
  archive_.ends = false;
  expect_archive_refused("is cut off: its archive has no end");
}

TEST_F(HostileBundle, MoreBehindItsEnd) {
  Archive::compress(archive_.tar() + "evil", evil());
  expect_refused("has content behind the end of its archive");
  archive_.save(evil());
  std::ofstream(evil(), std::ios::binary | std::ios::app) << "evil";
  expect_refused("has bytes behind its compressed content");
  Archive::compress(archive_.tar() + archive_.tar(), evil());
  expect_refused("has content behind the end of its archive");
}

TEST_F(HostileBundle, AFileThatIsNotABundle) {
  std::ofstream(evil(), std::ios::binary) << "PK\x03\x04";
  expect_refused("is not a bundle: it is not compressed by zstd");
  std::ofstream(evil(), std::ios::binary | std::ios::trunc) << "";
  expect_refused("is not a bundle: it is not compressed by zstd");
  Archive::compress("no archive", evil());
  expect_refused("is cut off: its archive has no end");
  Archive::compress(Archive::entry(archive::tar_head({"evil", 4}), "evil") + archive::tar_end(), evil());
  expect_refused("is not a bundle: its first file is not encore-bundle/ro-crate-metadata.json");
  std::string damaged = bytes_of(sandbox_.folder() / "honest.tar.zst");
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  std::ofstream(evil(), std::ios::binary | std::ios::trunc) << damaged;
  expect_refused("evil.tar.zst");
}

// --- metadata ---

TEST_F(HostileBundle, InvalidMetadata) {
  expect_metadata_refused("{\"@graph\": [", "ro-crate-metadata.json, line 1, column 13: no JSON");
  expect_metadata_refused(std::string(200, '[') + std::string(200, ']'), "nested more than 100 levels deep");
  expect_metadata_refused("[]", "has no list @graph, so it is not an RO-Crate");
  expect_metadata_refused("{\"@graph\": [7]}", "has an entity without @id");
  expect_metadata_refused("{\"@graph\": []}", "does not describe \"./\"");
}

TEST_F(HostileBundle, AnotherVersion) {
  archive_.root()["schemaVersion"] = "encore-bundle-2";
  expect_archive_refused("is of the version \"encore-bundle-2\", and this Encore reads encore-bundle-1");
  archive_.root().erase("schemaVersion");
  expect_archive_refused("does not say that it is a bundle of Encore");
}

TEST_F(HostileBundle, InvalidSizesAndDigests) {
  for (const Json& size : {Json("-1"), Json("1e9"), Json(""), Json(7), Json("99999999999999999999")}) {
    archive_.entity("report.html")["contentSize"] = size;
    expect_archive_refused("lists \"report.html\" without a size in bytes");
  }
  for (const Json& digest : {Json("abc"), Json(std::string(64, 'G')), Json()}) {
    archive_.entity("report.html")["sha256"] = digest;
    expect_archive_refused("lists \"report.html\" without a SHA-256");
  }
}

// --- the database ---

TEST_F(HostileBundle, AChangedRow) {
  change_rows(
      "UPDATE point SET value = 0.99 WHERE metric = (SELECT number FROM metric WHERE name = 'test/f1')");
  expect_archive_refused("run tiny, attempt 1: a point is not what its spool says (step 20, test/f1 0.98");
}

TEST_F(HostileBundle, AChangedDigest) {
  change_rows("UPDATE digest SET value = 'ffff' WHERE step = 20 AND scope = 'parameters'");
  expect_archive_refused(
      "run tiny, attempt 1: a digest is not what its spool says (step 20, parameters ffff)");
}

TEST_F(HostileBundle, ARowThatIsGone) {
  change_rows("DELETE FROM point WHERE step = 10");
  expect_archive_refused("a point of its spool is not in the database (step 10");
}

TEST_F(HostileBundle, AChangedResult) {
  change_rows("UPDATE run SET result = json_set(result, '$.measures.\"test/f1\"', 0.99)");
  expect_archive_refused("run tiny: its result is not what its spools say");
}

TEST_F(HostileBundle, AnotherEnvironment) {
  change_rows("UPDATE attempt SET environment = json_set(environment, '$.device', 'faster')");
  expect_archive_refused("run tiny, attempt 1: an environment is not what its spool says");
}

TEST_F(HostileBundle, ReportsThatADamagedSpoolProvesNothing) {
  std::string& spool = archive_.content("attempt-0001.spool");
  spool[spool.size() / 2] = static_cast<char>(spool[spool.size() / 2] ^ 1);
  archive_.list_again();
  archive_.save(evil());
  const runner::ProgramOutput shown = sandbox_.exp({"bundle", "show", "evil.tar.zst"});
  EXPECT_TRUE(
      contains(shown.output, "but the rows of attempt 1 of run tiny are not proved: a spool is damaged"))
      << shown.output << shown.errors;
  archive_.content("attempt-0001.spool") = "";
  archive_.list_again();
  expect_archive_refused("run tiny, attempt 1: a digest is not what its spool says");
}

TEST_F(HostileBundle, AClaimThatTheSpoolIsDamaged) {
  change_rows("UPDATE point SET value = 0.99; UPDATE attempt SET spool_problem = 'attempt-0001.spool: torn'");
  expect_archive_refused("run tiny, attempt 1: a point is not what its spool says");
}

TEST_F(HostileBundle, WeightsThatAreNotTheirDigest) {
  archive_.content("weights.safetensors").back() ^= 1;
  archive_.list_again();
  expect_archive_refused("weights.safetensors is not the file that was recorded as weights");
}

TEST_F(HostileBundle, OtherSchemas) {
  const std::string database = archive_.content("encore.db");
  change_rows("PRAGMA user_version = 99");
  expect_archive_refused("evil.tar.zst: database encore.db was made by a newer Encore (version 99, ");
  archive_.content("encore.db") = database;
  change_rows("PRAGMA user_version = 3");
  expect_archive_refused("evil.tar.zst: its database, of version 3, cannot be brought to version 10: ");
  archive_.content("encore.db") = database;
  change_rows("PRAGMA application_id = 7");
  expect_archive_refused("encore.db is the database of another program");
}

/// The rows of the archive's database in the schema of version 9, as that version packed them.
std::string rows_of_version_9(const fs::path& database, const fs::path& scratch) {
  {
    store::Database old(scratch, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
    old.execute(bytes_of(std::string(ENCORE_SOURCE_DIR) + "/tests/unit/store/schema_9.sql"));
    store::Statement(old, "ATTACH ? AS newer").run(database.string());
    std::vector<std::string> tables;
    store::Statement names(old, "SELECT name FROM main.sqlite_schema WHERE type = 'table'");
    while (names.step()) tables.push_back(names.text(0));
    for (const std::string& table : tables) {
      const std::string columns =
          old.text("SELECT group_concat('\"' || name || '\"') FROM pragma_table_info('" + table +
                   "', 'main')")
              .value();
      old.execute("INSERT INTO main." + table + " (" + columns + ") SELECT " + columns + " FROM newer." +
                  table);
    }
  }
  std::string bytes = bytes_of(scratch);
  fs::remove(scratch);
  return bytes;
}

TEST_F(HostileBundle, OneOfAnEarlierVersionOpensWithTheSameMeaning) {
  sandbox_.write("encore.db", archive_.content("encore.db"));
  archive_.content("encore.db") =
      rows_of_version_9(sandbox_.folder() / "encore.db", sandbox_.folder() / "older.db");
  fs::remove(sandbox_.folder() / "encore.db");
  archive_.list_again();
  archive_.save(evil());
  const runner::ProgramOutput shown = sandbox_.exp({"bundle", "show", "evil.tar.zst", "--json"});
  EXPECT_EQ(shown.end.exit_code, 0) << shown.errors;
  const runner::ProgramOutput before = sandbox_.exp({"bundle", "show", "honest.tar.zst", "--json"});
  nlohmann::json told = nlohmann::json::parse(shown.output), honest = nlohmann::json::parse(before.output);
  for (nlohmann::json* one : {&told, &honest}) {
    for (const char* name : {"file", "bytes"}) one->erase(name);
    one->at("recomputed").erase("files");
  }
  EXPECT_EQ(told, honest);
  EXPECT_EQ(sandbox_.exp({"verify", "evil.tar.zst", "-q"}).end.exit_code, 0);
  EXPECT_EQ(sandbox_.exp({"db", "merge", "evil.tar.zst"}).end.exit_code, 0);
  EXPECT_EQ(sandbox_.one("SELECT kind || ' ' || name || ' ' || length(sha256) FROM origin"),
            "bundle evil.tar.zst 64");
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run WHERE origin = 1"), "1");
  EXPECT_EQ(sandbox_.exp({"db", "check"}).end.exit_code, 0)
      << "files that a bundle leaves out are not missing";
}

TEST_F(HostileBundle, InvalidDatabases) {
  archive_.content("encore.db") = "no database";
  archive_.list_again();
  expect_archive_refused("encore.db is not a database");
  archive_.content("encore.db") = "";
  archive_.list_again();
  expect_archive_refused("database encore.db is empty; exp run fills it");
}

TEST_F(HostileBundle, ADamagedDatabase) {
  std::string& database = archive_.content("encore.db");
  for (std::size_t page = 8192; page + 4096 < database.size(); page += 4096)
    database.replace(page, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
  archive_.list_again();
  expect_archive_refused("damaged");
}

/// Makes all pages below the first inner page of a table the same page, so that its rows are read once for
/// each.
std::string with_one_page_many_times(std::string database) {
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value = value << 8 | static_cast<unsigned char>(database.at(at + i));
    return value;
  };
  const std::size_t page_size = number(16, 2);
  constexpr unsigned char inner_page_of_rows = 5;
  for (std::size_t page = page_size; page < database.size(); page += page_size) {
    if (static_cast<unsigned char>(database[page]) != inner_page_of_rows) continue;
    const std::string child = database.substr(page + 8, 4);  // the one on the right
    for (std::size_t cell = 0; cell < number(page + 3, 2); ++cell)
      database.replace(page + number(page + 12 + 2 * cell, 2), 4, child);
    return database;
  }
  ADD_FAILURE() << "no table has more than one page";
  return database;
}

TEST_F(HostileBundle, PagesThatLeadToTheSameOne) {
  change_rows(
      "INSERT INTO metric (name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
      "2000) "
      "SELECT 'dev/invented_' || i FROM n");
  const std::string current = archive_.content("encore.db");
  archive_.content("encore.db") = with_one_page_many_times(current);
  archive_.list_again();
  expect_archive_refused("damaged");
  sandbox_.write("encore.db", current);
  const std::string earlier =
      rows_of_version_9(sandbox_.folder() / "encore.db", sandbox_.folder() / "older.db");
  fs::remove(sandbox_.folder() / "encore.db");
  archive_.content("encore.db") = with_one_page_many_times(earlier);
  archive_.list_again();
  expect_archive_refused("its database, of version 9, cannot be brought to version 10: it is damaged: ");
}

TEST_F(HostileBundle, ATrigger) {
  change_rows("CREATE TRIGGER evil AFTER INSERT ON verification BEGIN DELETE FROM run; END");
  expect_archive_refused("database encore.db has a trigger \"evil\" on \"verification\"");
}

TEST_F(HostileBundle, ASchemaOfItsOwn) {
  const std::string database = archive_.content("encore.db");
  change_rows("DROP VIEW current_digest; CREATE VIEW current_digest AS SELECT * FROM digest WHERE step = 0");
  expect_archive_refused("database encore.db has another view \"current_digest\" than Encore makes");
  archive_.content("encore.db") = database;
  change_rows(
      "CREATE VIEW evil AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n");
  expect_archive_refused("its database has the view \"evil\", which Encore does not make");
  archive_.content("encore.db") = database;
  change_rows("DROP INDEX run_by_group");
  expect_archive_refused("its database lacks the index \"run_by_group\"");
}

TEST_F(HostileBundle, ANameThatMovesTheCursor) {
  change_rows("UPDATE run SET name = 'tiny' || char(27) || '[2J'");
  expect_archive_refused("a run with the name \"tiny\\u001b[2J\", which holds control characters");
}

TEST_F(HostileBundle, AnInvalidId) {
  change_rows("UPDATE run SET id = '../../evil'");
  expect_archive_refused("its database holds a run with the id \"../../evil\": expected ten digits");
}

TEST_F(HostileBundle, ARunWithoutItsFolderAndAFolderWithoutItsRun) {
  change_rows("UPDATE run SET id = '0123456789'");
  expect_archive_refused("run tiny has no specification.json in it");
  archive_ = Archive::load(sandbox_.folder() / "honest.tar.zst");
  archive_.add("encore.db.runs/0123456789/specification.json", "{}");
  expect_archive_refused("encore.db.runs/0123456789/specification.json belongs to no run of its database");
}

TEST_F(HostileBundle, ADatabaseWithoutARun) {
  change_rows("PRAGMA foreign_keys = ON; DELETE FROM run");
  expect_archive_refused("its database has no run");
}

TEST_F(HostileBundle, PathsInRowsThatLeadOut) {
  change_rows("UPDATE checkpoint SET path = '../../../evil'; UPDATE artifact SET path = '/etc/passwd'");
  expect_archive_refused("the file name \"../../../evil\" leads out of the folder encore.db.runs/" + run_);
}

// --- the specification ---

TEST_F(HostileBundle, TheSpecificationOfAnotherRun) {
  std::string& text = archive_.content("specification.json");
  Json specification = Json::parse(text);
  specification["question"] = std::string(64, '0');
  text = specification.dump();
  archive_.list_again();
  expect_archive_refused("specification.json is of another experiment than run tiny");
}

TEST_F(HostileBundle, AnInvalidSpecification) {
  archive_.content("specification.json") = "{";
  archive_.list_again();
  expect_archive_refused("specification.json:1: the file is damaged");
}

TEST_F(HostileBundle, ASpecificationOfOtherData) {
  std::string& text = archive_.content("specification.json");
  Json specification = Json::parse(text);
  specification["data"]["train"]["sha256"] = std::string(64, '0');
  text = specification.dump();
  archive_.list_again();
  expect_archive_refused("run tiny: its rows say SHA-256 of train ");
}

TEST_F(HostileBundle, PackedDataUnderAWrongDigest) {
  archive_.content("train.conll") = "Anna B-PER\n";
  archive_.list_again();
  archive_.save(evil());
  fs::remove(sandbox_.folder() / "train.conll");
  const runner::ProgramOutput output = sandbox_.exp({"verify", "evil.tar.zst", "-q"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(contains(output.errors, "train.conll does not have the SHA-256 of train of run tiny"))
      << output.errors;
  EXPECT_TRUE(fs::is_empty(sandbox_.folder() / "aside"));
}

TEST_F(HostileBundle, ASpecificationThatNamesPluginFolders) {
  // A folder with a plugin that would be found before those of the build.
  const fs::path built_in = fs::path(ENCORE_BUILD_DIR) / "lib/encore/plugins";
  fs::create_directory(sandbox_.folder() / "evil_plugins");
  for (const char* name : {"constant_schedule.json", "constant_schedule.so"})
    fs::copy_file(built_in / name, sandbox_.folder() / "evil_plugins" / name);
  std::string& text = archive_.content("specification.json");
  Json specification = Json::parse(text);
  specification["plugin_folders"] = {(sandbox_.folder() / "evil_plugins").string(), built_in.string()};
  text = specification.dump();
  archive_.list_again();
  archive_.save(evil());
  const runner::ProgramOutput kept = sandbox_.exp({"verify", "evil.tar.zst", "-q", "--keep"});
  EXPECT_EQ(kept.end.exit_code, 0) << kept.errors;
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(sandbox_.folder() / "aside"))
    if (entry.path().filename() == "specification.json" && contains(entry.path(), "/verify-")) {
      ++seen;
      EXPECT_FALSE(contains(bytes_of(entry.path()), "evil_plugins")) << "the worker would look there";
    }
  EXPECT_EQ(seen, 1u);
}

}  // namespace
}  // namespace encore::system_test
