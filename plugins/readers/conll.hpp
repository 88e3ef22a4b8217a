// SPDX-License-Identifier: BSD-3-Clause
// The reader "conll": CoNLL files, with one token per line, its label in another column, and blank lines
// between sentences. Labels are tags of entities, which are converted to IOB2 from any scheme, or any label
// of each word. The flow is: text of a file -> Dataset -> Records, of which a task makes examples. The worker
// calls it through Reader (encore/reader.hpp). Equal files must give equal records, or runs do not repeat.
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
  TagScheme scheme = TagScheme::iob2;  ///< the scheme that the fewest tags break
  std::int64_t columns = 0;
  std::vector<Sentence> sentences;  ///< tags of entities are in IOB2
  /// The number of tags that break the scheme, such as I-PER after O in IOB2; they are read as conlleval
  /// does.
  std::int64_t malformed_tags = 0;
  std::vector<MalformedTag> first_malformed;  ///< at most `most_listed`
  std::int64_t skipped_sentences = 0;
  std::int64_t stray_returns = 0;              ///< lone CRs that ended a line in a file with LF
  std::string skipped;                         ///< the note about skipped sentences; "": none
  std::map<std::string, std::int64_t> mapped;  ///< number of changed labels, by Format::labels

  static constexpr std::size_t most_listed = 5;

  /// Returns "2 tags break IOB1 and are read as conlleval reads them: B-ORG in line 7, B-LOC in line 12", or
  /// "" if every tag follows the scheme.
  std::string malformed_message() const;
};

/// Reads files with two or more columns. Accepts a byte order mark, line ends of any kind, and `-DOCSTART-`
/// lines and lines of white space as separators. The text is UTF-8; `name` is the file in messages, `what`
/// the set ("training set"). Throws an Error with file and line for: a row with one column, without token or
/// label, or with another number of columns than the first row; an empty token or label; an invalid tag; a
/// sentence without its label or with two, if Format::label_comment is set; an empty set. Lists all such rows
/// at once, up to a limit; or skips their sentences.
Dataset parse(std::string_view text, const std::string& name, const std::string& what,
              const Format& format = {});

/// Returns a file with a word and its label in each row, which parse() reads back. `labels` has the label of
/// each sentence, or is empty. Throws Error if a word contains the delimiter.
std::string text_of(const Records::TextLists& words, const Records::TextLists& tags,
                    const Format& format = {}, const Records::Texts& labels = {});

/// Returns the words of each sentence with one blank between them.
Records::Texts joined(const Records::TextLists& words);

/// The reader "conll": sentences as lists of `words` and `tags`; with label_comment also `text` and `label`.
class ConllReader final : public Reader {
 public:
  static constexpr const char* summary =
      "one token per line, with its label in another column; each sentence is a record; blank lines and "
      "lines that begin with -DOCSTART- separate sentences; the tag schemes IOB1, IOB2, BIOES, IOE1 and IOE2 "
      "are recognized";
  static Schema options();
  static std::vector<std::string> fields() { return {"words", "tags"}; }
  static std::vector<OptionalField> optional_fields() {
    return {{"text", "label_comment"}, {"label", "label_comment"}};
  }

  /// Throws OptionError for: one column with two roles, an invalid delimiter, an entry of label_map that is
  /// not FROM=TO.
  ConllReader(const Options& options, const ReaderContext& context);

  Records read(std::span<const InputText> files, const std::string& what) const override;
  std::string write(const Records& records, FilePart part) const override;
  /// Reads only the words, of files with or without tags; answers become a column (questions_in and
  /// with_labels below). Refuses invalid rows also with bad_rows = "skip", because every row must get an
  /// answer.
  std::optional<Records> read_questions(const InputText& file) const override;
  std::string write_answers(const InputText& file, const Records& answers) const override;

 private:
  Format format_;
};

// --- predictions for files (conll_questions.cpp): labels are missing or ignored, and the answer is the same
// file with a column of labels; ConllReader calls it for `exp predict --format conll --file FILE` ---

/// Returns the words of each sentence from the column of the token, and with Format::label_comment their
/// `text`. All rows need that column and the same number of columns; labels may be missing, those of words
/// in any other column. Throws an Error with file and line of all invalid rows, up to a limit.
Records questions_in(const InputText& file, const Format& format);

/// Returns the file with one more column per row: the label of its word from `labels`. The separator is that
/// of the other columns, or a tab if there is only one. Throws Error if a label contains the delimiter.
std::string with_labels(const InputText& file, const Records::TextLists& labels, const Format& format);

}  // namespace encore::conll
