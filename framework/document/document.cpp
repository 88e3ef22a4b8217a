// SPDX-License-Identifier: BSD-3-Clause
// Joins the plain text of marked spans. Everything else of a document is data; read document.hpp first.
#include "document/document.hpp"

namespace encore {

std::string Text::plain() const {
  std::string text;
  for (const Span& span : spans) text += span.text;
  return text;
}

}  // namespace encore
