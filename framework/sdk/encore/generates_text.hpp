// SPDX-License-Identifier: BSD-3-Clause
// GeneratesText: an extension of StepModel. The model of a step has it if its task generates a text from a
// text (translate, summarize). A step can then ask for several outputs, for outputs that have certain
// strings, and for the words of an output that belong to words of its source. AskedRun (framework/apply)
// inherits it. The header is part of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION
// (plugin.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <encore/records.hpp>
#include <encore/required_text.hpp>
#include <encore/tokenizer.hpp>

namespace encore {

/// A text that a model generates.
struct WrittenText {
  std::string text;              ///< UTF-8, without white space at its ends
  double log_probability = 0.0;  ///< of its tokens and of the token that ends it
  std::int64_t tokens = 0;       ///< their number, at least 1
};

/// How a model generates text for a record.
struct WriteRequest {
  std::int64_t beam = 1;                    ///< outputs that the search follows, at most 32
  std::int64_t texts = 1;                   ///< strings that are returned, the best first; at most `beam`
  std::vector<RequiredText> required = {};  ///< what each text must have
};

/// Which tokens of a text and of its translation belong together.
struct TextAlignment {
  std::vector<ByteRange> source, target;  ///< the bytes of each token in its text
  /// (target, source): for each token of the translation how much each token of the source has to do with it;
  /// a row sums to 1. Empty if the model cannot say.
  std::vector<double> weights = {};
};

/// A StepModel inherits GeneratesText beside StepModel; find it by dynamic_cast. Calls come from one thread
/// at a time. The result for a record does not depend on the records beside it.
class GeneratesText {
 public:
  virtual ~GeneratesText() = default;
  /// Returns why the model generates no text from a text; "" if it does. The other functions then throw
  /// Error.
  virtual std::string no_writing() const = 0;
  /// Returns the strings that the model generates for each record, the best first, at least one for each.
  /// There is one request per record. A required text may be missing if its characters are not in the
  /// vocabulary, or if the text would be longer than the model permits. Without required strings the best
  /// text is the answer that the model's task gives with this beam.
  virtual std::vector<std::vector<WrittenText>> write(const Records& questions,
                                                      const std::vector<WriteRequest>& requests) = 0;
  /// Returns for each source and its translation which tokens belong together, by the attention of the model.
  virtual std::vector<TextAlignment> align(const Records::Texts& sources, const Records::Texts& targets) = 0;
};

}  // namespace encore
