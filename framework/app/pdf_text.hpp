// SPDX-License-Identifier: BSD-3-Clause
// pdf_texts(): the text of PDF files for `exp text`, so that models, searches and applications read them as
// lines of text. The program pdftotext of Poppler reads the files, in a process of its own, because a PDF may
// come from anyone. cli/text_verb.cpp calls it and prints the answer. Members of the JSON keep their names.
// Read next: pdf_text.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/app.hpp"
#include "app/form.hpp"
#include "base/json_fields.hpp"

namespace encore::app {

struct PdfTextRequest {
  std::string line_mark;  ///< a word between two lines of a page and between two pages; "": none
  bool pages = false;     ///< a text for each page, in place of one for each file
  bool json = false;
  std::vector<std::string> files;
};

Form<PdfTextRequest> pdf_text_form();

/// The part of a text that comes from one page, in code points of the text.
struct PageOfText {
  std::size_t page = 1;
  std::int64_t start = 0, end = 0;
};
void list(auto& field, A<PageOfText> auto& page) {
  field("page", page.page);
  field("start", page.start);
  field("end", page.end);
}

/// The text of a file or of a page, in one line. `exp index build` reads `id` and `text`.
struct PdfText {
  std::string id;  ///< the file as the user wrote it; with `pages` "FILE#2"
  std::string text;
  std::vector<PageOfText> pages;
};
void list(auto& field, A<PdfText> auto& text) {
  field("id", text.id);
  field("text", text.text);
  field("pages", text.pages);
}

struct PdfTexts {
  std::vector<PdfText> texts;         ///< of the files that were read, in their order
  std::vector<std::string> problems;  ///< why the others were not read
};
/// Reads the files. Reports pages without text as notes. Throws Error if pdftotext is not installed.
PdfTexts pdf_texts(const PdfTextRequest& request, const App& app);

/// Returns the text of each page from the output of pdftotext, in which a form feed ends each page: its
/// lines, without blanks at their ends and without empty lines, joined by blanks or the line mark.
std::vector<std::string> page_texts(std::string_view output, const std::string& line_mark);
/// Returns the text of a file: its pages, joined in the same way. A page without text has an empty part.
PdfText joined_pages(const std::string& id, const std::vector<std::string>& pages,
                     const std::string& line_mark);

}  // namespace encore::app
