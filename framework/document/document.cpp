// SPDX-License-Identifier: BSD-3-Clause
// Implements Text::plain(), which joins the characters of marked spans. All other parts of a document are
// plain data; read document.hpp first. The writers (html.cpp, markdown.cpp, latex.cpp, csv.cpp, json.cpp) and
// report/ call it. The text of a span may be joined in another way only if no character is lost.
#include "document/document.hpp"

namespace encore::document {

std::string Text::plain() const {
  std::string text;
  for (const Span& span : spans) text += span.text;
  return text;
}

}  // namespace encore::document
