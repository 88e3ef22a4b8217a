// Attention weights as one HTML file that loads nothing: all maps, one of them large with the values under
// the pointer, and the text as it is read. Place in the flow: `exp attention -o FILE.html`; the frame is
// reports/attention.html.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document/templates.hpp"
#include "record/attention.hpp"

namespace encore {

struct AttentionPageHead {
  std::string title;                                       ///< "Attention of captions"
  std::vector<std::pair<std::string, std::string>> texts;  ///< "Text" "Two men ...", "Written" "Zwei ..."
  std::vector<std::pair<std::string, std::string>> facts;  ///< "run" "captions"
  std::string command;                                     ///< makes the page again
};

/// Weights with 16 bits each. Throws Error for an invalid template.
std::string attention_page(const AttentionTexts& texts, const AttentionPageHead& head,
                           const Templates& templates);

}  // namespace encore
