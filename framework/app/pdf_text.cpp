// SPDX-License-Identifier: BSD-3-Clause
// `exp text`: asks pdftotext for the text of each file, in reading order, and joins its lines. Images are not
// read: a page without text is named, so that the user knows what is missing. cli/text_verb.cpp calls
// pdf_texts(). Read pdf_text.hpp first.
#include "app/pdf_text.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <encore/lines.hpp>

#include "base/utf8.hpp"
#include "runner/worker_process.hpp"

namespace encore::app {
namespace {

constexpr const char* pdf_program = "pdftotext";
/// A damaged file may let the program loop. A large one takes less than a second.
constexpr auto pdf_patience = std::chrono::seconds(60);
/// The text of a thousand full pages has about 4 MiB. A file made for it can yield text without an end.
constexpr std::size_t largest_mebibytes = 64;

std::int64_t code_points(std::string_view text) {
  return std::ranges::count_if(text,
                               [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; });
}

/// Returns the lines of a page that have text, joined. Other control characters count as blanks.
std::string joined_lines(std::string_view page, const std::string& between) {
  std::string text;
  for (Lines lines(page); lines.next();) {
    std::string line(lines.line());
    std::ranges::replace_if(
        line, [](char letter) { return static_cast<unsigned char>(letter) < 0x20; }, ' ');
    const std::string_view kept = trimmed(line);
    if (kept.empty()) continue;
    if (!text.empty()) text += between;
    text += kept;
  }
  return text;
}

std::string page_list(const std::vector<std::size_t>& pages) {
  std::string list;
  for (const std::size_t page : pages) list += (list.empty() ? "" : ", ") + std::to_string(page);
  return list;
}

/// Returns what pdftotext writes for a file, or its reason in `problem`.
std::string output_for(const std::string& file, std::string& problem) {
  if (!std::filesystem::is_regular_file(file)) {
    problem = file + ": there is no such file";
    return {};
  }
  const std::string name = file.starts_with('-') ? "./" + file : file;
  runner::ProgramOutput output =
      runner::run_program(pdf_program, {"-enc", "UTF-8", name, "-"}, "",
                          {.timeout = pdf_patience, .largest = largest_mebibytes << 20U});
  if (output.too_large) {
    problem = file + ": " + pdf_program + " wrote more than " + std::to_string(largest_mebibytes) +
              " MiB and was stopped; the file may be damaged, or it must be divided (pdfseparate)";
  } else if (output.silent) {
    problem = file + ": " + pdf_program + " wrote nothing for " + std::to_string(pdf_patience.count()) +
              " seconds and was stopped; the file may be damaged";
  } else if (!output.end.success()) {
    std::string reason = output.errors.substr(0, output.errors.find('\n'));
    problem = file + ": " + pdf_program +
              " cannot read it: " + (reason.empty() ? output.end.text() : reason) +
              "; expected a PDF file that is not encrypted";
  }
  return valid_utf8(output.output);
}

/// Returns the problem of a file that has no text, and reports single pages without text.
std::string problem_of_pages(const std::string& id, const std::vector<std::string>& pages, const App& app) {
  std::vector<std::size_t> empty;
  for (std::size_t i = 0; i < pages.size(); ++i)
    if (pages[i].empty()) empty.push_back(i + 1);
  const std::string advice =
      " may be a picture, and Encore reads no pictures: run a program for OCR first, such as ocrmypdf";
  if (empty.size() == pages.size()) return id + ": no page has text; each" + advice;
  if (!empty.empty())
    app.events.noticed("note: " + id + ": no text on page " + page_list(empty) + ", which" + advice);
  return "";
}

/// Returns what stands between two lines.
std::string between_lines(const std::string& line_mark) {
  return line_mark.empty() ? " " : " " + line_mark + " ";
}

/// Appends a text for each page that has one.
void add_pages(const std::string& id, const std::vector<std::string>& pages, std::vector<PdfText>& texts) {
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (pages[i].empty()) continue;
    texts.push_back({.id = id + "#" + std::to_string(i + 1),
                     .text = pages[i],
                     .pages = {{.page = i + 1, .start = 0, .end = code_points(pages[i])}}});
  }
}

void require_pdf_program() {
  try {
    runner::run_program(pdf_program, {"-v"});
  } catch (const Error& error) {
    throw Error(std::string(error.what()) +
                "; exp text needs this program of Poppler: install it (Debian: apt-get "
                "install poppler-utils)");
  }
}

}  // namespace

Form<PdfTextRequest> pdf_text_form() {
  using R = PdfTextRequest;
  return Form<R>(
             "text",
             {"text FILE... [options]",
              "Prints the text of PDF files, one line for each file, for exp predict and exp index. The text "
              "of a page is in reading order. Pictures are not read. It needs the program pdftotext "
              "(Debian: poppler-utils).",
              {{"exp text bill.pdf --line-mark \"|\"", "print the words of a file, with | between lines"},
               {"exp text bill.pdf --pages --json", "print an object with id and text for each page"}}})
      .option(
          "line-mark", &R::line_mark, "WORD",
          "write this word between two lines, for a model that was trained on documents with it (default: "
          "none)")
      .flag("pages", &R::pages, "print one line for each page that has text")
      .flag("json", &R::json,
            "print objects with id, text, and for each page the place of its text, counted in characters")
      .argument("file", &R::files, "a PDF file")
      .refuse([](const R& request) -> std::string {
        if (request.line_mark.find_first_of(" \t\n\r\v\f") != std::string::npos)
          return "invalid --line-mark \"" + request.line_mark + "\": expected one word without white space";
        return "";
      });
}

std::vector<std::string> page_texts(std::string_view output, const std::string& line_mark) {
  std::vector<std::string> pages;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\f'), output.size());
    pages.push_back(joined_lines(output.substr(0, end), between_lines(line_mark)));
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return pages;
}

PdfText joined_pages(const std::string& id, const std::vector<std::string>& pages,
                     const std::string& line_mark) {
  const std::string between = between_lines(line_mark);
  PdfText text{.id = id, .text = {}, .pages = {}};
  std::int64_t length = 0;  // of the text, in code points
  for (const std::string& page : pages) {
    if (!page.empty() && !text.text.empty()) {
      text.text += between;
      length += code_points(between);
    }
    text.pages.push_back({.page = text.pages.size() + 1, .start = length, .end = length + code_points(page)});
    text.text += page;
    length = text.pages.back().end;
  }
  return text;
}

PdfTexts pdf_texts(const PdfTextRequest& request, const App& app) {
  require_pdf_program();
  PdfTexts answer;
  for (const std::string& file : request.files) {
    std::string problem;
    const std::vector<std::string> pages = page_texts(output_for(file, problem), request.line_mark);
    if (problem.empty()) problem = problem_of_pages(file, pages, app);
    if (!problem.empty())
      answer.problems.push_back(problem);
    else if (request.pages)
      add_pages(file, pages, answer.texts);
    else
      answer.texts.push_back(joined_pages(file, pages, request.line_mark));
  }
  return answer;
}

}  // namespace encore::app
