// SPDX-License-Identifier: BSD-3-Clause
// The step "split": its options and answers. The worker calls it through AppStep (encore/step.hpp). A
// released default never changes, because runs are identified without values that equal their default. Read
// split.hpp first.
#include "split.hpp"

#include <utility>

#include <encore/error.hpp>

namespace encore::summary {

Schema Split::options() {
  return Schema()
      .choice("unit", "sentence", {"sentence", "line"},
              {.help = "what a part is. sentence: it ends with . ! ? or their like before white space and no "
                       "small letter; line: a line that is not blank, such as the turn of a dialogue"})
      .boolean(
          "line_ends", true,
          {.help = "a line end ends a sentence, as in mails; false: lines are wrapped, and only an empty "
                   "line ends a sentence"});
}

Split::Split(const Options& options, const StepContext&)
    : takes_lines_(options.text("unit") == "line"),
      line_end_(options.flag("line_ends") ? LineEnd::ends_sentence : LineEnd::is_space) {
  if (takes_lines_ && line_end_ == LineEnd::is_space)
    throw OptionError(
        "line_ends",
        "line_ends = false is for sentences, but unit = \"line\" makes each line a part: remove "
        "one of the two");
}

Records Split::apply(const Records& records) {
  Records::TextLists parts;
  for (const std::string& text : records.texts("text")) {
    const std::vector<std::string_view> found = takes_lines_ ? lines_of(text) : sentences_of(text, line_end_);
    parts.emplace_back(found.begin(), found.end());
  }
  Records given;
  given.add("texts", std::move(parts));
  return given;
}

}  // namespace encore::summary
