// Reader: files to records. Runs on the host only, in the worker. Read next: in the source
// tree plugins/readers/conll.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <encore/options.hpp>
#include <encore/records.hpp>

namespace encore {

struct ReaderContext {};

/// A file of a set, as the host read it.
struct InputText {
  std::string name;  ///< as the user wrote it, for messages: "train.conll:14: ..."
  /// Its content: UTF-8 (the host has refused a file with other bytes), perhaps with a byte order mark and
  /// line ends of any kind, which encore/lines.hpp finds. It outlives the call, not the records: they hold
  /// copies.
  std::string_view text;
  std::int64_t first_line = 1;  ///< number of its first line in the file, of which it may be a later part
};

/// Where a file may be cut into parts that are read one by one: nowhere, behind any line, or behind lines
/// without text only.
enum class Cut : std::uint8_t { nowhere, lines, blank_lines };

/// Which part of a file a text is, where the file is written part by part.
enum class FilePart : std::uint8_t { first, later };

/// T also needs `static std::vector<std::string> fields()`: the names of the fields that it gives with its
/// default options; and may have `optional_fields()`, those that it gives where its options ask for them,
/// perhaps in place of others.
class Reader {
 public:
  virtual ~Reader() = default;
  /// The records of one set; every field has a value for each record. `what` names the set in messages
  /// ("training set"). A pure function of the bytes, called from one thread at a time. Throws Error that
  /// names file and line of everything that is wrong, up to a limit.
  virtual Records read(std::span<const InputText> files, const std::string& what) const = 0;
  /// The text of a file with these records, which `read` reads back: `exp predict --format TYPE`. Later parts
  /// follow the first; what stands only once in a file (a line of headings) belongs to the first. Throws
  /// Error if the reader cannot write.
  virtual std::string write(const Records& records, FilePart part) const {
    static_cast<void>(records), static_cast<void>(part);
    throw Error("this reader cannot write files");
  }

  // --- a file that the user wants labelled: `exp predict --format TYPE --file FILE` ---
  /// The records of a file whose truth is not known. Fields of truth (labels, tags, answers, targets) are
  /// left out, and their content in the file is ignored: it may be missing, or wrong. The other fields are
  /// those of `read`. Every record that the file asks about is there, in its order, even where `read` would
  /// skip records: each gets an answer. There may be no records. Throws Error as `read` does. An empty
  /// result: this reader cannot do it, and the host reports that with its name.
  virtual std::optional<Records> read_questions(const InputText& file) const {
    static_cast<void>(file);
    return std::nullopt;
  }
  /// The file with an answer to each record of its read_questions: what the user wrote stays as it is, byte
  /// for byte, apart from a byte order mark in front; or, where the format has a form of its own for
  /// predictions, that form. `answers` has the fields that the task predicts (Task::label), with a value for
  /// each record in their order; no fields where there are no records. A pure function, called for a file
  /// that read_questions has read.
  virtual std::string write_answers(const InputText& file, const Records& answers) const {
    static_cast<void>(file), static_cast<void>(answers);
    throw Error("this reader reads questions and does not write answers");
  }

  /// Where the host may cut a file that is too large to be held at once. The records of the parts, each read
  /// by a call of its own, have to be those of the whole file; so a reader that needs a heading, or compares
  /// records with each other, leaves this as it is. Such a part has at least one line with text.
  virtual Cut cut() const { return Cut::nowhere; }
};

}  // namespace encore
