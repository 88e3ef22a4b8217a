// SPDX-License-Identifier: BSD-3-Clause
// RowProblems collects the invalid rows of files, so that a user can correct them all at once. A reader adds
// a problem per row while it reads. At the end require_none() throws an Error with the first rows of each
// file or, if bad rows are skipped, skipped() returns a note. conll, jsonl, parallel and tsv use it. It only
// words messages; the reader decides which rows are invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <encore/error.hpp>

namespace encore {

/// The end of a message about invalid rows or questions, if the reader has the option and others are valid.
inline constexpr const char* skip_remedy =
    "\ncorrect them, or leave them out with data.bad_rows = \"skip\"";

class RowProblems {
 public:
  void add(const std::string& file, std::int64_t line, const std::string& message) {
    const std::size_t place = place_of(file);
    File& rows = files_[place];
    const std::string text = file + ":" + std::to_string(line) + ": " + message;
    if (++count_ == 1) first_ = text;
    if (++rows.count <= most_listed && place < most_files) rows.text += (rows.count > 1 ? "\n" : "") + text;
  }
  std::int64_t count() const { return count_; }
  /// Returns the first problem, "train.tsv:7: ...", if there is any.
  const std::string& first() const { return first_; }
  /// Returns "2 of 140 rows are skipped; the first: train.tsv:7: ...", for the log of a run.
  std::string skipped(std::int64_t rows) const {
    return std::to_string(count_) + " of " + std::to_string(rows) +
           (count_ == 1 ? " rows is skipped: " : " rows are skipped; the first: ") + first_;
  }
  /// Throws Error that names the first rows of each of the first files, and counts the others. With
  /// `may_skip` the message also names the option that leaves invalid rows out: set it only where the reader
  /// has that option and other rows are valid.
  void require_none(bool may_skip = false) const {
    if (count_ == 0) return;
    std::string text;
    std::int64_t others = 0;
    for (std::size_t place = 0; place < files_.size(); ++place) {
      const File& file = files_[place];
      if (place >= most_files) {
        others += file.count;
        continue;
      }
      text += (text.empty() ? "" : "\n") + file.text;
      const std::int64_t more = file.count - most_listed;
      if (more > 0) text += more_rows(more) + (files_.size() > 1 ? " in " + file.name : "");
    }
    if (others > 0) text += more_rows(others) + " in other files";
    if (may_skip) text += skip_remedy;
    throw Error(text);
  }

 private:
  struct File {
    std::string name;
    std::int64_t count = 0;
    std::string text = {};  ///< one line for each of the first rows
  };

  /// Returns the index of the file in `files_`. A reader of two files alternates between them.
  std::size_t place_of(const std::string& name) {
    for (std::size_t place = files_.size(); place-- > 0;)
      if (files_[place].name == name) return place;
    files_.push_back({.name = name});
    return files_.size() - 1;
  }
  static std::string more_rows(std::int64_t count) {
    return count == 1 ? "\nand 1 more row like these"
                      : "\nand " + std::to_string(count) + " more rows like these";
  }

  static constexpr int most_listed = 10;  ///< most listed rows of a file
  static constexpr std::size_t most_files = 10;

  std::int64_t count_ = 0;
  std::string first_;
  std::vector<File> files_;  ///< those with problems, in their order
};

}  // namespace encore
