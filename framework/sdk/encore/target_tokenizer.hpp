// SPDX-License-Identifier: BSD-3-Clause
// HasTargetTokenizer: an extension of Tokenizer. A tokenizer inherits it if it cuts the second text of a pair
// in another way than the first. Both sides may share a vocabulary, as in MarianMT, or each has its own
// ([tokenizer.target], infer/tokenizer_pair.hpp). So a task with sources and targets uses the tokenizer of
// targets for everything of a target, special tokens too (plugins/tasks/text_to_text.cpp). The header is part
// of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <encore/tokenizer.hpp>

namespace encore {

/// A tokenizer inherits HasTargetTokenizer beside Tokenizer.
class HasTargetTokenizer {
 public:
  virtual ~HasTargetTokenizer() = default;
  /// Returns the tokenizer that cuts and decodes targets. The result lives as long as this tokenizer. Numbers
  /// of tokens and the roles of special tokens are those of its own vocabulary.
  virtual const Tokenizer& target_tokenizer() const = 0;
};

/// Returns the tokenizer for targets if `tokenizer` cuts sources: `tokenizer` itself unless it has this
/// extension.
inline const Tokenizer& target_tokenizer_of(const Tokenizer& tokenizer) {
  const auto* pair = dynamic_cast<const HasTargetTokenizer*>(&tokenizer);
  return pair != nullptr ? pair->target_tokenizer() : tokenizer;
}

}  // namespace encore
