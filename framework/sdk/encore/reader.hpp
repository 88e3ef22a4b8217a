// SPDX-License-Identifier: BSD-3-Clause
// Reader: the plugin that turns the text of data files into records, and writes predictions back in the same
// format. The code runs on the host, in the worker. framework/tasks reads the files and calls Reader::read,
// which returns Records (records.hpp) for Task::encode. The header is part of the ABI of plugins: a change
// needs a new ENCORE_SDK_VERSION (plugin.hpp). Read next, in the source tree: plugins/readers/conll.cpp.
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

/// The places where a file may be cut into parts that are read one by one: nowhere, after any line, or only
/// after lines without text.
enum class Cut : std::uint8_t { nowhere, lines, blank_lines };

/// The part of a file that a call of `write` writes, if a file is written part by part.
enum class FilePart : std::uint8_t { first, later };

/// A field that a reader gives only if one of its options asks for it.
struct OptionalField {
  std::string name;
  /// The option that adds the field. Empty: only the records show whether the reader gives it.
  std::string option = {};
  /// The value of the option that adds the field. Empty: each value but the default does.
  std::string value = {};

  friend bool operator==(const OptionalField&, const OptionalField&) = default;
};

/// T also needs `static std::vector<std::string> fields()`: the names of the fields that it gives with its
/// default options. It may have `static std::vector<OptionalField> optional_fields()`: those that other
/// options add, perhaps in place of others.
class Reader {
 public:
  virtual ~Reader() = default;
  /// Returns the records of one set; every field has a value for each record. `what` names the set in
  /// messages ("training set"). It is a pure function of the bytes; one thread at a time calls it. Throws
  /// Error that names file and line of each mistake, up to a limit.
  virtual Records read(std::span<const InputText> files, const std::string& what) const = 0;
  /// Returns the text of a file with these records, which `read` reads back (`exp predict --format TYPE`).
  /// Later parts follow the first; a line of headings belongs to the first. Throws Error if the reader cannot
  /// write.
  virtual std::string write(const Records& records, FilePart part) const {
    static_cast<void>(records), static_cast<void>(part);
    throw Error("this reader cannot write files");
  }

  // --- a file that the user wants labelled: `exp predict --format TYPE --file FILE` ---
  /// Returns the records of a file whose truth is not known. Fields of truth (labels, tags, answers, targets)
  /// are left out, and their content in the file is ignored: it may be missing or wrong. The other fields are
  /// those of `read`. Every record that the file asks about is returned, in order, even where `read` would
  /// skip it, because each gets an answer; there may be none. Throws Error as `read` does. Returns nothing if
  /// this reader cannot do it; the host reports that with its name.
  virtual std::optional<Records> read_questions(const InputText& file) const {
    static_cast<void>(file);
    return std::nullopt;
  }
  /// Returns the file with an answer for each record of its read_questions. What the user wrote stays as it
  /// is, byte for byte, apart from a byte order mark at its beginning; a format with its own form for
  /// predictions uses that form. `answers` has the fields that the task predicts (Task::label), with one
  /// value per record, in order; no fields if there are no records. A pure function, called for a file that
  /// read_questions has read.
  virtual std::string write_answers(const InputText& file, const Records& answers) const {
    static_cast<void>(file), static_cast<void>(answers);
    throw Error("this reader reads questions and does not write answers");
  }

  /// Returns where the host may cut a file that is too large for memory. The records of the parts, each read
  /// by its own call, must be those of the whole file. A reader that needs a heading, or compares records
  /// with each other, keeps this default. Each part has at least one line with text.
  virtual Cut cut() const { return Cut::nowhere; }
};

}  // namespace encore
