// SPDX-License-Identifier: BSD-3-Clause
// Writes the blocks of a document as HTML. html.cpp puts them into sections, report/attention_page.cpp into
// the page of `exp attention`. Read document.hpp first.
#pragma once

#include <string>

#include "document/document.hpp"
#include "document/outline.hpp"

namespace encore::document {

/// Returns the text, escaped, on one line; isolated from its neighbours if it runs from right to left.
std::string html_line(const std::string& text);
/// Returns the blocks one after the other. `outline` has the ids and numbers of the document that holds them.
/// Throws Error for a reference to a missing id.
std::string html_blocks(const std::vector<Block>& blocks, const Outline& outline);

}  // namespace encore::document
