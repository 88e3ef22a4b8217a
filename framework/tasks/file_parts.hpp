// SPDX-License-Identifier: BSD-3-Clause
// FileParts reads large text files in parts, which are cut where the reader of the format allows it, so that
// no file is held whole. Hashes, checks and line numbers must be those of the whole file. set_files.cpp uses
// it for a training set that is larger than a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <encore/reader.hpp>

#include "base/input_file.hpp"
#include "base/sha256.hpp"

namespace encore::tasks {

class FileParts {
 public:
  struct Part {
    std::size_t file = 0;         ///< index in the list of paths
    std::int64_t first_line = 1;  ///< number of its first line in the file
    std::int64_t last_line = 1;
    std::string text;  ///< with at least one line that is not blank
  };

  /// `what` names the set in messages. A part has about `part_bytes` bytes: more if there is no earlier place
  /// to cut, less at the end of a file.
  FileParts(std::vector<std::string> paths, Cut cut, std::size_t part_bytes, std::string what);

  /// Returns the next part, or nothing after the last one. Throws an Error with the file, and the line if
  /// there is one, if a file cannot be read or is not UTF-8.
  std::optional<Part> next();
  /// Returns the SHA-256 of each file. Call it after the last part.
  const std::vector<std::string>& hashes() const { return hashes_; }

 private:
  std::string next_text();

  std::vector<std::string> paths_;
  Cut cut_;
  std::size_t part_bytes_;
  std::string what_;
  std::size_t number_ = 0;  ///< index of the file that is open or comes next
  std::optional<InputFile> file_;
  std::optional<Sha256> hash_;
  std::string left_;  ///< text of the file after the last part
  std::int64_t line_ = 1;
  bool ended_ = false;
  std::vector<std::string> hashes_;
};

}  // namespace encore::tasks
