// FileParts: large text files in parts that are cut where a reader allows it, so that no file is ever held
// whole; hashes, checks and counts are those of the whole file.
// Place in the flow: set_files.cpp, for a training set that is larger than a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <encore/reader.hpp>

#include "base/input_file.hpp"
#include "base/sha256.hpp"

namespace encore {

class FileParts {
 public:
  struct Part {
    std::size_t file = 0;         ///< its number among the paths
    std::int64_t first_line = 1;  ///< in its file
    std::int64_t last_line = 1;
    std::string text;  ///< with at least one line that is not blank
  };

  /// `what` names the set in messages. A part has about `part_bytes`: more where no place to cut comes
  /// earlier, less at the end of a file.
  FileParts(std::vector<std::string> paths, Cut cut, std::size_t part_bytes, std::string what);

  /// The next part, or nothing behind the last one. Throws Error naming file, and line where there is one,
  /// when a file cannot be read or is not UTF-8.
  std::optional<Part> next();
  /// SHA-256 of each file; after the last part.
  const std::vector<std::string>& hashes() const { return hashes_; }

 private:
  std::string next_text();

  std::vector<std::string> paths_;
  Cut cut_;
  std::size_t part_bytes_;
  std::string what_;
  std::size_t number_ = 0;  ///< of the file that is open or comes next
  std::optional<InputFile> file_;
  std::optional<Sha256> hash_;
  std::string left_;  ///< of the file, behind the last part
  std::int64_t line_ = 1;
  bool ended_ = false;
  std::vector<std::string> hashes_;
};

}  // namespace encore
