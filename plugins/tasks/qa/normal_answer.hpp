// How the evaluation scripts of SQuAD make answers comparable (evaluate-v1.1.py and evaluate-v2.0.py,
// normalize_answer). Place in the flow: measures.hpp compares what comes out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::qa {

/// In lower case, without ASCII punctuation and without the words a, an, the, parted by white space. Lower
/// case, words and white space as Python's str and re have them; bytes that are not UTF-8 become U+FFFD.
std::vector<std::string> normal_words(std::string_view answer);

}  // namespace encore::qa
