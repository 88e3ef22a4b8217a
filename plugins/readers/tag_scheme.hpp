// The schemes in which tags of single words mark entities of several words: which of them a file uses, where
// its tags break it, and the same entities in IOB2. Place in the flow: conll.cpp, for labels that are tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encore::conll {

/// IOB1 marks the start of an entity only if it touches one of its own type, IOB2 always; BIOES also marks
/// its end and single words. IOE2 marks the end of each entity and no start; IOE1 marks it only if another
/// one of its own type follows.
enum class TagScheme : std::uint8_t { iob1, iob2, bioes, ioe1, ioe2 };

std::string_view name_of(TagScheme scheme);

struct Sentence {
  std::vector<std::string> words;
  std::vector<std::string> tags;  ///< one per word
};

/// Returns true for "O" and for B-, I-, E- or S- before a type that is not empty.
bool is_tag(std::string_view tag);

/// Returns "PER" for "B-PER", and "" for "O".
std::string_view type_of(std::string_view tag);

/// Returns the scheme that the fewest tags of the file break, the first of equals.
TagScheme recognised_scheme(std::span<const Sentence> sentences);

/// Calls `found` with the number of each tag of a sentence that breaks the scheme.
void for_each_malformed(const std::vector<std::string>& tags, TagScheme scheme,
                        const std::function<void(std::size_t)>& found);

/// Rewrites one sentence's tags from any scheme to IOB2, in place, as conlleval reads them.
void convert_to_iob2(std::vector<std::string>& tags);

}  // namespace encore::conll
