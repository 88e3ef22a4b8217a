// SPDX-License-Identifier: BSD-3-Clause
// Schemes in which tags of single words mark entities of several words: finds the scheme of a file and the
// tags that break it, and converts tags to IOB2. conll.cpp calls it if labels are tags of entities. Results
// depend on the order of the enum: of equal schemes the first is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encore::conll {

/// IOB1 marks the start of an entity only if it touches another of its type, IOB2 always. BIOES also marks
/// the end, and single words. IOE2 marks the end of each entity and no start; IOE1 only if another of its
/// type follows.
enum class TagScheme : std::uint8_t { iob1, iob2, bioes, ioe1, ioe2 };

std::string_view name_of(TagScheme scheme);

struct Sentence {
  std::vector<std::string> words;
  std::vector<std::string> tags;  ///< one per word
  std::string label = {};         ///< of the whole sentence; "" without the option label_comment
};

/// Returns true for "O" and for B-, I-, E- or S- before a type that is not empty.
bool is_tag(std::string_view tag);

/// Returns "PER" for "B-PER", and "" for "O".
std::string_view type_of(std::string_view tag);

/// Returns the scheme that the fewest tags of the file break; of equal schemes, the first in the enum.
TagScheme recognized_scheme(std::span<const Sentence> sentences);

/// Calls `found` with the index of each tag of a sentence that breaks the scheme.
void for_each_malformed(const std::vector<std::string>& tags, TagScheme scheme,
                        const std::function<void(std::size_t)>& found);

/// Converts one sentence's tags from any scheme to IOB2, in place, reading them as conlleval does.
void convert_to_iob2(std::vector<std::string>& tags);

}  // namespace encore::conll
