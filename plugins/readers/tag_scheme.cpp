// SPDX-License-Identifier: BSD-3-Clause
// Tag schemes of entities: which tag may follow which, the scheme that fits a file best, and the conversion
// to IOB2. conll.cpp calls it. A file must keep its scheme, or its entities change: the order of the enum
// decides between schemes that fit equally well. Read tag_scheme.hpp first.
#include "tag_scheme.hpp"

#include <cstdint>
#include <limits>

namespace encore::conll {
namespace {

/// Returns whether a tag with this mark ends its entity, so that an I- or E- after it starts a new one.
bool closes(char mark) {
  return mark == 'O' || mark == 'E' || mark == 'S';
}

/// Returns whether `tag` leaves an entity of BIOES open: one must end with E- or be a single S-.
bool unfinished_in_bioes(std::string_view previous, std::string_view tag) {
  if (previous[0] != 'B' && previous[0] != 'I') return false;
  return type_of(previous) != type_of(tag) || (tag[0] != 'I' && tag[0] != 'E');
}

/// Finds malformed tags of the schemes that mark ends. In IOE2 an I- must be followed by its type; in IOE1 an
/// E- occurs only before another entity of its type.
void for_each_malformed_end(const std::vector<std::string>& tags, TagScheme scheme,
                            const std::function<void(std::size_t)>& found) {
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const char mark = tags[i][0], wanted = scheme == TagScheme::ioe2 ? 'I' : 'E';
    const bool is_followed =
        i + 1 < tags.size() && tags[i + 1] != "O" && type_of(tags[i]) == type_of(tags[i + 1]);
    if (mark == 'B' || mark == 'S' || (mark == wanted && !is_followed)) found(i);
  }
}

}  // namespace

std::string_view name_of(TagScheme scheme) {
  switch (scheme) {
    case TagScheme::iob1:
      return "IOB1";
    case TagScheme::iob2:
      return "IOB2";
    case TagScheme::bioes:
      return "BIOES";
    case TagScheme::ioe1:
      return "IOE1";
    case TagScheme::ioe2:
      return "IOE2";
  }
  return "unknown";
}

bool is_tag(std::string_view tag) {
  if (tag == "O") return true;
  return tag.size() > 2 && tag[1] == '-' && std::string_view("BIES").find(tag[0]) != std::string_view::npos;
}

void convert_to_iob2(std::vector<std::string>& tags) {
  std::string previous_type;
  char previous = 'O';
  for (std::string& tag : tags) {
    const char mark = tag[0];
    const bool same_type = previous != 'O' && type_of(tag) == previous_type;
    const bool continues = (mark == 'I' || mark == 'E') && !closes(previous) && same_type;
    if (mark == 'O')
      previous_type.clear();
    else
      previous_type = type_of(tag);
    if (mark != 'O') tag[0] = continues ? 'I' : 'B';
    previous = mark;
  }
}

std::string_view type_of(std::string_view tag) {
  return tag.size() > 2 ? tag.substr(2) : std::string_view();
}

void for_each_malformed(const std::vector<std::string>& tags, TagScheme scheme,
                        const std::function<void(std::size_t)>& found) {
  if (scheme == TagScheme::ioe1 || scheme == TagScheme::ioe2)
    return for_each_malformed_end(tags, scheme, found);
  std::string_view previous = "O";
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::string_view tag = tags[i];
    const char mark = tag[0];
    const bool same_type = previous != "O" && type_of(previous) == type_of(tag);
    const bool continues = same_type && !closes(previous[0]);
    if (scheme == TagScheme::bioes) {
      if (unfinished_in_bioes(previous, tag))
        found(i - 1);
      else if ((mark == 'I' || mark == 'E') && !continues)
        found(i);
    } else if (mark == 'E' || mark == 'S' || (scheme == TagScheme::iob2 && mark == 'I' && !continues) ||
               (scheme == TagScheme::iob1 && mark == 'B' && !same_type)) {
      found(i);
    }
    previous = tag;
  }
  if (scheme == TagScheme::bioes && unfinished_in_bioes(previous, "O")) found(tags.size() - 1);
}

TagScheme recognized_scheme(std::span<const Sentence> sentences) {
  TagScheme best = TagScheme::iob2;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const TagScheme scheme :
       {TagScheme::iob2, TagScheme::iob1, TagScheme::bioes, TagScheme::ioe2, TagScheme::ioe1}) {
    std::int64_t malformed = 0;
    for (const Sentence& sentence : sentences)
      for_each_malformed(sentence.tags, scheme, [&](std::size_t) { ++malformed; });
    if (malformed >= fewest) continue;
    fewest = malformed;
    best = scheme;
  }
  return best;
}

}  // namespace encore::conll
