// Holds the language of docs/internals/style.md in sources, scripts and pages. The tree still owes thousands
// of corrections, so this is a ratchet: language_debt.txt says how many findings of each kind a place may
// have, and a number that is too high fails like one that is too low. Read next: language_rules.hpp.
//
//   ENCORE_WRITE_LANGUAGE_DEBT=1 language_test --gtest_filter='Language.*'     lowers the numbers to the
//   tree's ENCORE_WRITE_LANGUAGE_DEBT=all ...                 writes all of them: after moving files or
//   adding a rule ENCORE_LIST_LANGUAGE=framework/base ...            prints every finding of a place, for
//   whoever rewrites it
#include <gtest/gtest.h>

#include <algorithm>
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
#include "system/language_rules.hpp"

namespace encore::testing {
namespace {

namespace files = std::filesystem;

const files::path tree = ENCORE_SOURCE_DIR;
const files::path debt_file = tree / "tests/system/language_debt.txt";

/// The findings of a place, by kind. A place is a folder such as framework/base, or one page.
struct Found {
  std::string file;
  Finding finding;
};
using Findings = std::map<std::string, std::map<std::string, std::vector<Found>>>;
using Debt = std::map<std::string, std::map<std::string, std::size_t>>;

/// These explain the retired words, or hold them as data.
const std::set<std::string> exempt = {"docs/glossary.md", "docs/internals/style.md",
                                      "tests/system/language_rules.cpp", "tests/system/language_test.cpp"};

/// Written by programs from the literals of sources, where their words are counted.
bool is_generated(const std::string& file) {
  return file.starts_with("docs/plugins/") || file.starts_with("docs/sample/");
}

/// The schemas that earlier versions wrote: data of the tests of upgrades, which never changes.
bool is_frozen(const std::string& file) {
  return file.starts_with("tests/unit/store/schema_");
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
  for (const char* folder :
       {".ci", "cmake", "deploy", "docs", "experiments", "framework", "plugins", "reports", "tests"}) {
    if (!files::exists(tree / folder)) continue;
    for (const auto& entry : files::recursive_directory_iterator(tree / folder))
      if (entry.is_regular_file()) all.push_back(files::relative(entry.path(), tree).generic_string());
  }
  std::ranges::sort(all);
  return all;
}

/// The row of language_debt.txt that a file belongs to: its folder to a depth of two, below tests to a depth
/// of three, since tests/unit mirrors framework; a page by itself.
std::string place_of(const std::string& file) {
  if (file.ends_with(".md")) return file;
  const std::size_t depth = file.starts_with("tests/") ? 3 : 2;
  std::string place;
  const files::path folder = files::path(file).parent_path();
  std::size_t taken = 0;
  for (const files::path& part : folder)
    if (taken++ < depth) place += (place.empty() ? "" : "/") + part.string();
  return place.empty() ? "." : place;
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

Findings findings_of_tree() {
  Findings all;
  for (const std::string& file : files_of_tree()) {
    if (is_generated(file) || is_frozen(file)) continue;
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

/// Lines of "COUNT PLACE KIND"; '#' begins a comment.
Debt read_debt(const std::string& text) {
  Debt debt;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::size_t count = 0;
    std::string place, kind;
    words >> count >> place >> std::ws;
    std::getline(words, kind);
    debt[place][kind] = count;
  }
  return debt;
}

std::size_t owed(const Debt& debt, const std::string& place, const std::string& kind) {
  const auto row = debt.find(place);
  if (row == debt.end()) return 0;
  const auto number = row->second.find(kind);
  return number == row->second.end() ? 0 : number->second;
}

/// One message for each number that does not fit: what is too much with its places, what is too little with
/// the number to write.
std::vector<std::string> complaints(const Findings& found, const Debt& debt) {
  std::vector<std::string> messages;
  for (const auto& [place, kinds] : found)
    for (const auto& [kind, all] : kinds) {
      const std::size_t allowed = owed(debt, place, kind);
      if (all.size() <= allowed) continue;
      std::string message = place + " has " + std::to_string(all.size()) + " of \"" + kind + "\", " +
                            std::to_string(allowed) + " allowed; write instead: " + all[0].finding.advice;
      for (const Found& one : all)
        message += "\n  " + one.file + ":" + std::to_string(one.finding.line) + ": " + one.finding.found;
      messages.push_back(message);
    }
  for (const auto& [place, kinds] : debt)
    for (const auto& [kind, allowed] : kinds) {
      const auto row = found.find(place);
      const auto there = row == found.end() ? nullptr : &row->second;
      const std::size_t count = there != nullptr && there->contains(kind) ? there->at(kind).size() : 0;
      if (count < allowed)
        messages.push_back(place + " has " + std::to_string(count) + " of \"" + kind + "\" and owes " +
                           std::to_string(allowed) + ": lower the number to " + std::to_string(count) +
                           " in tests/system/language_debt.txt, or run with ENCORE_WRITE_LANGUAGE_DEBT=1");
    }
  return messages;
}

/// The file with the numbers of the tree; with `only_lower` no number rises.
std::string written_debt(const Findings& found, const Debt& debt, bool only_lower) {
  std::ostringstream out;
  out << "# How many findings of language_test.cpp each place may still have: count, place, kind. A number "
         "may\n"
         "# only fall. After corrections: ENCORE_WRITE_LANGUAGE_DEBT=1 build/openmp/bin/tests/language_test\n"
         "# --gtest_filter='Language.*' lowers them. After moving files or adding a rule, =all writes all "
         "numbers;\n"
         "# the commit says why they rose.\n";
  for (const auto& [place, kinds] : found)
    for (const auto& [kind, all] : kinds) {
      const std::size_t count = only_lower ? std::min(all.size(), owed(debt, place, kind)) : all.size();
      if (count > 0) out << count << " " << place << " " << kind << "\n";
    }
  return out.str();
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
    if (page.starts_with("docs/") && !linked.contains(page)) missing.push_back(page);
  return missing;
}

std::map<std::string, std::string> pages_of_tree() {
  std::map<std::string, std::string> pages;
  for (const std::string& file : files_of_tree())
    if (file.ends_with(".md") && (file.starts_with("docs/") || file.find('/') == std::string::npos))
      pages[file] = text_of_file(tree / file);
  return pages;
}

/// Kinds and lines of what a made-up file breaks: "tell 2".
std::vector<std::string> found_in(const std::string& file, const std::string& content) {
  std::vector<std::string> found;
  for (const Finding& finding : findings_of(file, content))
    found.push_back(finding.kind + " " + std::to_string(finding.line));
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
                            {"docs/plugins/b.md", ""}}),
            Lines{"docs/c.md"});
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
