// SPDX-License-Identifier: BSD-3-Clause
// Tests reports (make_report(), report/report.hpp) of runs in which every name and string is hostile, in
// every format of document/: a database may come from anyone, so none of its strings may become a tag, a
// script, a command of a shell or markup.
#include <nlohmann/json.hpp>

#include "analysis/foreign_values.hpp"
#include "document/writers.hpp"
#include "support/places.hpp"
#include "unit/document/sample_document.hpp"
#include "unit/report/report_fixture.hpp"

namespace encore::testing {
namespace {

const std::string script = "<script>alert(1)</script>";
const std::string image = "`|\"'><img src=x onerror=alert(1)>";

class HostileReport : public ReportTest {
 protected:
  HostileReport() {
    for (const std::string& name : {"net" + script, "net" + image})
      for (const std::int64_t seed : {1, 2})
        tell({.name = name,
              .seed = seed,
              .measures = {{"test/f1", 0.5 + 0.01 * static_cast<double>(seed)}, {"test/f1/" + script, 0.5}},
              .device = "cpu " + script,
              .dropout = name.size() % 2 == 0 ? 0.1 : 0.3});
    tell({.name = "failed", .measures = nullptr, .state = store::RunState::failed, .reason = image});
    for (const char* sql :
         {"UPDATE run SET note = ?1", "UPDATE param SET value = ?1 WHERE key = 'task.type'",
          "UPDATE param SET at = ?1, source = 'file'", "UPDATE run_dataset SET path = ?1",
          "UPDATE host SET description = json_object('name', ?1, 'cpu', ?1)",
          "UPDATE build SET description = json_object('fingerprint', ?1, 'version', ?1)",
          "UPDATE OR REPLACE measure SET description = json_set(description, '$.unit', ?1, '$.title', ?1)",
          "UPDATE sweep SET file = ?1, content = ?1"})
      store::Statement(store().database(), sql).run(script + image);
  }
};

TEST_F(HostileReport, MarkdownHoldsNoTagsButItsOwn) {
  const document::Document document = report();
  EXPECT_TRUE(contains(text_of(document), script)) << "otherwise this test proves nothing";
  const document::Templates templates(ENCORE_SOURCE_DIR "/reports");
  EXPECT_EQ(samples::foreign_tag(document::markdown_files(document, templates, "x.md").front().bytes), "");
}

TEST_F(HostileReport, CommandsAreWordsOfAShellWhateverWasRecorded) {
  store().database().execute(
      "INSERT INTO source (commit_hash, diff, archive, sha256) VALUES ('main; touch x #', '', '', '');"
      "UPDATE build SET source = (SELECT number FROM source WHERE commit_hash LIKE 'main%');"
      "UPDATE sweep SET file = 'a $(touch x).toml'");
  const auto commands = [&] {
    std::string text;
    const document::Document document = report();
    for (const document::Block* block : blocks_of(document))
      if (const auto* listing = std::get_if<document::Listing>(block);
          listing != nullptr && listing->title == "Commands")
        text += listing->text;
    return text;
  };
  const std::string hostile = commands();
  EXPECT_FALSE(contains(hostile, "git checkout")) << "it is not a commit: " << hostile;
  EXPECT_TRUE(contains(hostile, "exp run 'a $(touch x).toml' ")) << hostile;
  EXPECT_FALSE(contains(hostile, "exp verify net<")) << hostile;
  const std::string commit(40, 'a');
  store::Statement(store().database(), "UPDATE source SET commit_hash = ?").run(commit);
  EXPECT_TRUE(contains(commands(), "git checkout " + commit + "  # in a clone of Encore\n"));
}

TEST_F(HostileReport, HtmlHoldsOneScriptAndItIsOurs) {
  const std::string html =
      document::html_files(report(), document::Templates(ENCORE_SOURCE_DIR "/reports"), "x.html")
          .front()
          .bytes;
  const std::size_t first = html.find("<script");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(html.find("<script", first + 1), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
}

TEST_F(HostileReport, PicturesHoldNoTagsOfNames) {
  const auto files =
      document::markdown_files(report(), document::Templates(ENCORE_SOURCE_DIR "/reports"), "x.md");
  ASSERT_GT(files.size(), 1u);
  for (const document::OutputFile& file : files) {
    if (file.path.extension() != ".svg") continue;
    EXPECT_TRUE(!contains(file.bytes, "<script") && !contains(file.bytes, "<img")) << file.path;
  }
}

TEST_F(HostileReport, AValueOfAnotherShapeIsLeftOutOrAMessage) {
  for (const char* change : {"run SET result = '{\"best_step\": {}, \"measures\": 1}'",
                             "attempt SET environment = '{\"plugins\": 3, \"numeric_environment\": [1]}'",
                             "host SET description = '{\"cpus\": [], \"name\": {}, \"memory\": \"x\"}'",
                             "build SET description = '{\"version\": {}, \"fingerprint\": 1}'"}) {
    store().database().execute(std::string("UPDATE ") + change);
    try {
      report();
    } catch (const Error& error) {
      EXPECT_TRUE(contains(error.what(), "encore.db holds a value that Encore did not write: "))
          << error.what();
    }
  }
  const std::string message = message_of<Error>(
      [&] { analysis::reading_values_of(store(), [] { return nlohmann::json(1).at("measures").size(); }); });
  EXPECT_TRUE(contains(message, "encore.db holds a value that Encore did not write: ")) << message;
}

TEST_F(HostileReport, JsonIsJson) {
  EXPECT_FALSE(nlohmann::json::parse(text_of(report()), nullptr, false).is_discarded());
}

}  // namespace
}  // namespace encore::testing
