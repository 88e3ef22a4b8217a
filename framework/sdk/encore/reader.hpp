// Reader: files to records. Runs on the host only, in the worker. Read next: plugins/readers/conll.cpp.
#pragma once

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
  /// line ends of Windows. It outlives the call, not the records: they hold copies.
  std::string_view text;
};

/// T also needs `static std::vector<std::string> fields()`: the names of the fields that it gives.
class Reader {
 public:
  virtual ~Reader() = default;
  /// The records of one set; every field has a value for each record. `what` names the set in messages
  /// ("training set"). A pure function of the bytes, called from one thread at a time. Throws Error that
  /// names file and line of everything that is wrong, up to a limit.
  virtual Records read(std::span<const InputText> files, const std::string& what) const = 0;
  /// The text of a file with these records, which `read` reads back: `exp predict --format TYPE`. Texts of
  /// several calls may stand one behind the other, so what must stand only once in a file (a line of
  /// headings) is not written. Throws Error where the reader cannot write.
  virtual std::string write(const Records& records) const {
    static_cast<void>(records);
    throw Error("this reader cannot write files");
  }
};

}  // namespace encore
