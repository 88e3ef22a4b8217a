// SPDX-License-Identifier: BSD-3-Clause
// Counts the values of a JSON text before it is parsed, and refuses a text with too many. data/vocabulary.cpp
// and pretrained/hugging_face_folder.cpp call it. The limit may rise if a known file needs it, because memory
// alone depends on it. Read next: json_text.hpp.
#include "base/json_text.hpp"

#include <string>

#include <encore/error.hpp>

namespace encore {

std::size_t count_json_values(std::string_view text) {
  std::size_t values = 1;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '"')
      quoted = !quoted;
    else if (quoted && letter == '\\')
      ++i;
    else if (!quoted && (letter == ',' || letter == ':' || letter == '[' || letter == '{'))
      ++values;
  }
  return values;
}

void require_few_json_values(std::string_view text) {
  if (count_json_values(text) > most_json_values)
    throw Error("the JSON has more than " + std::to_string(most_json_values) +
                " values, which no model's file has");
}

}  // namespace encore
