// SPDX-License-Identifier: BSD-3-Clause
// hit_line(): the line for people about the best document that a step found. The steps `search`,
// `keyword_search` and `rerank` give it in the field `shown`. No program reads it, so it may change.
#pragma once

#include <string>

namespace encore::ranking {

/// The line about a request for which no document was found.
inline constexpr const char* no_hit_line = "no document was found";

/// Returns "ID  0.797  the beginning of the document ...": one line, cut between characters.
std::string hit_line(const std::string& id, double score, const std::string& document);

}  // namespace encore::ranking
