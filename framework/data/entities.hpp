// Entities of a sentence from the tags of its words, and how many of them were found: exact match, as
// conlleval and seqeval (default mode) count. Place in the flow: tags -> entities -> counts;
// tasks/ner_score.hpp sums them to the measures of a run, report/example_scores.hpp reads them back from
// stored predictions, predict turns tags into spans.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// Words [begin, end) that form one entity.
struct NerEntity {
  std::string type;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  auto operator<=>(const NerEntity&) const = default;
};

/// The type that a tag names, split at the first hyphen only ("creative-work" is a type); "_" for a mark
/// alone, empty for O.
std::string_view entity_type(std::string_view tag);

/// The entities of one sentence's tags (IOB1, IOB2 or BIOES, malformed ones too: an I- after O or after
/// another type starts an entity), in the order of the words.
std::vector<NerEntity> ner_entities(std::span<const std::string> tags);

/// Counts of one type, or of all. Fractions are in [0, 1]; where there is nothing to divide by, 0.
struct NerCounts {
  std::int64_t truth = 0;
  std::int64_t predicted = 0;
  std::int64_t correct = 0;

  double precision() const;
  double recall() const;
  double f1() const;
};

/// Adds what one sentence holds to the counts of each type. `predicted` may be shorter than `truth`: the rest
/// is O.
void count_entities(std::span<const std::string> truth, std::span<const std::string> predicted,
                    std::map<std::string, NerCounts>& types);

}  // namespace encore
