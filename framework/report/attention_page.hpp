// SPDX-License-Identifier: BSD-3-Clause
// attention_page(): attention weights as one HTML file that loads nothing else: all maps, one of them large
// with the values under the pointer, and the text. Place in the flow: `exp attention -o FILE.html` calls it;
// the frame is reports/attention.html.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document/templates.hpp"
#include "record/attention.hpp"

namespace encore::report {

struct AttentionPageHead {
  std::string title;                                       ///< "Attention of captions"
  std::vector<std::pair<std::string, std::string>> texts;  ///< "Text" "Two men ...", "Written" "Zwei ..."
  std::vector<std::pair<std::string, std::string>> facts;  ///< "run" "captions"
  std::string command;                                     ///< makes the page again
};

/// Returns the page. It holds weights with 16 bits each. Throws Error for an invalid template.
std::string attention_page(const record::AttentionTexts& texts, const AttentionPageHead& head,
                           const document::Templates& templates);

}  // namespace encore::report
