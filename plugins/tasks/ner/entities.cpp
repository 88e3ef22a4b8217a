// SPDX-License-Identifier: BSD-3-Clause
// Entities from tags, by the rules of the conlleval script (Tjong Kim Sang, CoNLL-2000) as seqeval 1.2 states
// them. The control program has the same rules in base/label_spans.cpp, which a plugin cannot include; change
// both together. Read entities.hpp first.
#include "entities.hpp"

namespace encore::ner {
namespace {

char mark_of(std::string_view tag) {
  return tag.empty() ? 'O' : tag[0];
}

bool ends(char previous, std::string_view previous_type, char mark, std::string_view type) {
  if (previous == 'O') return false;
  if (previous == 'E' || previous == 'S') return true;
  return mark == 'B' || mark == 'S' || mark == 'O' || previous_type != type;
}

bool starts(char previous, std::string_view previous_type, char mark, std::string_view type) {
  if (mark == 'O') return false;
  if (mark == 'B' || mark == 'S') return true;
  return previous == 'O' || previous == 'E' || previous == 'S' || previous_type != type;
}

}  // namespace

std::string_view entity_type(std::string_view tag) {
  if (mark_of(tag) == 'O') return {};
  const std::size_t hyphen = tag.find('-', 1);
  const std::string_view type = hyphen == std::string_view::npos ? tag.substr(1) : tag.substr(hyphen + 1);
  return type.empty() ? std::string_view("_") : type;
}

std::vector<Entity> entities_of(std::span<const std::string> tags) {
  std::vector<Entity> entities;
  char previous = 'O';
  std::string_view previous_type;
  std::int64_t begin = 0;
  const auto count = static_cast<std::int64_t>(tags.size());
  for (std::int64_t i = 0; i <= count; ++i) {
    const std::string_view tag = i < count ? std::string_view(tags[static_cast<std::size_t>(i)]) : "O";
    const char mark = mark_of(tag);
    const std::string_view type = entity_type(tag);
    if (ends(previous, previous_type, mark, type)) entities.push_back({std::string(previous_type), begin, i});
    if (starts(previous, previous_type, mark, type)) begin = i;
    previous = mark;
    previous_type = type;
  }
  return entities;
}

std::vector<std::string> tags_in_iob2(std::span<const std::string> tags) {
  std::vector<std::string> marked(tags.size(), "O");
  for (const Entity& entity : entities_of(tags))
    for (std::int64_t i = entity.begin; i < entity.end; ++i)
      marked[static_cast<std::size_t>(i)] = (i == entity.begin ? "B-" : "I-") + entity.type;
  return marked;
}

std::vector<std::string> tags_in_bioes(std::span<const std::string> tags) {
  std::vector<std::string> marked(tags.size(), "O");
  for (const Entity& entity : entities_of(tags))
    for (std::int64_t i = entity.begin; i < entity.end; ++i) {
      const bool first = i == entity.begin, last = i + 1 == entity.end;
      marked[static_cast<std::size_t>(i)] = (first && last ? "S-"
                                             : first       ? "B-"
                                             : last        ? "E-"
                                                           : "I-") +
                                            entity.type;
    }
  return marked;
}

void count_entities(std::span<const std::string> truth, std::span<const std::string> predicted,
                    std::map<std::string, EntityCounts>& types) {
  const std::vector<Entity> expected = entities_of(truth);
  for (const Entity& entity : expected) ++types[entity.type].truth;
  // Both lists are in the order of the words, and entities of one list never overlap, so one pass finds the
  // equal ones.
  auto candidate = expected.begin();
  for (const Entity& entity : entities_of(predicted)) {
    EntityCounts& counts = types[entity.type];
    ++counts.predicted;
    while (candidate != expected.end() && candidate->begin < entity.begin) ++candidate;
    if (candidate != expected.end() && *candidate == entity) ++counts.correct;
  }
}

}  // namespace encore::ner
