// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp report` as a user calls it (cli/report_verb.cpp, report/report.hpp, framework/document): what it
// writes, that it writes the same bytes again, that names of a database are never markup, and what it
// rejects. Ids of tables and members of JSON must stay; words may change.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "support/places.hpp"
#include "system/control/pair.hpp"

namespace encore::system_test {
namespace {

/// A sweep of two dropouts with two seeds each.
class ReportVerb : public Pair {
 protected:
  static void SetUpTestSuite() { train("[1, 2]"); }
};

TEST_F(ReportVerb, WritesAFileOrToTheStandardOutputAndTheSameBytesAgain) {
  EXPECT_EQ(output_of({"report", "pair", "-o", "made/report.json"}),
            "Report of sweep pair (4 of 4 complete) written to made/report.json\n");
  const std::string file = sandbox_->read("made/report.json");
  EXPECT_EQ(output_of({"report", "pair", "--format", "json"}), file);
  EXPECT_EQ(output_of({"report", "--format", "json"}), output_of({"report", "all", "--format", "json"}));
  const nlohmann::json report = nlohmann::json::parse(file);
  EXPECT_EQ(report.at("title"), "Report of sweep pair");
  EXPECT_EQ(report.at("sections").at(0).at("id"), "results");
  EXPECT_TRUE(contains(file, "exp run pair.toml --backend openmp"));
  EXPECT_TRUE(contains(file, "model.dropout"));
}

TEST_F(ReportVerb, ReportsOneRunByAnotherMetricAndComparedWithOthers) {
  EXPECT_TRUE(contains(output_of({"report", "pair-dropout=0.1-s1", "--format", "json"}),
                       "\"title\": \"Report of run pair-dropout=0.1-s1\""));
  EXPECT_TRUE(contains(output_of({"report", "pair", "--metric", "dev/f1", "--format", "json"}),
                       "\"id\": \"results-dev-f1\""));
  const std::string against =
      output_of({"report", "pair-dropout=0.2", "--against", "pair-dropout=0.1", "--format", "json"});
  EXPECT_TRUE(contains(against, "\"id\": \"against-result\""));
  EXPECT_TRUE(contains(against, "pair-dropout=0.1 \xE2\x86\x92 pair-dropout=0.2")) << "arrow";
}

TEST_F(ReportVerb, WritesEveryFormatAndTheSameBytesAgain) {
  EXPECT_EQ(output_of({"report", "pair", "-o", "a/report.html"}),
            "Report of sweep pair (4 of 4 complete) written to a/report.html\n");
  const std::string html = sandbox_->read("a/report.html");
  EXPECT_TRUE(html.starts_with("<!doctype html>")) << html.substr(0, 80);
  for (const char* part : {"Content-Security-Policy", "<caption", "pair-dropout=0.1", "</html>"})
    EXPECT_TRUE(contains(html, part)) << part;
  EXPECT_TRUE(contains(output_of({"report", "pair", "-o", "a/report.md"}), "a/report.md, and "));
  EXPECT_TRUE(contains(sandbox_->read("a/report.md"), "](<report.files/architecture.svg>)"));
  EXPECT_TRUE(sandbox_->read("a/report.files/architecture.svg").starts_with("<svg"));
  output_of({"report", "pair", "-o", "a/report.tex"});
  EXPECT_TRUE(contains(sandbox_->read("a/report.tex"), "\\toprule"));
  EXPECT_TRUE(contains(output_of({"report", "pair", "-o", "a/tables.csv"}), "written to a/tables: "));
  EXPECT_TRUE(sandbox_->read("a/tables/results-test-f1.csv").starts_with("candidate,runs,n,mean (%),SD (%)"));
  EXPECT_EQ(output_of({"report", "pair", "--format", "csv", "--table", "results-test-f1"}),
            sandbox_->read("a/tables/results-test-f1.csv"));
  sandbox_->write("a/tables/old.csv", "");
  EXPECT_TRUE(contains(output_of({"report", "pair", "--format", "csv", "-o", "a/tables/"}),
                       "from an earlier report: old.csv\n"));
  EXPECT_TRUE(sandbox_->shell("mkdir b && cp -r a/* b").end.exit_code == 0);
  sandbox_->change("VACUUM");
  for (const char* name : {"report.html", "report.md", "report.tex", "tables.csv"})
    output_of({"report", "pair", "-o", std::string("a/") + name});
  const runner::ProgramOutput compared = sandbox_->shell("diff -r a b");
  EXPECT_EQ(compared.end.exit_code, 0) << compared.output.substr(0, 500);
}

TEST_F(ReportVerb, WritesTwoPagesOrTheSectionsThatAreNamed) {
  EXPECT_EQ(output_of({"report", "pair", "--brief", "-o", "brief/r.html"}),
            "Brief report of sweep pair (4 of 4 complete) written to brief/r.html\n");
  const nlohmann::json brief =
      nlohmann::json::parse(output_of({"report", "pair", "--brief", "--format", "json"}));
  ASSERT_EQ(brief.at("sections").size(), 2u);
  EXPECT_EQ(brief.at("sections").at(1).at("id"), "reproduction");
  const nlohmann::json chosen = nlohmann::json::parse(
      output_of({"report", "pair", "--sections", "curves, data", "--without", "data", "--format", "json"}));
  ASSERT_EQ(chosen.at("sections").size(), 1u);
  EXPECT_EQ(chosen.at("sections").at(0).at("id"), "curves");
  expect_refused({"report", "pair", "--sections", "curvs", "-o", "x.html"},
                 "a report has no section \"curvs\"; did you mean \"curves\"?");
  expect_refused({"report", "pair", "--sections", "", "-o", "x.html"}, "--sections is empty");
  expect_refused({"report", "pair", "--brief", "--sections", "curves", "-o", "x.html"},
                 "--brief and --sections exclude each other");
  expect_refused({"report", "pair", "--brief", "--against", "2026-01-01", "-o", "x.html"},
                 "--brief and --against exclude each other");
}

TEST(ReportVerbOfABase, AttachesWhatTheFileBuildsOnAndWhatTheCommandLineSet) {
  Sandbox sandbox;
  sandbox.write("near.toml", "base = \"tiny.toml\"\n# near\n");
  ASSERT_EQ(sandbox.exp({"run", "near.toml", "-S", "train.clip_norm=0.5"}).end.exit_code, 0);
  const std::string report = sandbox.exp({"report", "near", "--format", "json"}).output;
  EXPECT_TRUE(contains(report, "exp run near.toml --backend openmp -S train.clip_norm=0.5")) << report;
  EXPECT_TRUE(contains(report, "[optimizer]")) << "of the base";
  EXPECT_TRUE(contains(report, "# near"));
}

TEST(ReportVerbOfAFactorOnTheLoss, NamesItBesideThePrecision) {
  Sandbox sandbox;
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml", "-S", "train.loss_scale=1024"}).end.exit_code, 0);
  const std::string report = sandbox.exp({"report", "tiny", "--format", "json"}).output;
  EXPECT_TRUE(contains(report, "float32, the loss in backward passes times 1024 at first;")) << report;
}

TEST(ReportVerbOfPrivateData, TheFileDecidesAlsoForCompleteRuns) {
  Sandbox sandbox;
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  const auto facts = [&] {
    return nlohmann::json::parse(sandbox.exp({"report", "tiny", "--format", "json"}).output)
        .at("facts")
        .dump();
  };
  EXPECT_FALSE(contains(facts(), "private data"));
  const runner::ProgramOutput again = sandbox.exp({"run", "tiny.toml", "-S", "data.private=true"});
  EXPECT_EQ(again.end.exit_code, 0);
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run"), "1") << "no part of the identity: " << again.output;
  EXPECT_TRUE(contains(facts(), "examples (private data)"));
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  EXPECT_FALSE(contains(facts(), "private data")) << "the present content of the file";
}

TEST_F(ReportVerb, TakesTemplatesOfTheUser) {
  sandbox_->write("own.md", "from {{title}}\n{{header}}{{body}}");
  EXPECT_TRUE(output_of({"report", "pair", "--format", "md", "-o", "own/x.md", "--template", "own.md"})
                  .starts_with("Report of sweep pair"));
  EXPECT_TRUE(sandbox_->read("own/x.md").starts_with("from Report of sweep pair\n"));
  sandbox_->write("bad.md", "{{header}}\n{{bdy}}");
  expect_refused({"report", "pair", "-o", "x.md", "--template", "bad.md"},
                 "bad.md:2: unknown placeholder \"{{bdy}}\"; did you mean \"body\"?");
  sandbox_->write("short.md", "{{header}}");
  expect_refused({"report", "pair", "-o", "x.md", "--template", "short.md"},
                 "short.md: the placeholder \"{{body}}\" is missing");
  expect_refused({"report", "pair", "-o", "x.html", "--template", "own.md"},
                 "--template own.md does not fit html, which needs \"report.html\"");
  expect_refused({"report", "pair", "-o", "x.html", "--template", "gone"},
                 "--template names gone, which does not exist");
  expect_refused({"report", "pair", "-o", "own.md", "--template", "own.md"},
                 "-o own.md is the template itself");
  EXPECT_TRUE(sandbox_->read("own.md").starts_with("from {{title}}")) << "a rejected call writes nothing";
}

TEST_F(ReportVerb, RefusesPlacesThatCannotBeWritten) {
  sandbox_->write("file", "");
  expect_refused({"report", "pair", "-o", "file/x.html"}, "cannot make the folder");
  sandbox_->shell("mkdir folder.html");
  expect_refused({"report", "pair", "-o", "folder.html"},
                 "-o folder.html is a folder; name a file in it, such as folder.html/report.html");
  expect_refused({"report", "pair", "-o", "/dev/null/x.html"}, "/dev/null");
  expect_refused({"report", "pair", "--format", "md"}, "files; choose a folder with -o");
  expect_refused({"report", "pair", "--format", "csv"}, "or one table with --table");
  expect_refused({"report", "pair", "--format", "csv", "--table", "trial"}, "there is no table \"trial\"");
  expect_refused({"report", "pair", "-o", "x.html", "--table", "trials"}, "--table needs --format csv");
  expect_refused({"report", "all", "-o", "x.html", "--db", "none.db"}, "none.db");
}

TEST_F(ReportVerb, Refuses) {
  expect_refused({"report", "pair"}, "exp report needs -o with a file to write");
  expect_refused({"report", "pair", "-o", "report.txt"},
                 "the file name \"report.txt\" has no known extension");
  expect_refused({"report", "pair", "-o", "r.json", "--format", "jsno"}, "did you mean \"json\"?");
  expect_refused({"report", "pari", "-o", "r.json"}, "did you mean \"pair\"?");
  expect_refused({"report", "pair", "-o", "r.json", "--metric", "test/f2"}, "did you mean \"test/f1\"?");
  expect_refused({"report", "pair", "-o", "r.json", "--metric", ""}, "--metric is empty");
  expect_refused({"report", "pair", "-o", "r.json", "--template", "x"}, "--template cannot be used with");
  expect_refused({"report", "pair", "-o", "r.json", "--against", "2001-01-01"},
                 "none of these runs was finished before 2001-01-01 (UTC)");
}

// --- read by other programs: a parser of HTML, pdflatex ---

/// A parser that checks that elements nest, headings are in order, tables have headers, pictures have a text,
/// and no script is foreign.
void expect_sound_html(const Sandbox& sandbox, const std::string& file) {
  const runner::ProgramOutput said =
      sandbox.shell("python3 " ENCORE_SOURCE_DIR "/tests/unit/document/check_html.py " + file);
  EXPECT_EQ(said.end.exit_code, 0) << said.output << said.errors;
}

void expect_compiles(const Sandbox& sandbox, const std::string& file) {
  const runner::ProgramOutput said =
      sandbox.shell("pdflatex -interaction=nonstopmode -halt-on-error " + file + " | tail -n 30");
  EXPECT_TRUE(contains(said.output, "Output written on")) << said.output;
}

/// Removes the listings of Markdown, in which every character is literal.
std::string without_listings(const std::string& markdown) {
  std::istringstream in(markdown);
  std::string text, fence;
  for (std::string line; std::getline(in, line);) {
    const std::string ticks = line.substr(0, line.find_first_not_of('`'));
    if (fence.empty() && ticks.size() >= 3)
      fence = ticks;
    else if (!fence.empty() && line == fence)
      fence.clear();
    else if (fence.empty())
      text += line + "\n";
  }
  EXPECT_EQ(fence, "") << "a listing that does not end";
  return text;
}

/// Returns what is left without escaped characters and code between backticks.
std::string markup_of(const std::string& markdown) {
  std::string left;
  for (std::size_t at = 0; at < markdown.size();) {
    if (markdown[at] == '\\') {
      at += 2;
      continue;
    }
    const std::size_t run = std::min(markdown.find_first_not_of('`', at), markdown.size()) - at;
    std::size_t end = run == 0 ? std::string::npos : at + run;
    while (end < markdown.size()) {
      end = markdown.find('`', end);
      if (end == std::string::npos) break;
      const std::size_t closing = std::min(markdown.find_first_not_of('`', end), markdown.size()) - end;
      end += closing;
      if (closing == run) break;
    }
    if (end != std::string::npos)
      at = end;
    else
      left += markdown[at++];
  }
  return left;
}

/// Replaces every name in the database that a person or a plugin has given.
void rename_everything(const Sandbox& sandbox, const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? "''" : std::string(1, letter);
  quoted += "'";
  sandbox.change("UPDATE run SET name = " + quoted + " || number, note = " + quoted);
  sandbox.change("UPDATE run SET state = 'failed', result = NULL, reason = " + quoted +
                 " WHERE number = (SELECT max(number) FROM run)");
  sandbox.change("UPDATE sweep SET name = " + quoted + ", file = " + quoted + ", content = " + quoted);
  sandbox.change("UPDATE param SET value = " + quoted + " || (run % 3), type = 'text', at = " + quoted +
                 " WHERE key LIKE 'model.%'");
  sandbox.change("UPDATE run_dataset SET path = " + quoted);
  sandbox.change("UPDATE plugin SET version = " + quoted);
  sandbox.change("UPDATE code SET commit_hash = " + quoted + ", diff = " + quoted);
}

TEST(HostileReport, NothingOfANameIsMarkupInAnyFormat) {
  std::string longest;
  while (longest.size() < 10000) longest += "abcdefghijklmnopqrstuvwxyz";
  const std::vector<std::string> texts = {
      "</title></style><script>alert(1)</script>\"><img src=x onerror='alert(1)'>",
      "\\input{/etc/passwd} \\end{document} ^^5c $x_1^2$ & # % ~ {",
      "| a |\n| --- |\n# heading\n```\n[x](javascript:alert(1)) <b> *s* _e_ `c` {{body}}",
      "=HYPERLINK(\"http://evil\",\"x\"),\r\n+1",
      "\u202Egnp.exe \u05E9\u05DC\u05D5\u05DD \U0001F468\u200D\U0001F469\u200D\U0001F467 \u4E2D\u6587 "
      "e\u0301",
      longest};
  for (const std::string& text : texts) {
    SCOPED_TRACE(text.substr(0, 60));
    Sandbox sandbox;
    sandbox.write("pair.toml",
                  tiny_experiment("pair") + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2, 0.3]\n");
    ASSERT_EQ(sandbox.exp({"run", "pair.toml"}).end.exit_code, 0);
    rename_everything(sandbox, text);
    for (const char* file : {"r.html", "r.md", "r.tex", "r.csv", "r.json"}) {
      const runner::ProgramOutput output = sandbox.exp({"report", "all", "-o", file});
      EXPECT_EQ(output.end.exit_code, 0) << file << ": " << output.errors.substr(0, 500);
    }
    const std::string html = sandbox.read("r.html"),
                      markdown = markup_of(without_listings(sandbox.read("r.md")));
    EXPECT_FALSE(contains(html, "<img") || contains(html, "<script>alert"));
    EXPECT_FALSE(contains(markdown, "<script") || contains(markdown, "<img") ||
                 contains(markdown, "](javascript:"));
    EXPECT_FALSE(contains(sandbox.read("r.tex"), "\\input{/etc"));
    for (const char* format : {"html", "md", "tex"})
      EXPECT_FALSE(contains(sandbox.read(std::string("r.") + format), "\u202E")) << format;
    EXPECT_EQ(sandbox.shell("grep -l '^=\\|,=' r/*.csv").output, "") << "a formula";
    EXPECT_TRUE(nlohmann::json::accept(sandbox.read("r.json")));
    if (Sandbox::has("python3")) expect_sound_html(sandbox, "r.html");
    if (Sandbox::has("pdflatex")) expect_compiles(sandbox, "r.tex");
  }
  if (!Sandbox::has("python3") || !Sandbox::has("pdflatex"))
    GTEST_SKIP() << "without python3 or pdflatex not all was tested";
}

TEST_F(ReportVerb, WritesValidHtmlAndCompilesAsLatex) {
  if (!Sandbox::has("python3") || !Sandbox::has("pdflatex"))
    GTEST_SKIP() << "python3 or pdflatex is not installed";
  for (const char* file : {"c/r.html", "c/r.tex"})
    output_of({"report", "pair-dropout=0.2", "--against", "pair-dropout=0.1", "-o", file});
  expect_sound_html(*sandbox_, "c/r.html");
  expect_compiles(*sandbox_, "c/r.tex");
}

}  // namespace
}  // namespace encore::system_test
