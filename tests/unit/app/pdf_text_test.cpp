// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp text` (app/pdf_text.hpp): how lines and pages become one line of text with the places of the
// pages, and, where pdftotext is installed, the text of PDF files, with what is reported about pages without
// text and files that are not PDF. Read next: app/pdf_text.cpp.
#include "app/pdf_text.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "runner/worker_process.hpp"
#include "support/pdf_file.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::app {
namespace {

/// Returns "page start-end" for each page.
std::vector<std::string> places(const PdfText& text) {
  std::vector<std::string> all;
  for (const PageOfText& page : text.pages)
    all.push_back(std::to_string(page.page) + " " + std::to_string(page.start) + "-" +
                  std::to_string(page.end));
  return all;
}

/// Returns the text of a file for which pdftotext writes `output`.
PdfText joined(std::string_view output, const std::string& line_mark) {
  return joined_pages("a.pdf", page_texts(output, line_mark), line_mark);
}

TEST(PdfText, JoinsLinesAndPages) {
  const PdfText text = joined("  Z\u00FCrich \n\n\tTotal   9.00\r\n\f\fpage three\n\f", "");
  EXPECT_EQ(text.id, "a.pdf");
  EXPECT_EQ(text.text, "Z\u00FCrich Total   9.00 page three");
  EXPECT_EQ(places(text), (std::vector<std::string>{"1 0-19", "2 19-19", "3 20-30"}))
      << "places count characters, and an empty page has an empty part";
}

TEST(PdfText, PutsTheLineMarkBetweenLinesAndPages) {
  const PdfText text = joined("one\ntwo\n\fthree\n\f", "|");
  EXPECT_EQ(text.text, "one | two | three");
  EXPECT_EQ(places(text), (std::vector<std::string>{"1 0-9", "2 12-17"}));
}

TEST(PdfText, HasNoPageIfThereIsNoOutput) {
  EXPECT_TRUE(joined("", "|").pages.empty());
  EXPECT_EQ(places(joined("\f", "|")), std::vector<std::string>{"1 0-0"});
  EXPECT_EQ(joined("without a form feed", "|").text, "without a form feed");
  EXPECT_EQ(joined("a\x01"
                   "b\n\f",
                   "")
                .text,
            "a b")
      << "control characters are blanks";
}

/// Collects notes.
class Notes final : public Events {
 public:
  void noticed(const std::string& text) override { all.push_back(text); }
  std::vector<std::string> all;
};

/// A folder with files, and what `exp text` makes of them.
class PdfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      runner::run_program("pdftotext", {"-v"});
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::string file(const std::string& name, const std::string& content) const {
    const std::filesystem::path path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  PdfTexts read(const PdfTextRequest& request) {
    const std::atomic<int> stop = 0;
    return pdf_texts(request, {.database = {}, .events = notes_, .stop = stop});
  }
  testing::TemporaryFolder folder_;
  Notes notes_;
};

TEST_F(PdfFiles, BecomeLinesOfText) {
  const std::string bill =
      file("bill.pdf", test::pdf_file({{"bill no . AC-1201", "total (net) 9.00"}, {"Z\xFCrich"}}));
  const PdfTexts read_once = read({.line_mark = "|", .files = {bill}});
  ASSERT_EQ(read_once.texts.size(), 1U);
  EXPECT_EQ(read_once.texts[0].text, "bill no . AC-1201 | total (net) 9.00 | Z\u00FCrich");
  EXPECT_EQ(places(read_once.texts[0]), (std::vector<std::string>{"1 0-36", "2 39-45"}));
  EXPECT_TRUE(notes_.all.empty());
  const PdfTexts by_page = read({.line_mark = "", .pages = true, .files = {bill}});
  ASSERT_EQ(by_page.texts.size(), 2U);
  EXPECT_EQ(by_page.texts[0].text, "bill no . AC-1201 total (net) 9.00");
  EXPECT_EQ(by_page.texts[1].id, bill + "#2");
  EXPECT_EQ(by_page.texts[1].text, "Z\u00FCrich");
  EXPECT_EQ(places(by_page.texts[1]), std::vector<std::string>{"2 0-6"});
}

TEST_F(PdfFiles, WithoutTextAreNamed) {
  const std::string mixed = file("mixed.pdf", test::pdf_file({{}, {"two"}, {}})),
                    empty = file("empty.pdf", test::pdf_file({{}}));
  const std::string advice =
      " may be a picture, and Encore reads no pictures: run a program for OCR first, such as ocrmypdf";
  const PdfTexts answer = read({.line_mark = "", .files = {mixed, empty}});
  ASSERT_EQ(answer.texts.size(), 1U);
  EXPECT_EQ(answer.texts[0].text, "two");
  EXPECT_EQ(notes_.all,
            std::vector<std::string>{"note: " + mixed + ": no text on page 1, 3, which" + advice});
  EXPECT_EQ(answer.problems, std::vector<std::string>{empty + ": no page has text; each" + advice});
}

TEST_F(PdfFiles, WithOtherContentAreNamedAndTheOthersAreRead) {
  const std::string wrong = file("wrong.pdf", "this is not a PDF file"),
                    right = file("-right.pdf", test::pdf_file({{"right"}}));
  const std::string missing = (folder_.path() / "missing.pdf").string();
  const PdfTexts answer = read({.line_mark = "", .files = {wrong, missing, right}});
  ASSERT_EQ(answer.texts.size(), 1U);
  EXPECT_EQ(answer.texts[0].text, "right");
  ASSERT_EQ(answer.problems.size(), 2U);
  EXPECT_TRUE(answer.problems[0].starts_with(wrong + ": pdftotext cannot read it: ")) << answer.problems[0];
  EXPECT_EQ(answer.problems[1], missing + ": there is no such file");
}

/// A PDF that makes pdftotext write without an end is stood in for by a program that does.
TEST_F(PdfFiles, WithEndlessTextAreNamed) {
  const std::string program = file("pdftotext", "#!/bin/sh\n[ \"$1\" = -v ] || exec yes text\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::string usual = std::getenv("PATH"), endless = file("endless.pdf", "");
  ::setenv("PATH", (folder_.path().string() + ":" + usual).c_str(), 1);
  const PdfTexts answer = read({.line_mark = "", .files = {endless}});
  ::setenv("PATH", usual.c_str(), 1);
  EXPECT_TRUE(answer.texts.empty());
  ASSERT_EQ(answer.problems.size(), 1U);
  EXPECT_EQ(answer.problems[0],
            endless +
                ": pdftotext wrote more than 64 MiB and was stopped; the file may be damaged, or it "
                "must be divided (pdfseparate)");
}

}  // namespace
}  // namespace encore::app
