// SPDX-License-Identifier: BSD-3-Clause
// cut_into_passages(): cuts the text of a document into passages. load_documents.cpp calls it. Where the cuts
// stand decides the digest of an index of passages, so the rules must stay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <encore/document_index.hpp>

namespace encore::index {

/// Returns the passages of a text, at least one. A text of at most `settings.words` words, or any text if
/// this is 0, stays as it is. A longer one is cut at ends of sentences: a word that ends with . ! ? or their
/// like, perhaps before closing quotes and brackets, and whose next word does not begin with a small letter
/// of ASCII; or a word before an empty line. Sentences of more words are cut into parts of `settings.words`
/// words. A passage has as many sentences as fit. The next one begins with the last sentences of the passage
/// before it that have at most `settings.overlap` words together and leave place for one more; parts of a cut
/// sentence are not repeated.
std::vector<std::string> cut_into_passages(std::string_view text, const PassageSettings& settings);

}  // namespace encore::index
