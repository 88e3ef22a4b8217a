// SPDX-License-Identifier: BSD-3-Clause
// Finds the entities of a sentence from the tags of its words, and counts how many were predicted exactly, as
// conlleval and seqeval (default mode) count. measures.cpp uses the counts as statistics; ner.cpp turns tags
// into spans. Scores of stored runs follow these rules, so they must not change.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encore::ner {

/// The words [begin, end) that form one entity.
struct Entity {
  std::string type;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  auto operator<=>(const Entity&) const = default;
};

/// Returns the type in a tag, the part after the first hyphen ("creative-work" is a type); "_" for a tag
/// without a type, such as B; empty for O.
std::string_view entity_type(std::string_view tag);

/// Returns the entities of one sentence's tags (IOB1, IOB2 or BIOES, malformed ones too: an I- after O or
/// after another type starts an entity), in the order of the words.
std::vector<Entity> entities_of(std::span<const std::string> tags);

/// Convert the tags of a sentence: from any scheme to IOB2, and from IOB2 to BIOES.
std::vector<std::string> tags_in_iob2(std::span<const std::string> tags);
std::vector<std::string> tags_in_bioes(std::span<const std::string> tags);

/// The counts of one type.
struct EntityCounts {
  std::int64_t truth = 0;
  std::int64_t predicted = 0;
  std::int64_t correct = 0;
};

/// Adds the entities of one sentence to the counts of each type.
void count_entities(std::span<const std::string> truth, std::span<const std::string> predicted,
                    std::map<std::string, EntityCounts>& types);

}  // namespace encore::ner
