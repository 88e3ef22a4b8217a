// SPDX-License-Identifier: BSD-3-Clause
// Implements placing.hpp in three steps: parts (a span, or a pair of tags with only values between them,
// which is placed as a whole), a place for each part by the alignment of words, and the text. If the places
// of tags would cross, the parts keep the order of the source, in which tags are nested. Sums run in the
// order of the words. Read placing.hpp first.
#include "placing.hpp"

#include <algorithm>
#include <optional>

#include <encore/lines.hpp>
#include <encore/required_text.hpp>

namespace encore::translate_with_terms {
namespace {

bool is_blank(char letter) {
  return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

/// A span, or several that are placed as one text, in the order of the source.
struct Piece {
  std::string_view text;
  SpanKind kind = SpanKind::value;
  std::size_t place = 0;                            ///< byte of the stripped source
  bool blank_before = false, blank_behind = false;  ///< in the source; also true at its ends
  std::optional<std::size_t> partner = {};          ///< the other tag of a pair
  std::string_view name = {};
};

/// The place of a part of the source in the translation.
struct Place {
  std::size_t gap = 0;     ///< number of the word before which it stands
  bool is_behind = false;  ///< beside the word before the gap, not beside the word after it
};

std::vector<Piece> single_pieces(std::string_view source, const std::vector<Span>& removed,
                                 const Stripped& stripped) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < removed.size(); ++i) {
    const Span& span = removed[i];
    pieces.push_back({.text = span.in(source),
                      .kind = span.kind,
                      .place = stripped.places[i],
                      .blank_before = span.begin == 0 || is_blank(source[span.begin - 1]),
                      .blank_behind = span.end == source.size() || is_blank(source[span.end]),
                      .name = span.name});
  }
  return pieces;
}

/// Pairs each closing tag with the last opening tag of its name that is still open. A tag that is open when a
/// tag around it closes has no partner.
void pair_tags(std::vector<Piece>& pieces) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].kind == SpanKind::opening) open.push_back(i);
    if (pieces[i].kind != SpanKind::closing) continue;
    const auto match = std::ranges::find_if(
        open.rbegin(), open.rend(), [&](std::size_t other) { return pieces[other].name == pieces[i].name; });
    if (match == open.rend()) continue;
    pieces[i].partner = *match;
    pieces[*match].partner = i;
    open.erase(std::prev(match.base()), open.end());
  }
}

/// Makes one part of a pair of tags without words between them, with all that is between them.
std::vector<Piece> joined_pieces(const std::vector<Piece>& pieces, const Stripped& stripped) {
  std::vector<Piece> joined;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    Piece piece = pieces[i];
    if (piece.kind == SpanKind::opening && piece.partner) {
      const Piece& last = pieces[*piece.partner];
      const std::string_view between =
          std::string_view(stripped.text).substr(piece.place, last.place - piece.place);
      if (trimmed(between).empty()) {
        piece.text = {piece.text.data(),
                      static_cast<std::size_t>(last.text.data() + last.text.size() - piece.text.data())};
        piece.kind = SpanKind::value;
        piece.blank_behind = last.blank_behind;
        i = *piece.partner;
      }
    }
    piece.partner.reset();
    joined.push_back(piece);
  }
  pair_tags(joined);
  return joined;
}

/// How much each word of the translation has to do with each word of the source: (target, source).
class WordWeights {
 public:
  WordWeights(const TextAlignment& alignment, const std::vector<ByteRange>& source,
              const std::vector<ByteRange>& target)
      : columns_(source.size()), weights_(source.size() * target.size()) {
    const std::vector<std::vector<std::size_t>> of_source = tokens_of(alignment.source, source),
                                                of_target = tokens_of(alignment.target, target);
    for (std::size_t row = 0; row < target.size(); ++row)
      for (std::size_t column = 0; column < columns_; ++column) {
        double sum = 0.0;
        if (!alignment.weights.empty())
          for (const std::size_t token : of_target[row])
            for (const std::size_t other : of_source[column])
              sum += alignment.weights[token * alignment.source.size() + other];
        const double tokens = static_cast<double>(std::max<std::size_t>(of_target[row].size(), 1));
        // Words that no token covers were cut; the place in the text must do for them and without weights.
        const bool is_diagonal = row * columns_ / target.size() == column;
        const bool is_known = !alignment.weights.empty() && !of_target[row].empty();
        weights_[row * columns_ + column] = is_known ? sum / tokens : is_diagonal ? 1.0 : 0.0;
      }
  }

  std::size_t rows() const { return columns_ == 0 ? 0 : weights_.size() / columns_; }
  double at(std::size_t row, std::size_t column) const { return weights_[row * columns_ + column]; }
  /// Returns the word of the translation that belongs to a word of the source; the first of equal ones.
  std::size_t best_row(std::size_t column) const {
    std::size_t best = 0;
    for (std::size_t row = 1; row < rows(); ++row)
      if (at(row, column) > at(best, column)) best = row;
    return best;
  }
  /// Returns the words [first, last] of the translation that belong to the words [begin, end) of the source:
  /// those with the largest sum of (share of the weight - 1/2), which is one word at least.
  std::pair<std::size_t, std::size_t> best_rows(std::size_t begin, std::size_t end) const {
    std::pair<std::size_t, std::size_t> best = {0, 0};
    double best_sum = -1e300;
    for (std::size_t first = 0; first < rows(); ++first) {
      double sum = 0.0;
      for (std::size_t last = first; last < rows(); ++last) {
        double all = 0.0, inside = 0.0;
        for (std::size_t column = 0; column < columns_; ++column) {
          all += at(last, column);
          if (column >= begin && column < end) inside += at(last, column);
        }
        sum += (all > 0.0 ? inside / all : 0.0) - 0.5;
        if (sum <= best_sum) continue;
        best_sum = sum;
        best = {first, last};
      }
    }
    return best;
  }

 private:
  /// Returns for each word the tokens whose bytes it has.
  static std::vector<std::vector<std::size_t>> tokens_of(const std::vector<ByteRange>& tokens,
                                                         const std::vector<ByteRange>& words) {
    std::vector<std::vector<std::size_t>> all(words.size());
    for (std::size_t word = 0; word < words.size(); ++word)
      for (std::size_t token = 0; token < tokens.size(); ++token)
        if (tokens[token].begin < words[word].end && tokens[token].end > words[word].begin)
          all[word].push_back(token);
    return all;
  }

  std::size_t columns_;
  std::vector<double> weights_;
};

bool is_word(std::string_view text, const ByteRange& range) {
  return joins_words(code_point_at(text, range.begin));
}

/// Chooses a place for each part of a source.
class Placement {
 public:
  Placement(std::string_view source, std::string_view translation, const TextAlignment& alignment,
            const std::vector<Piece>& pieces)
      : source_(source),
        source_words_(words_in(source)),
        target_words_(words_in(translation)),
        weights_(alignment, source_words_, target_words_),
        pieces_(pieces),
        places_(pieces.size()) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (weights_.rows() == 0) continue;  // a text without words has one gap
      if (pieces[i].kind != SpanKind::opening || !pieces[i].partner) {
        if (pieces[i].kind == SpanKind::closing && pieces[i].partner) continue;
        places_[i] = single_place(pieces[i]);
        continue;
      }
      const std::size_t last = *pieces[i].partner;
      auto [first_word, last_word] =
          weights_.best_rows(first_word_at(pieces[i].place), words_before(pieces[last].place));
      places_[i] = {.gap = first_word, .is_behind = false};
      places_[last] = {.gap = last_word + 1, .is_behind = true};
      clip(i, last);
    }
    clip_singles();
    if (crosses()) keep_source_order();
  }

  const std::vector<Place>& places() const { return places_; }
  const std::vector<ByteRange>& words() const { return target_words_; }
  /// Returns whether part `inner` stands between the tags of the pair that `outer` opens.
  bool is_inside(std::size_t inner, std::size_t outer) const {
    return is_pair(outer) && inner > outer && inner < *pieces_[outer].partner;
  }
  bool is_pair(std::size_t piece) const {
    return pieces_[piece].kind == SpanKind::opening && pieces_[piece].partner.has_value();
  }

 private:
  std::size_t first_word_at(std::size_t byte) const {
    std::size_t word = 0;
    while (word < source_words_.size() && source_words_[word].end <= byte) ++word;
    return word;
  }
  /// Returns the number of words that begin before the byte.
  std::size_t words_before(std::size_t byte) const {
    std::size_t word = 0;
    while (word < source_words_.size() && source_words_[word].begin < byte) ++word;
    return word;
  }

  /// A value or a single tag stands before the translation of the word that follows it; in front of
  /// punctuation and at the end it stands behind the translation of the word before it.
  Place single_place(const Piece& piece) const {
    const std::size_t next = first_word_at(piece.place), before = words_before(piece.place);
    const bool has_next = next < source_words_.size() && is_word(source_, source_words_[next]);
    if (has_next && piece.kind != SpanKind::closing)
      return {.gap = weights_.best_row(next), .is_behind = false};
    if (before > 0) return {.gap = weights_.best_row(before - 1) + 1, .is_behind = true};
    return {.gap = next < source_words_.size() ? weights_.best_row(next) : 0, .is_behind = false};
  }

  /// Keeps a pair within the pairs around it, which were placed before.
  void clip(std::size_t first, std::size_t last) {
    for (std::size_t outer = 0; outer < first; ++outer) {
      if (!is_inside(first, outer)) continue;
      const std::size_t begin = places_[outer].gap, end = places_[*pieces_[outer].partner].gap;
      places_[first].gap = std::clamp(places_[first].gap, begin, end - 1);
      places_[last].gap = std::clamp(places_[last].gap, places_[first].gap + 1, end);
    }
  }
  void clip_singles() {
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
      if (pieces_[piece].partner) continue;
      for (std::size_t outer = 0; outer < piece; ++outer)
        if (is_inside(piece, outer))
          places_[piece].gap =
              std::clamp(places_[piece].gap, places_[outer].gap, places_[*pieces_[outer].partner].gap);
    }
  }

  /// Returns whether two pairs that stand beside each other in the source overlap in the translation.
  bool crosses() const {
    for (std::size_t a = 0; a < pieces_.size(); ++a)
      for (std::size_t b = a + 1; b < pieces_.size(); ++b) {
        if (!is_pair(a) || !is_pair(b) || is_inside(b, a)) continue;
        const std::size_t end_of_a = places_[*pieces_[a].partner].gap,
                          end_of_b = places_[*pieces_[b].partner].gap;
        if (places_[a].gap < end_of_b && places_[b].gap < end_of_a) return true;
      }
    return false;
  }
  void keep_source_order() {
    for (std::size_t i = 1; i < places_.size(); ++i)
      places_[i].gap = std::max(places_[i].gap, places_[i - 1].gap);
  }

  std::string_view source_;
  std::vector<ByteRange> source_words_, target_words_;
  WordWeights weights_;
  const std::vector<Piece>& pieces_;
  std::vector<Place> places_;
};

/// Returns the parts in the order in which they stand in the translation: by gap; in a gap first what
/// belongs to the words before it (closing tags and what is inside them), then single parts, then what
/// belongs to the words after it; each of the three in the order of the source, in which tags are nested.
std::vector<std::size_t> order_of(const Placement& placement, const std::vector<Piece>& pieces) {
  struct Entry {
    std::size_t gap = 0;
    int part = 1;
    std::size_t piece = 0;
  };
  const std::vector<Place>& places = placement.places();
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    Entry entry{.gap = places[i].gap, .part = 1, .piece = i};
    if (placement.is_pair(i))
      entry.part = 2;
    else if (pieces[i].partner)
      entry.part = 0;
    else
      for (std::size_t outer = 0; outer < i; ++outer) {
        if (!placement.is_inside(i, outer)) continue;
        if (places[outer].gap == entry.gap)
          entry.part = 2;
        else if (places[*pieces[outer].partner].gap == entry.gap)
          entry.part = 0;
      }
    entries.push_back(entry);
  }
  // Pairs without words between them are possible only in the order of the source, which is kept then.
  const bool is_sorted = std::ranges::is_sorted(places, {}, &Place::gap);
  std::ranges::stable_sort(entries, [&](const Entry& a, const Entry& b) {
    if (a.gap != b.gap) return a.gap < b.gap;
    return !is_sorted && a.part != b.part ? a.part < b.part : a.piece < b.piece;
  });
  std::vector<std::size_t> order;
  for (const Entry& entry : entries) order.push_back(entry.piece);
  return order;
}

/// Writes the translation and the parts one after the other. A value that would become a part of its
/// neighbours, such as a number beside a number, gets a blank.
class Writer {
 public:
  explicit Writer(std::string_view translation) : translation_(translation) {}

  /// Writes the translation up to this byte.
  void copy_to(std::size_t byte) {
    if (byte <= copied_) return;
    part_from(translation_.substr(copied_, byte - copied_));
    copied_ = byte;
    last_ = {};
  }
  /// Writes a part, beside the word before it or the word behind it.
  void add(const Piece& piece, bool is_behind) {
    const bool is_glued = !last_.empty() && last_.data() + last_.size() == piece.text.data();
    const bool is_value = piece.kind == SpanKind::value;
    if (!is_glued) {
      const bool has_blank = text_.empty() || is_blank(text_.back());
      const bool may_touch = !is_value || has_blank || text_.back() == '>' || text_.back() == '(';
      const bool is_alone = !piece.partner || is_behind;
      if (!has_blank && (!may_touch || (piece.blank_before && is_alone))) text_ += ' ';
      after_value_ = after_value_ && !has_blank && text_.back() != ' ';
    }
    if (is_glued) after_value_ = false;
    part_from(piece.text);
    after_value_ = is_value;
    last_ = piece.text;
    if (!is_behind && piece.blank_behind && copied_ < translation_.size() &&
        !is_blank(translation_[copied_])) {
      text_ += ' ';
      after_value_ = false;
      last_ = {};
    }
  }
  const std::string& text() const { return text_; }

 private:
  /// Appends a part, with a blank in front if it would change the value before it.
  void part_from(std::string_view part) {
    if (after_value_ && !part.empty() && !is_blank(part.front()) && part.front() != '<') {
      const bool ends_sentence = std::string_view(".,;:!?)").find(part.front()) != std::string_view::npos;
      const std::string_view behind = translation_.substr(std::min(copied_ + 1, translation_.size()));
      if (!ends_sentence || (!behind.empty() && !is_blank(behind.front()))) text_ += ' ';
    }
    after_value_ = after_value_ && part.empty();
    text_ += part;
  }

  std::string_view translation_;
  std::size_t copied_ = 0;
  std::string text_;
  std::string_view last_;     ///< the part at the end of the text; empty if there is none
  bool after_value_ = false;  ///< the text ends with a value
};

}  // namespace

void align_known(TextAlignment& alignment, const std::vector<KnownPair>& pairs) {
  if (alignment.weights.empty()) return;
  const auto overlap = [](const ByteRange& a, const ByteRange& b) {
    return a.begin < b.end && b.begin < a.end;
  };
  const std::size_t columns = alignment.source.size();
  for (std::size_t row = 0; row < alignment.target.size(); ++row) {
    const auto own = std::ranges::find_if(
        pairs, [&](const KnownPair& pair) { return overlap(pair.target, alignment.target[row]); });
    for (std::size_t column = 0; column < columns; ++column) {
      double& weight = alignment.weights[row * columns + column];
      const auto of_column = std::ranges::find_if(
          pairs, [&](const KnownPair& pair) { return overlap(pair.source, alignment.source[column]); });
      if (own != pairs.end())
        weight = own == of_column ? 1.0 : 0.0;
      else if (of_column != pairs.end())
        weight = 0.0;
    }
  }
}

std::vector<ByteRange> words_in(std::string_view text) {
  std::vector<ByteRange> words;
  const auto next = [&](std::size_t byte) {
    do ++byte;
    while (byte < text.size() && (static_cast<unsigned char>(text[byte]) & 0xC0U) == 0x80U);
    return byte;
  };
  for (std::size_t byte = 0; byte < text.size();) {
    if (is_blank(text[byte])) {
      ++byte;
      continue;
    }
    const std::size_t begin = byte;
    // A word may have signs such as "-" and "'" within it.
    if (joins_words(code_point_at(text, byte))) {
      std::size_t end = byte;
      for (; byte < text.size() && !is_blank(text[byte]); byte = next(byte))
        if (joins_words(code_point_at(text, byte))) end = next(byte);
      byte = end;
    } else {
      byte = next(byte);
    }
    words.push_back({.begin = begin, .end = byte});
  }
  return words;
}

std::string with_spans(std::string_view source, const std::vector<Span>& removed, const Stripped& stripped,
                       std::string_view translation, const TextAlignment& alignment) {
  std::vector<Piece> pieces = single_pieces(source, removed, stripped);
  pair_tags(pieces);
  pieces = joined_pieces(pieces, stripped);
  const Placement placement(stripped.text, translation, alignment, pieces);
  const std::vector<ByteRange>& words = placement.words();
  Writer writer(translation);
  for (const std::size_t number : order_of(placement, pieces)) {
    const Piece& piece = pieces[number];
    const Place& place = placement.places()[number];
    const bool has_word = place.gap < words.size();
    const bool is_behind = place.gap > 0 && (place.is_behind || !has_word);
    writer.copy_to(is_behind  ? words[place.gap - 1].end
                   : has_word ? words[place.gap].begin
                              : translation.size());
    writer.add(piece, is_behind);
  }
  writer.copy_to(translation.size());
  return writer.text();
}

}  // namespace encore::translate_with_terms
