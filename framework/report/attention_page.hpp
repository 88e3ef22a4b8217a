// SPDX-License-Identifier: BSD-3-Clause
// attention_page(): attention weights as one HTML file that loads nothing else: all maps, one of them large
// with the values under the pointer, and the text. `exp attention -o FILE.html` (cli/attention_verb.cpp)
// calls it; the frame is reports/attention.html, the script reports/attention.js, which reads the JSON that
// this function writes: change both together.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document/templates.hpp"
#include "record/attention.hpp"

namespace encore::report {

/// What the page says about the weights; all of it is plain text, which attention_page() escapes.
struct AttentionPageHead {
  std::string title;                                       ///< "Attention of captions"
  std::vector<std::pair<std::string, std::string>> texts;  ///< "Text" "Two men ...", "Written" "Zwei ..."
  std::vector<std::pair<std::string, std::string>> facts;  ///< "run" "captions"
  std::string command;                                     ///< the command that makes the page again
};

/// Returns the page. It holds weights with 16 bits each. Equal weights and heads give equal bytes. Throws
/// Error for an invalid template.
std::string attention_page(const record::AttentionTexts& texts, const AttentionPageHead& head,
                           const document::Templates& templates);

}  // namespace encore::report
