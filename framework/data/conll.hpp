// CoNLL files: one token per line with its tag in the last column, sentences parted by blank lines.
// Whatever tagging scheme a file uses, a Dataset holds IOB2. Place in the flow: file -> Dataset -> encode.hpp
// -> batches.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// IOB1 marks the start of an entity only where it touches one of its own type, IOB2 always; BIOES also marks
/// its end and single words.
enum class TagScheme : std::uint8_t { iob1, iob2, bioes };

std::string_view name_of(TagScheme scheme);

/// Distinct words and how often each stands in a text: what a vocabulary is trained from.
using WordCounts = std::map<std::string, std::int64_t>;

struct Sentence {
  std::vector<std::string> words;
  std::vector<std::string> tags;  ///< IOB2, one per word
};

/// What is known of a set without its sentences.
struct DatasetSummary {
  TagScheme scheme = TagScheme::iob2;
  std::int64_t columns = 0;
  std::int64_t words = 0;
  std::map<std::string, std::int64_t> entities;  ///< by type
  /// Tags no rule of the recognised scheme would produce, such as I-PER after O in IOB2; read as starts of
  /// entities, as conlleval does.
  std::int64_t malformed_tags = 0;

  std::int64_t entity_count() const;
};

struct Dataset : DatasetSummary {
  std::string path;    ///< as given
  std::string sha256;  ///< of the file's bytes
  std::vector<Sentence> sentences;

  WordCounts word_counts() const;
};

/// Reads two or more columns parted by tabs or blanks (a line with a tab is parted by its tabs only); accepts
/// a byte order mark, CRLF, `-DOCSTART-` lines and lines of white space only as separators. `what` names the
/// set in messages ("training set"). Throws Error naming file and line: a missing or unreadable file, a byte
/// that is not UTF-8, a row with one column or another number of columns than the first row, a tag that is
/// none, an empty set.
Dataset load_conll(const std::filesystem::path& path, const std::string& what);

/// The same from text already in memory; `name` stands for the path in messages.
Dataset parse_conll(std::string_view text, const std::string& name, const std::string& what);

/// Rewrites one sentence's tags to IOB2, in place. Returns how many were malformed under `scheme`.
std::int64_t convert_to_iob2(std::vector<std::string>& tags, TagScheme scheme);

/// True for "O" and for B-, I-, E- or S- before a type that is not empty.
bool is_tag(std::string_view tag);

/// Entity types that stand in `other` but not in `train`, with the number of entities: they cannot be
/// predicted and are scored as missed.
std::map<std::string, std::int64_t> unseen_types(const Dataset& train, const Dataset& other);

}  // namespace encore
