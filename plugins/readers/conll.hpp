// CoNLL files: one token per line with its label in a column, sentences separated by blank lines. Labels are
// the tags of entities, which are read as IOB2 from any scheme, or any label of each word. Place in the flow:
// the text of a file -> Dataset -> Records, of which a task makes examples.
// Read next: conll_columns.hpp, tag_scheme.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/reader.hpp>

#include "conll_columns.hpp"
#include "tag_scheme.hpp"

namespace encore::conll {

/// A tag that breaks the scheme of its file.
struct MalformedTag {
  std::int64_t line = 0;
  std::string tag;  ///< as written in the file

  friend bool operator==(const MalformedTag&, const MalformedTag&) = default;
};

struct Dataset {
  TagScheme scheme = TagScheme::iob2;  ///< the one that the fewest tags break
  std::int64_t columns = 0;
  std::vector<Sentence> sentences;  ///< tags of entities in IOB2
  /// The number of tags that break the scheme, such as I-PER after O in IOB2; read as conlleval does.
  std::int64_t malformed_tags = 0;
  std::vector<MalformedTag> first_malformed;  ///< at most `most_listed` of them
  std::int64_t skipped_sentences = 0;
  std::int64_t stray_returns = 0;              ///< lone CRs that ended lines, where others end with LF
  std::string skipped;                         ///< the note about skipped sentences; "" without any
  std::map<std::string, std::int64_t> mapped;  ///< number of changed labels, by entry of Format::labels

  static constexpr std::size_t most_listed = 5;

  /// Returns "2 tags break IOB1 and are read as conlleval reads them: B-ORG in line 7, B-LOC in line 12", or
  /// "" if every tag follows the scheme.
  std::string malformed_message() const;
};

/// Reads two or more columns; accepts a byte order mark, line ends of any kind, `-DOCSTART-` lines and lines
/// of white space only as separators. The text is UTF-8; `name` is the file in messages, `what` the set
/// ("training set"). Throws Error naming file and line: a row with one column, without one of the two, or
/// with another number of columns than the first row, an empty token or label, an invalid tag (all such rows
/// at once, up to a limit; or skips their sentences), an empty set.
Dataset parse(std::string_view text, const std::string& name, const std::string& what,
              const Format& format = {});

/// Writes a file with a word and its label in each row, which `parse` reads back. Throws Error if a word
/// contains the delimiter.
std::string text_of(const Records::TextLists& words, const Records::TextLists& tags,
                    const Format& format = {});

/// The reader "conll": sentences as lists of `words` and `tags`.
class ConllReader final : public Reader {
 public:
  static constexpr const char* summary =
      "one token per line with its label in the last column or another, sentences separated by blank lines; "
      "IOB1, IOB2, BIOES, IOE1 and IOE2 are recognised";
  static Schema options();
  static std::vector<std::string> fields() { return {"words", "tags"}; }

  /// Throws OptionError: one column for two things, an invalid delimiter, an entry of label_map that is not
  /// FROM=TO.
  ConllReader(const Options& options, const ReaderContext& context);

  Records read(std::span<const InputText> files, const std::string& what) const override;
  std::string write(const Records& records, FilePart part) const override;
  /// Reads words alone, of files with and without tags; answers become a column (conll_questions.hpp).
  /// Invalid rows are refused, also with bad_rows = "skip": every row gets an answer.
  std::optional<Records> read_questions(const InputText& file) const override;
  std::string write_answers(const InputText& file, const Records& answers) const override;

 private:
  Format format_;
};

}  // namespace encore::conll
