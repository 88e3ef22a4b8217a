// CoNLL files: one token per line with its label in a column, sentences parted by blank lines. Labels are the
// tags of entities, which are read as IOB2 whatever scheme a file uses, or any label of each word. Place in
// the flow: the text of a file -> Dataset -> Records, of which a task makes examples.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/reader.hpp>

namespace encore::conll {

/// IOB1 marks the start of an entity only where it touches one of its own type, IOB2 always; BIOES also marks
/// its end and single words.
enum class TagScheme : std::uint8_t { iob1, iob2, bioes };

std::string_view name_of(TagScheme scheme);

struct Sentence {
  std::vector<std::string> words;
  std::vector<std::string> tags;  ///< IOB2, one per word
};

/// How the columns of a file are read. Columns are counted from 1.
struct Format {
  std::int64_t token_column = 1;
  std::int64_t label_column = 0;  ///< 0: the last one
  char delimiter = ' ';           ///< ' ': by tabs where a line has one, else by runs of blanks
  std::string comment = {};       ///< lines that begin with it are no rows; "": there are none
  bool entities = true;           ///< labels are tags of entities; else they stay as they are
  bool skips_bad_rows = false;
  std::map<std::string, std::string> labels = {};  ///< what a label, or the type of an entity, is read as
};

/// A tag that the scheme of its file would not have written.
struct MalformedTag {
  std::int64_t line = 0;
  std::string tag;  ///< as it stands in the file

  friend bool operator==(const MalformedTag&, const MalformedTag&) = default;
};

struct Dataset {
  TagScheme scheme = TagScheme::iob2;  ///< the one that the fewest tags break
  std::int64_t columns = 0;
  std::vector<Sentence> sentences;
  /// Tags no rule of the scheme would produce, such as I-PER after O in IOB2; read as conlleval does.
  std::int64_t malformed_tags = 0;
  std::vector<MalformedTag> first_malformed;  ///< at most `most_listed` of them
  std::string skipped;  ///< how many sentences are left out for rows that cannot be read; "": none
  std::map<std::string, std::int64_t> mapped;  ///< labels by which entry of Format::labels changed them

  static constexpr std::size_t most_listed = 5;

  /// "2 tags break IOB1 and are read as conlleval reads them: B-ORG in line 7, B-LOC in line 12"; empty where
  /// every tag keeps to the scheme.
  std::string malformed_message() const;
};

/// Reads two or more columns; accepts a byte order mark, CRLF, `-DOCSTART-` lines and lines of white space
/// only as separators. The text is UTF-8; `name` stands for the file in messages, `what` for the set
/// ("training set"). Throws Error naming file and line: a row with one column, without one of the two, or
/// with another number of columns than the first row, an empty token or label, a tag that is none (all such
/// rows at once, up to a limit; or leaves out their sentences), an empty set.
Dataset parse(std::string_view text, const std::string& name, const std::string& what,
              const Format& format = {});

/// A file with a word and its label in each row, which `parse` reads back. Throws Error for a word that the
/// delimiter would part.
std::string text_of(const Records::TextLists& words, const Records::TextLists& tags,
                    const Format& format = {});

/// The reader "conll": sentences as lists of `words` and `tags`.
class ConllReader final : public Reader {
 public:
  static constexpr const char* summary =
      "one token per line with its label in the last column or another, sentences parted by blank lines; "
      "IOB1, "
      "IOB2 and BIOES are recognised";
  static Schema options();
  static std::vector<std::string> fields() { return {"words", "tags"}; }

  /// Throws OptionError: one column for two things, a delimiter that is none, an entry of label_map that is
  /// no FROM=TO.
  ConllReader(const Options& options, const ReaderContext& context);

  Records read(std::span<const InputText> files, const std::string& what) const override;
  std::string write(const Records& records, FilePart part) const override;

 private:
  Format format_;
};

/// Rewrites one sentence's tags to IOB2, in place, whatever scheme they are in.
void convert_to_iob2(std::vector<std::string>& tags);

/// True for "O" and for B-, I-, E- or S- before a type that is not empty.
bool is_tag(std::string_view tag);

}  // namespace encore::conll
