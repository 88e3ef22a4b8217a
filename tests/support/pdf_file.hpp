// SPDX-License-Identifier: BSD-3-Clause
// Makes small PDF files for tests of `exp text`: pages with lines of text in Helvetica, by hand, so that no
// test needs a file of bytes. tests/unit/app/pdf_text_test.cpp and tests/system/control/help_test.cpp use it.
// The structure is that of PDF 1.4: objects, a table of their places, and a trailer (ISO 32000-1, 7.5).
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace encore::test {

/// Returns a PDF file with these lines on its pages, from top to bottom; a page without lines is empty. The
/// characters are those of ASCII and of Latin 1, in its bytes.
inline std::string pdf_file(const std::vector<std::vector<std::string>>& pages) {
  std::vector<std::string> objects = {
      "<</Type/Catalog/Pages 2 0 R>>", "",
      "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"};
  std::string kids;
  for (const std::vector<std::string>& lines : pages) {
    std::string content = "BT /F1 12 Tf 50 780 Td";
    for (const std::string& line : lines) {
      content += " (";
      for (const char letter : line) {
        if (letter == '(' || letter == ')' || letter == '\\') content += '\\';
        content += letter;
      }
      content += ") Tj 0 -20 Td";
    }
    content += " ET";
    kids += std::to_string(objects.size() + 1) + " 0 R ";
    objects.push_back(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents " +
        std::to_string(objects.size() + 2) + " 0 R>>");
    objects.push_back("<</Length " + std::to_string(content.size()) + ">>\nstream\n" + content +
                      "\nendstream");
  }
  objects[1] = "<</Type/Pages/Kids[" + kids + "]/Count " + std::to_string(pages.size()) + ">>";
  std::string file = "%PDF-1.4\n", places;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    char place[32];
    std::snprintf(place, sizeof place, "%010zu 00000 n \n", file.size());
    places += place;
    file += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  }
  const std::string count = std::to_string(objects.size() + 1);
  const std::size_t table = file.size();
  return file + "xref\n0 " + count + "\n0000000000 65535 f \n" + places + "trailer\n<</Size " + count +
         "/Root 1 0 R>>\nstartxref\n" + std::to_string(table) + "\n%%EOF\n";
}

}  // namespace encore::test
