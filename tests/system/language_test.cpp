// SPDX-License-Identifier: BSD-3-Clause
// Holds the language of docs/internals/style.md in sources, scripts and pages. The tree still owes thousands
// of corrections, so this is a ratchet: language_debt.txt says how many findings of each kind a place may
// have, and a number that is too high fails like one that is too low. Read next: language_rules.hpp,
// language_debt.hpp. Variables of the environment:
//
//   ENCORE_WRITE_LANGUAGE_DEBT=1          lowers the numbers to those of the tree
//
//   ENCORE_WRITE_LANGUAGE_DEBT=all        writes all numbers: after moving files, adding a rule, or a merge
//
//   ENCORE_LIST_LANGUAGE=framework/base   prints every finding of a place
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "support/places.hpp"
#include "system/language_debt.hpp"

namespace encore::testing {
namespace {

namespace files = std::filesystem;

const files::path tree = ENCORE_SOURCE_DIR;
const files::path debt_file = tree / "tests/system/language_debt.txt";

/// These explain the retired words, or hold them as data.
const std::set<std::string> exempt = {"docs/glossary.md", "docs/internals/style.md",
                                      "tests/system/language_rules.cpp", "tests/system/language_test.cpp"};

/// Written by programs from the literals of sources, where their words are counted.
bool is_generated(const std::string& file) {
  return file.starts_with("docs/reference/plugins/") || file.starts_with("docs/sample/");
}

/// Data of tests: the schemas that earlier versions wrote, and inputs that fuzzing has found.
bool is_data(const std::string& file) {
  return file.starts_with("tests/unit/store/schema_") || file.starts_with("tests/fuzz/findings/");
}

std::string text_of_file(const files::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// All files of the tree that may hold prose, relative to it and sorted; no build folder is below these.
std::vector<std::string> files_of_tree() {
  std::vector<std::string> all;
  for (const auto& entry : files::directory_iterator(tree))
    if (entry.is_regular_file()) all.push_back(entry.path().filename().string());
  for (const char* folder : {".ci", "cmake", "deploy", "docs", "experiments", "framework", "plugins",
                             "python", "reports", "tests"}) {
    if (!files::exists(tree / folder)) continue;
    for (const auto& entry : files::recursive_directory_iterator(tree / folder))
      if (entry.is_regular_file()) all.push_back(files::relative(entry.path(), tree).generic_string());
  }
  std::ranges::sort(all);
  return all;
}

/// Paths of the tree that a page or the comments of a script name and that do not exist. Comments of C++ are
/// held by Names.FilesThatCommentsNameAreThere.
std::vector<Finding> dead_files(const std::string& file, const std::string& content) {
  static const std::regex path(
      R"((^|[^\w./-])((?:framework|plugins|tests|docs|cmake|reports|deploy)/[\w./-]*[\w-]\.(?:hpp|cpp|py|sh|sql|cmake|md|toml|txt|html))(?![\w*{]))");
  std::vector<Finding> dead;
  const bool is_page = file.ends_with(".md");
  static const std::regex address(R"(\]\([^)\n]*\))");  // held by EveryPageIsLinkedFromTheIndex
  std::string text = std::regex_replace(content, address, "]");
  if (!is_page) {  // comments at their lines
    text.clear();
    for (const Passage& passage : prose_of(file, content)) {
      if (passage.kind != Passage::Kind::comment) continue;
      const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
      text += std::string(static_cast<std::size_t>(passage.line) -
                              std::min<std::size_t>(lines, static_cast<std::size_t>(passage.line)),
                          '\n') +
              passage.text;
    }
  }
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number)
    for (std::sregex_iterator at(line.begin(), line.end(), path), end; at != end; ++at)
      if (!files::exists(tree / (*at)[2].str()))
        dead.push_back({"dead file", number, (*at)[2], "name a file of the tree"});
  return dead;
}

std::vector<Finding> findings_of(const std::string& file, const std::string& content) {
  std::vector<Finding> findings = findings_in_prose(file, content);
  const auto add = [&](const std::vector<Finding>& more) {
    findings.insert(findings.end(), more.begin(), more.end());
  };
  if (file.ends_with(".md")) add(length_findings(content));
  const bool is_cpp = file.ends_with(".cpp") || file.ends_with(".hpp") || file.ends_with(".h");
  if (!is_cpp) add(dead_files(file, content));
  return findings;
}

/// Files that were changed last come first, so that a failure begins with the file that was edited last.
Findings findings_of_tree() {
  Findings all;
  std::vector<std::string> names = files_of_tree();
  std::ranges::stable_sort(names, std::ranges::greater(),
                           [](const std::string& file) { return files::last_write_time(tree / file); });
  for (const std::string& file : names) {
    if (is_generated(file) || is_data(file)) continue;
    const std::string content = text_of_file(tree / file);
    std::vector<Finding> findings;
    if (!exempt.contains(file))
      findings = findings_of(file, content);
    else if (file.ends_with(".md"))
      findings = length_findings(content);
    for (Finding& finding : findings) all[place_of(file)][finding.kind].push_back({file, std::move(finding)});
  }
  return all;
}

/// The targets of the links of a page, relative to the tree and without their anchors; none that leave it.
std::set<std::string> links_of(const std::string& page, const std::string& content) {
  static const std::regex link(R"(\]\(<?([^)#\s>]+)(#[^)\s>]*)?>?\))");
  std::set<std::string> targets;
  for (std::sregex_iterator at(content.begin(), content.end(), link), end; at != end; ++at) {
    const std::string target = (*at)[1];
    if (target.find("://") != std::string::npos || target.starts_with("mailto:")) continue;
    targets.insert((files::path(page).parent_path() / target).lexically_normal().generic_string());
  }
  return targets;
}

/// Whether a page only says where its content is now: it keeps an old address for links from outside.
bool is_stub(const std::string& content) {
  return content.starts_with("This page is now ") && content.find('\n') + 1 == content.size();
}

/// Pages below docs/ that docs/README.md does not link: itself, or through the README.md of their folder.
std::vector<std::string> unlinked_pages(const std::map<std::string, std::string>& pages) {
  const std::string index = "docs/README.md";
  std::set<std::string> linked = {index};
  if (pages.contains(index)) linked.merge(links_of(index, pages.at(index)));
  for (const std::string& page : std::set<std::string>(linked))
    if (page != index && page.ends_with("/README.md") && pages.contains(page))
      linked.merge(links_of(page, pages.at(page)));
  std::vector<std::string> missing;
  for (const auto& [page, content] : pages)
    if (page.starts_with("docs/") && !linked.contains(page) && !is_stub(content)) missing.push_back(page);
  return missing;
}

std::map<std::string, std::string> pages_of_tree() {
  std::map<std::string, std::string> pages;
  for (const std::string& file : files_of_tree())
    if (file.ends_with(".md") && (file.starts_with("docs/") || file.find('/') == std::string::npos))
      pages[file] = text_of_file(tree / file);
  return pages;
}

/// Returns kinds and lines of the findings in a made-up file: "tell 2". The line with the license is left out
/// of these files, and of what is found in them.
std::vector<std::string> found_in(const std::string& file, const std::string& content) {
  std::vector<std::string> found;
  for (const Finding& finding : findings_of(file, content))
    if (finding.kind != "license") found.push_back(finding.kind + " " + std::to_string(finding.line));
  return found;
}

using Lines = std::vector<std::string>;
const std::string head = "// What this file is for, in a sentence.\n";

}  // namespace

TEST(Language, NoPlaceOwesMoreOrLessThanItsDebt) {
  const Findings found = findings_of_tree();
  if (const char* place = std::getenv("ENCORE_LIST_LANGUAGE"))
    for (const auto& [kind, all] : found.contains(place) ? found.at(place) : Findings::mapped_type())
      for (const Found& one : all)
        std::cout << one.file << ":" << one.finding.line << ": " << kind << ": " << one.finding.found << "\n";
  Debt debt = read_debt(text_of_file(debt_file));
  if (const char* how = std::getenv("ENCORE_WRITE_LANGUAGE_DEBT")) {
    const std::string text = written_debt(found, debt, how != std::string("all"));
    std::ofstream(debt_file, std::ios::binary) << text;
    debt = read_debt(text);
  }
  EXPECT_GT(files_of_tree().size(), 1500U) << "the test looked at the wrong folder";
  for (const std::string& message : complaints(found, debt)) ADD_FAILURE() << message;
}

TEST(Language, EveryPageIsLinkedFromTheIndex) {
  const auto pages = pages_of_tree();
  EXPECT_GT(pages.size(), 80U) << "the test looked at the wrong folder";
  EXPECT_EQ(unlinked_pages(pages), Lines()) << "add them to docs/README.md";
  for (const auto& [page, content] : pages)
    for (const std::string& target : links_of(page, content))
      EXPECT_TRUE(files::exists(tree / target)) << page << " links " << target << ", which does not exist";
}

TEST(Language, TheDebtFileNamesKindsThatExist) {
  const std::vector<std::string> kinds = kinds_of_findings();
  for (const auto& [place, numbers] : read_debt(text_of_file(debt_file)))
    for (const auto& [kind, count] : numbers)
      EXPECT_TRUE(std::ranges::find(kinds, kind) != kinds.end() && count > 0) << place << " " << kind;
}

// A reader of a failure looks the word up there.
TEST(Language, TheGuideExplainsEveryRetiredWordAndTheGlossaryIsSorted) {
  const std::string guide = text_of_file(tree / "docs/internals/style.md");
  const std::vector<std::string> kinds = kinds_of_findings();
  for (auto kind = kinds.begin(); kind != std::ranges::find(kinds, "half sentence"); ++kind)
    EXPECT_NE(guide.find(*kind), std::string::npos) << *kind << " is missing in docs/internals/style.md";

  std::istringstream lines(text_of_file(tree / "docs/glossary.md"));
  std::vector<std::string> terms;
  for (std::string line; std::getline(lines, line) && !line.starts_with("## ");) {
    if (!line.starts_with("| ") || line.starts_with("| term ")) continue;
    std::string term = line.substr(2, line.find(" |", 2) - 2);
    std::ranges::transform(term, term.begin(), [](unsigned char letter) { return std::tolower(letter); });
    terms.push_back(term);
  }
  EXPECT_GT(terms.size(), 100U);
  for (std::size_t i = 1; i < terms.size(); ++i) EXPECT_LT(terms[i - 1], terms[i]) << "not sorted";
}

// Each kind, on a made-up text: first what must be found, then plain English beside it.
TEST(Language, RetiredWordsAreFoundInCommentsLiteralsPagesAndTestNames) {
  EXPECT_EQ(found_in("a.cpp", head + "int a;  // The caller is told.\n"), Lines{"tell 2"});
  EXPECT_EQ(found_in("a.cpp", head + "throw Error(\"the worker tells \" +\n      \"it of texts\");\n"),
            (Lines{"tell 2", "texts 3"}));
  EXPECT_EQ(found_in("a.cpp", head + "TEST(Suite, NobodyIsAsked) {}\n"), Lines{"nobody 2"});
  EXPECT_EQ(found_in("a.py", "\"\"\"What this script does, in a sentence.\"\"\"\nprint('trained anew')\n"),
            Lines{"anew 2"});
  EXPECT_EQ(found_in("a.sh", "#!/bin/sh\n# What this script does, in a sentence.\necho \"whoever asks\"\n"),
            Lines{"whoever 3"});
  EXPECT_EQ(found_in("a.sql", "-- What this schema holds, in a sentence.\n\n-- A glance at it.\n"),
            Lines{"glance 3"});
  EXPECT_EQ(found_in("docs/a.md", "# A page\nThe run goes\non where it was.\n"), Lines{"go on 2"});
  EXPECT_EQ(found_in("CMakeLists.txt", "# A search draws by a law.\n"), Lines{"law 1"});
}

TEST(Language, PhrasesAreFoundWhereTheyAreMeant) {
  const auto page = [](const std::string& text) { return found_in("docs/a.md", text + "\n"); };
  EXPECT_EQ(page("It stops after so many steps."), Lines{"so many 1"});
  EXPECT_EQ(page("There are so many that it stops, and not so many of these."), Lines());
  EXPECT_EQ(page("It runs what has that name."), Lines{"what has that name 1"});
  EXPECT_EQ(page("foo is none of best and all."), Lines{"is none of 1"});
  EXPECT_EQ(page("There is none of these."), Lines());
  EXPECT_EQ(page("A histogram is none."), Lines{"is none 1"});
  EXPECT_EQ(page("The path is no folder."), Lines{"is no 1"});
  EXPECT_EQ(page("There is no folder, and the file is no longer here."), Lines());
  EXPECT_EQ(page("The pieces of a word are tokens."), Lines{"piece 1"});
  EXPECT_EQ(page("The hook goes on the wall."), Lines());
  EXPECT_EQ(page("It tells."), Lines{"tell 1"});
}

TEST(Language, NamesAreNotProse) {
  EXPECT_EQ(found_in("docs/a.md", "The column `pieces`, --texts, \"texts\", [a](pieces.md), tell_all.\n"),
            Lines());
  EXPECT_EQ(found_in("docs/a.md", "```text\n$ exp tells\nit told texts\n```\n"), Lines());
  EXPECT_EQ(found_in("a.cpp", head + "int pieces = told(\"texts\");\n"), Lines());
  EXPECT_EQ(found_in("a.cpp", head + "run(\"SELECT pieces FROM served\");\n"), Lines());
  EXPECT_EQ(found_in("a.cpp", head + "parse(R\"({\"texts\": [1], \"pieces\": 2})\");\n"), Lines());
}

TEST(Language, HalfSentencesAreFoundInComments) {
  const auto comment = [](const std::string& text) { return found_in("a.cpp", head + "\n" + text + "\n"); };
  EXPECT_EQ(comment("/// Of each."), Lines{"half sentence 3"});
  EXPECT_EQ(comment("int x;  ///< By cell."), Lines{"half sentence 3"});
  EXPECT_EQ(comment("/// In the order of the runs.\nint x;"), Lines{"half sentence 3"});
  EXPECT_EQ(comment("/// Where everything lies."), Lines{"half sentence 3"});
  EXPECT_EQ(comment("/// As the file writes it."), Lines{"half sentence 3"});
  EXPECT_EQ(comment("/// Where the rows come from is compared."), Lines());
  EXPECT_EQ(comment("/// In seconds, the caller waits."), Lines());
  EXPECT_EQ(comment("/// Without a mask the options are ignored."), Lines());
  EXPECT_EQ(comment("int x;  ///< in seconds"), Lines());
  EXPECT_EQ(comment("/// Where a file is missing, the default holds."), Lines());
  EXPECT_EQ(comment("/// To add an option, call this."), Lines());
}

TEST(Language, TestNamesInSnakeCaseAreFound) {
  EXPECT_EQ(found_in("a.cpp", head + "TEST(Suite, rejects_a_frame) {}\nTEST_F(Suite, F1IsAFrame) {}\n"),
            Lines{"test name 2"});
}

TEST(Language, HeadsWithoutASentenceAreFound) {
  EXPECT_EQ(found_in("a.cpp", "// See a.hpp.\n#include \"a.hpp\"\n"), Lines{"head 1"});
  EXPECT_EQ(found_in("a.cpp", "#include \"a.hpp\"\n\n// This function adds two numbers.\n"), Lines{"head 1"});
  EXPECT_EQ(found_in("a.cpp", "// See a.hpp. The loop here is the slow one.\n"), Lines());
  EXPECT_EQ(found_in("a.py", "#!/usr/bin/env python3\nimport os\n"), Lines{"head 1"});
}

TEST(Language, FilesWithoutTheLicenseAreFound) {
  const auto lacks_license = [](const std::string& file, const std::string& content) {
    return std::ranges::count(findings_of(file, content), "license", &Finding::kind) == 1;
  };
  const std::string license = "// SPDX-License-Identifier: BSD-3-Clause\n";
  EXPECT_TRUE(lacks_license("a.cpp", head));
  EXPECT_FALSE(lacks_license("a.cpp", license + head));
  EXPECT_EQ(found_in("a.cpp", license + "#include \"a.hpp\"\n"), Lines{"head 1"}) << "which is no head";
  EXPECT_TRUE(lacks_license("exp", "#!/usr/bin/env bash\n# Starts Encore.\n"));
  EXPECT_FALSE(lacks_license("plugins/template/layer/my_plugin.cpp", head)) << "which is the user's";
}

TEST(Language, LongLinesLongPagesAndDeadFilesAreFound) {
  std::string page;
  for (int i = 0; i < 250; ++i) page += "A line.\n";
  EXPECT_EQ(found_in("docs/a.md", page), Lines());
  EXPECT_EQ(found_in("docs/a.md", page + "A line.\n"), Lines{"long page 251"});
  const std::string line(121, 'a');
  EXPECT_EQ(found_in("docs/a.md", line + "\n| " + line + " |\n" + line.substr(1) + "\n"),
            Lines{"long line 1"});
  EXPECT_EQ(found_in("docs/a.md",
                     "It stands in `framework/base/absent.hpp` or framework/base/terminal_text.hpp.\n"),
            Lines{"dead file 1"});
  EXPECT_EQ(found_in("CMakeLists.txt", "set(a b)\n# The script tests/absent.py does this.\n"),
            Lines{"dead file 2"});
}

TEST(Language, PagesWithoutALinkAreFound) {
  EXPECT_EQ(unlinked_pages({{"README.md", ""},
                            {"docs/README.md", "[a](a.md) [plugins](plugins/README.md#here)"},
                            {"docs/a.md", "[c](c.md)"},
                            {"docs/c.md", ""},
                            {"docs/plugins/README.md", "[b](b.md)"},
                            {"docs/plugins/b.md", ""},
                            {"docs/d.md", "This page is now [a](a.md).\n"},
                            {"docs/e.md", "This page is now [a](a.md).\nMore.\n"}}),
            (Lines{"docs/c.md", "docs/e.md"}));
}

TEST(Language, MoreThanTheDebtFailsAndSoDoesLess) {
  Findings found;
  found["framework/base"]["tell"] = {{"framework/base/a.hpp", {"tell", 7, "told", "report"}},
                                     {"framework/base/b.hpp", {"tell", 9, "tells", "report"}}};
  EXPECT_EQ(complaints(found, read_debt("# a comment\n2 framework/base tell\n")), Lines());
  const Lines more = complaints(found, read_debt("1 framework/base tell\n"));
  ASSERT_EQ(more.size(), 1U);
  EXPECT_NE(more[0].find("write instead: report\n  framework/base/a.hpp:7: told"), std::string::npos)
      << more[0];
  const Lines less = complaints(found, read_debt("3 framework/base tell\n1 framework/plan half sentence\n"));
  ASSERT_EQ(less.size(), 2U);
  EXPECT_NE(less[0].find("lower the number to 2"), std::string::npos) << less[0];
  EXPECT_NE(less[1].find("framework/plan has 0 of \"half sentence\""), std::string::npos) << less[1];
  // Lowering writes no number that rises.
  EXPECT_EQ(read_debt(written_debt(found, read_debt("1 framework/base tell\n"), true)),
            (Debt{{"framework/base", {{"tell", 1}}}}));
  EXPECT_EQ(read_debt(written_debt(found, {}, false)), (Debt{{"framework/base", {{"tell", 2}}}}));
}

}  // namespace encore::testing
