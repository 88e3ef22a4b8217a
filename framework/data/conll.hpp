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

/// A tag that the scheme of its file would not have written.
struct MalformedTag {
  std::int64_t line = 0;
  std::string tag;  ///< as it stands in the file

  friend bool operator==(const MalformedTag&, const MalformedTag&) = default;
};

/// What is known of a set without its sentences.
struct DatasetSummary {
  TagScheme scheme = TagScheme::iob2;  ///< the one that the fewest tags break
  std::int64_t columns = 0;
  std::int64_t words = 0;
  std::map<std::string, std::int64_t> entities;  ///< by type
  /// Tags no rule of the scheme would produce, such as I-PER after O in IOB2; read as conlleval does.
  std::int64_t malformed_tags = 0;
  std::vector<MalformedTag> first_malformed;  ///< at most `most_listed` of them

  static constexpr std::size_t most_listed = 5;

  std::int64_t entity_count() const;
  /// "2 tags break IOB1 and are read as conlleval reads them: B-ORG in line 7, B-LOC in line 12"; empty where
  /// every tag keeps to the scheme.
  std::string malformed_message() const;
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
/// that is not UTF-8, a row with one column, another number of columns than the first row, an empty token or
/// a tag that is none (all such rows at once, up to a limit), an empty set.
Dataset load_conll(const std::filesystem::path& path, const std::string& what);

/// The same from text already in memory; `name` stands for the path in messages.
Dataset parse_conll(std::string_view text, const std::string& name, const std::string& what);

/// Rewrites one sentence's tags to IOB2, in place, whatever scheme they are in.
void convert_to_iob2(std::vector<std::string>& tags);

/// True for "O" and for B-, I-, E- or S- before a type that is not empty.
bool is_tag(std::string_view tag);

/// Entity types that stand in `other` but not in `train`, with the number of entities: they cannot be
/// predicted and are scored as missed.
std::map<std::string, std::int64_t> unseen_types(const Dataset& train, const Dataset& other);

}  // namespace encore
