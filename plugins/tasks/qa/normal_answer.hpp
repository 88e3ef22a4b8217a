// SPDX-License-Identifier: BSD-3-Clause
// normal_words(): an answer as the words that the evaluation scripts of SQuAD compare (evaluate-v1.1.py and
// evaluate-v2.0.py, normalize_answer). score_answer() (measures.cpp) compares a predicted answer with the
// true ones by it. The result must stay that of the scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::qa {

/// Returns the text in lower case, without ASCII punctuation and the words a, an, the, separated by white
/// space. Lower case, words and white space are those of Python's str and re; invalid UTF-8 becomes U+FFFD.
std::vector<std::string> normal_words(std::string_view answer);

}  // namespace encore::qa
