// SPDX-License-Identifier: BSD-3-Clause
// Tests the writers of reports (document/writers.hpp) for any name in the data: nothing in a name may become
// markup (escape.hpp), templates of users, references, and accessibility of HTML. The hostile document of
// sample_document.hpp is also checked with check_html.py, cmark-gfm and pdflatex, where they are installed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <encore/error.hpp>

#include "base/load_file.hpp"
#include "document/escape.hpp"
#include "document/text.hpp"
#include "document/writers.hpp"
#include "support/places.hpp"
#include "unit/document/sample_document.hpp"

namespace encore::document {
namespace {

namespace fs = std::filesystem;

/// Returns the templates of the folder reports/, without files of a user.
Templates own_templates() {
  return Templates(ENCORE_SOURCE_DIR "/reports");
}

template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// A temporary folder, which is removed with the object.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("encore_document_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  fs::path write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << bytes;
    return path / name;
  }
};

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null").c_str()) == 0;
}

/// Returns a document with one section "s" that has only this block.
Document with_block(Block block) {
  Document document;
  document.title = "t";
  document.sections = {{"s", "S", {std::move(block)}}};
  return document;
}

}  // namespace

TEST(Escape, Html) {
  EXPECT_EQ(html_text("<a href=\"x\" b='y'>&"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(html_text("a\xFF\x01z"), "a\uFFFD\uFFFDz");
  EXPECT_EQ(html_text("a\u202Eb"), "a\uFFFDb");
}

TEST(Escape, Markdown) {
  EXPECT_EQ(markdown_text("a|b*c_d`e[f](g)"), "a\\|b\\*c\\_d\\`e\\[f\\](g)");
  EXPECT_EQ(markdown_text("<script>&"), "&lt;script&gt;&amp;");
  EXPECT_EQ(markdown_text("# no heading"), "\\# no heading");
  EXPECT_EQ(markdown_text("- no list"), "\\- no list");
  EXPECT_EQ(markdown_text("12. no list"), "12\\. no list");
  EXPECT_EQ(markdown_text("two\nlines"), "two lines");
  EXPECT_EQ(markdown_text("https://x"), "https&#58;//x");
  EXPECT_EQ(markdown_text("\u05D0"), "\u2068\u05D0\u2069");
  EXPECT_EQ(markdown_code("a`b|c", true), "``a`b\\|c``");
  EXPECT_EQ(markdown_code("`", false), "`` ` ``");
  EXPECT_EQ(markdown_code("<b>`|", true), "<code>&lt;b&gt;\\`\\|</code>");
  EXPECT_EQ(markdown_fence("x ```` y"), "`````");
}

TEST(Escape, Latex) {
  EXPECT_EQ(latex_text("\\{}$&#%_^~"),
            "\\textbackslash{}\\{\\}\\$\\&\\#\\%\\_\\wbr{}\\textasciicircum{}\\textasciitilde{}");
  EXPECT_EQ(latex_text("\u00E9\u0142\u0161"), "\\'{e}\\l{}\\v{s}");
  EXPECT_EQ(latex_text("--"), "{-}{-}");
  EXPECT_EQ(latex_text("\U0001F600"), "\\codepoint{1F600}\\wbr{}");
  EXPECT_EQ(latex_text("\u4E2D"), "\\codepoint{4E2D}\\wbr{}");
  EXPECT_NE(latex_text(std::string(1000, 'a')).find("\\wbr{}"), std::string::npos);
  EXPECT_EQ(latex_text("short words only").find("\\wbr{}"), std::string::npos);
}

TEST(Escape, Csv) {
  EXPECT_EQ(csv_text("plain"), "plain");
  EXPECT_EQ(csv_text("a,\"b\""), "\"a,\"\"b\"\"\"");
  EXPECT_EQ(csv_text("=1+1"), "'=1+1");
  EXPECT_EQ(csv_text("@x\n"), "\"'@x\n\"");
}

TEST(Escape, AnchorsHoldNothingThatMeansSomething) {
  EXPECT_EQ(anchor_text("../a b<\">"), "---a-b---");
  EXPECT_EQ(anchor_text(""), "-");
}

TEST(Html, NothingOfANameIsMarkup) {
  const std::string html = html_files(samples::hostile_document(), own_templates(), "x.html").front().bytes;
  for (const char* evil : {"<script>alert", "<img", "</textarea", "<b>", "\u202E"})
    EXPECT_EQ(html.find(evil), std::string::npos) << evil;
  EXPECT_NE(html.find("{{body}} {{title}}"), std::string::npos);  // a value is not expanded again
  EXPECT_EQ(html.find('\0'), std::string::npos);
}

TEST(Html, LoadsNothing) {
  const std::string html = html_files(samples::sample_document(), own_templates(), "x.html").front().bytes;
  for (const char* outside : {" src=", "url(", "@import", "<link", "<iframe", " style=\"", " onclick"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  EXPECT_NE(html.find("default-src 'none'; style-src 'sha256-"), std::string::npos);
  EXPECT_EQ(html.find("unsafe-inline"), std::string::npos);
}

TEST(Html, IsWellFormedAndAccessible) {
  if (!has_program("python3")) GTEST_SKIP() << "python3 is not installed";
  const Folder folder;
  for (const auto& document : {samples::sample_document(), samples::hostile_document()}) {
    const fs::path file =
        folder.write("x.html", html_files(document, own_templates(), "x.html").front().bytes);
    EXPECT_EQ(
        std::system(
            ("python3 " ENCORE_SOURCE_DIR "/tests/unit/document/check_html.py " + file.string()).c_str()),
        0);
  }
}

TEST(Html, BestIsMarkedAndReferencesLead) {
  const std::string html = html_files(samples::sample_document(), own_templates(), "x.html").front().bytes;
  EXPECT_NE(html.find("data-value=\"54.1342\"><strong class=\"best\">54.13</strong>"), std::string::npos);
  EXPECT_NE(html.find("<a href=\"#results-test-f1\">Table 1</a>"), std::string::npos);
  EXPECT_NE(html.find("<figure class=\"table\" id=\"results-test-f1\">"), std::string::npos);
}

TEST(Documents, RefuseAReferenceToNothingAndAnIdTwice) {
  const Document lost =
      with_block(Paragraph{Text(std::vector<Span>{{"", Span::Kind::reference, "nowhere"}})});
  EXPECT_EQ(message_of([&] { html_files(lost, own_templates(), "x"); }),
            "the document refers to \"nowhere\", but no section, table or figure has that id");
  Document twice = with_block(TableBlock{"s", "c", {}, {}});
  EXPECT_EQ(message_of([&] { latex_files(twice, own_templates(), "x"); }),
            "the document has the id \"s\" twice; every section, table and figure needs its own");
}

TEST(Templates, AreAUsersFilesBeforeOurs) {
  const Folder folder;
  folder.write("report.html", "<p>{{title}}</p>\n{{policy}}{{header}}{{body}}");
  const Document document = with_block(Paragraph{"text"});
  const std::string html =
      html_files(document, Templates(ENCORE_SOURCE_DIR "/reports", folder.path), "x").front().bytes;
  EXPECT_TRUE(html.starts_with("<p>t</p>"));
  // A single file replaces the template of its format only.
  const Templates one(ENCORE_SOURCE_DIR "/reports", folder.path / "report.html");
  EXPECT_TRUE(html_files(document, one, "x").front().bytes.starts_with("<p>t</p>"));
  EXPECT_TRUE(markdown_files(document, one, "x").front().bytes.starts_with("# t\n"));
}

TEST(Templates, RefuseWhatTheyDoNotKnow) {
  const Folder folder;
  const Document document = with_block(Paragraph{"text"});
  const auto html = [&](const std::string& text) {
    const fs::path file = folder.write("my.html", text);
    return message_of([&] { html_files(document, Templates(ENCORE_SOURCE_DIR "/reports", file), "x"); });
  };
  const std::string place = (folder.path / "my.html").string();
  EXPECT_EQ(html("a\nb {{policy}}{{header}}\n{{boddy}}"),
            place + ":3: unknown placeholder \"{{boddy}}\"; did you mean \"body\"?");
  EXPECT_EQ(html("{{policy}} {{header}}"),
            place + ": the placeholder \"{{body}}\" is missing; without it the document would be incomplete");
  EXPECT_NE(message_of([] {
              Templates("x", "/nowhere/at/all.html");
            }).find("--template names /nowhere/at/all.html, which does not exist"),
            std::string::npos);
}

TEST(Csv, WritesOneFileATable) {
  const auto files = csv_files(samples::sample_document(), "out.csv");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "out/results-test-f1.csv");
  EXPECT_TRUE(
      files[0].bytes.starts_with("model,n,mean (%),95 % interval (%),precision (%),recall (%),difference "
                                 "(points),p (Holm)\r\nrotary positions,5,54.1342,"));
  const auto one = csv_files(samples::sample_document(), "out.csv", "trials");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].path, "out.csv");
  EXPECT_EQ(message_of([] { csv_files(samples::sample_document(), "out.csv", "trial"); }),
            "there is no table \"trial\"; did you mean \"trials\"?");
  EXPECT_EQ(message_of([] { csv_files(with_block(Paragraph{"x"}), "out.csv"); }),
            "there is no table to write as CSV; another format holds the text and the pictures");
}

TEST(Markdown, PicturesLieBesideIt) {
  const auto files = markdown_files(samples::hostile_document(), own_templates(), "out.md");
  ASSERT_GT(files.size(), 1u);
  for (std::size_t i = 1; i < files.size(); ++i) {
    EXPECT_EQ(files[i].path.parent_path(), "out.files");
    EXPECT_NE(files[0].bytes.find("](<" + files[i].path.generic_string() + ">)"), std::string::npos);
    EXPECT_EQ(files[i].bytes.find("class="), std::string::npos);
  }
  for (const std::string& name : samples::hostile_names())
    EXPECT_EQ(markdown_files(with_block(Notice{name}), own_templates(), "x").front().bytes.find("<script"),
              std::string::npos);
}

TEST(Markdown, HoldsNoTagsButItsOwn) {
  EXPECT_EQ(samples::foreign_tag(
                "a <a id=\"x-1\"></a> <code>&lt;b&gt;</code> ![](<x.files/y.svg>)\n```\n<b>\n```\n"),
            "");
  EXPECT_EQ(samples::foreign_tag("x <img src=y>"), "<img src=y>");
  for (const Document& document : {samples::sample_document(), samples::hostile_document()})
    EXPECT_EQ(samples::foreign_tag(markdown_files(document, own_templates(), "x.md").front().bytes), "");
}

/// Renders the Markdown with cmark-gfm, with HTML passed through, and checks that no name became a tag.
TEST(Markdown, IsReadAsItIsMeant) {
  if (!has_program("cmark-gfm")) GTEST_SKIP() << "cmark-gfm is not installed";
  const Folder folder;
  folder.write("x.md", markdown_files(samples::hostile_document(), own_templates(), "x.md").front().bytes);
  const std::string command = "cd " + folder.path.string() + " && cmark-gfm --unsafe -e table x.md > x.html";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string html = load_text(folder.path / "x.html", "page");
  for (const char* tag : {"<script", "<img src=x", "<b>", "</textarea", "href=\"javascript", "<!--"})
    EXPECT_EQ(html.find(tag), std::string::npos) << tag;
  EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos);
}

TEST(Latex, CompilesAsItIs) {
  if (!has_program("pdflatex") || !has_program("kpsewhich") ||
      std::system("kpsewhich tikz.sty booktabs.sty >/dev/null") != 0)
    GTEST_SKIP() << "pdflatex with tikz and booktabs is not installed";
  for (const auto& document : {samples::sample_document(), samples::hostile_document()}) {
    const Folder folder;
    folder.write("x.tex", latex_files(document, own_templates(), "x.tex").front().bytes);
    const std::string command =
        "cd " + folder.path.string() +
        " && pdflatex -interaction=nonstopmode -halt-on-error x.tex > output.txt 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << document.title;
    EXPECT_TRUE(fs::exists(folder.path / "x.pdf"));
  }
}

TEST(Html, TheKeyboardFindsItsWay) {
  const std::string html = html_files(samples::sample_document(), own_templates(), "x.html").front().bytes;
  const std::size_t skip = html.find("class=\"skip\""), first = html.find("<a ");
  EXPECT_NE(skip, std::string::npos);
  EXPECT_GT(skip, first);
  EXPECT_LT(skip, html.find('>', first)) << "the first link skips the contents";
  EXPECT_NE(html.find(":focus-visible { outline: 2px solid"), std::string::npos);
  EXPECT_NE(html.find(".skip:focus { left: 1rem"), std::string::npos)
      << "and is visible when it has the focus";
  for (std::size_t at = html.find("<div class=\"scroll\""); at != std::string::npos;
       at = html.find("<div class=\"scroll\"", at + 1))
    EXPECT_NE(html.substr(at, 120).find("tabindex=\"0\" role=\"region\" aria-labelledby="),
              std::string::npos);
}

TEST(Html, ListingsThatScrollHaveARoleAndANameOfTheirOwn) {
  const std::string html =
      html_files(with_block(Listing{"sh", "ls", "Commands \"now\""}), own_templates(), "x.html")
          .front()
          .bytes;
  EXPECT_NE(html.find("<pre tabindex=\"0\" role=\"region\" aria-label=\"Commands &quot;now&quot;\""),
            std::string::npos);
}

TEST(Html, TargetsAreLargeEnoughForAFinger) {
  const std::string html = html_files(samples::sample_document(), own_templates(), "x.html").front().bytes;
  const auto rule = [&](const std::string& selector) {
    const std::size_t at = html.find("\n" + selector + " {");
    return at == std::string::npos ? "" : html.substr(at, html.find('}', at) - at);
  };
  // WCAG 2.2, 2.5.8: 24 by 24 pixels. Links within a sentence need not be.
  EXPECT_NE(rule("nav a").find("display: block; min-height: 24px"), std::string::npos) << rule("nav a");
  EXPECT_NE(rule("th button").find("min-height: 24px; min-width: 24px"), std::string::npos);
}

TEST(Html, LongNamesBreakBetweenTheirPartsAndNeverWithinAWord) {
  TableBlock table;
  table.id = "t";
  table.caption = "c";
  table.columns = {{"run"}};
  table.rows = {{"study-attention=rotary_attention-learning_rate=0.002-seed=1"},
                {"short-name"},
                {std::string(60, 'f')}};
  const std::string html = html_files(with_block(table), own_templates(), "x.html").front().bytes;
  EXPECT_NE(
      html.find("class=\"long\">study-<wbr>attention=<wbr>rotary_<wbr>attention-<wbr>learning_<wbr>rate="
                "<wbr>0.002-<wbr>seed=<wbr>1<"),
      std::string::npos);
  EXPECT_NE(html.find(">short-name<"), std::string::npos);
  EXPECT_NE(html.find("class=\"long endless\">ffff"), std::string::npos)
      << "text without blanks must break within";
}

TEST(Html, SmallPicturesStandBesideEachOther) {
  Document document = with_block(Paragraph{"p"});
  const auto figure = [](const std::string& id, Chart chart) {
    return Figure{id, "", "a", std::move(chart)};
  };
  document.sections[0].blocks = {figure("one", samples::schedule()), figure("two", samples::schedule()),
                                 Paragraph{"between"}, figure("alone", samples::schedule())};
  const std::string html = html_files(document, own_templates(), "x.html").front().bytes;
  const std::size_t begin = html.find("<div class=\"beside\">"), end = html.find("<p>between");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_LT(begin, html.find("id=\"one\""));
  EXPECT_LT(html.find("id=\"two\""), end);
  EXPECT_EQ(html.find("<div class=\"beside\">", end), std::string::npos)
      << "a single picture is as wide as the text";
  const std::string latex = latex_files(document, own_templates(), "x.tex").front().bytes;
  EXPECT_NE(latex.find("\\begin{minipage}[t]{0.485\\textwidth}"), std::string::npos);
}

TEST(Latex, HeadsOfNumbersAreStackedOnlyWhereTheTableIsTooWide) {
  TableBlock narrow{"t", "c", {{"name"}, {"shared seeds", "", true}}, {{"a", {"1", 1.0}}}};
  const auto latex = [](const TableBlock& table) {
    return latex_files(with_block(table), own_templates(), "x.tex").front().bytes;
  };
  EXPECT_NE(latex(narrow).find("\\textbf{shared seeds}"), std::string::npos);
  TableBlock wide = narrow;
  for (int i = 0; i < 12; ++i) {
    wide.columns.push_back({"cut entities", "", true});
    wide.rows[0].push_back({"1", 1.0});
  }
  EXPECT_NE(latex(wide).find("\\begin{tabular}[b]{@{}r@{}}\\textbf{shared}\\\\\\textbf{seeds}\\end{tabular}"),
            std::string::npos);
}

TEST(Escape, NumbersInMarkdownDoNotBecomeLists) {
  EXPECT_EQ(markdown_text("70.23"), "70.23");
  EXPECT_EQ(markdown_text("-0.13"), "-0.13");
  EXPECT_EQ(markdown_text("70. x"), "70\\. x");
  EXPECT_EQ(markdown_text("7."), "7\\.");
  EXPECT_EQ(markdown_text("- x"), "\\- x");
  EXPECT_EQ(markdown_text("---"), "\\---");
  EXPECT_EQ(markdown_text("1)x"), "1\\)x");
}

TEST(Markdown, WhatIsStrongEndsBeforeItsBlank) {
  const auto markdown = [](std::vector<Span> spans) {
    return markdown_files(with_block(Paragraph{Text(std::move(spans))}), own_templates(), "x.md")
        .front()
        .bytes;
  };
  EXPECT_NE(markdown({{"Loss: ", Span::Kind::strong}, {"mean"}}).find("**Loss:** mean"), std::string::npos);
  EXPECT_NE(markdown({{"a"}, {" b", Span::Kind::emphasis}}).find("a *b*"), std::string::npos);
}

TEST(Text, IsCleanedAndCut) {
  EXPECT_EQ(clean_line("a\nb\tc"), "a b c");
  EXPECT_EQ(clean_line(std::string("\0", 1)), "\uFFFD");
  EXPECT_EQ(clean_line("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_TRUE(runs_right_to_left("abc \u0645"));
  EXPECT_FALSE(runs_right_to_left("abc \u4E2D \U0001F600"));
  EXPECT_EQ(first_characters("abcdef", 4), "abc\u2026");
  EXPECT_EQ(first_characters("abcd", 4), "abcd");
  EXPECT_EQ(shortened("abc", 100, 11), "abc");
  EXPECT_LE(text_width(shortened(std::string(10000, 'm'), 80, 11), 11), 80.0);
}

}  // namespace encore::document
