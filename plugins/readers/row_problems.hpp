// RowProblems: the rows of files that cannot be read, so that a person mends them all at once; the first ones
// with what is wrong with each. Place in the flow: a reader adds while it reads -> require_none throws, or
// where bad rows are skipped, skipped() says it.
#pragma once

#include <cstdint>
#include <string>

#include <encore/error.hpp>

namespace encore {

class RowProblems {
 public:
  void add(const std::string& file, std::int64_t line, const std::string& message) {
    const std::string text = file + ":" + std::to_string(line) + ": " + message;
    if (++count_ == 1) first_ = text;
    if (count_ <= most_listed) text_ += (count_ > 1 ? "\n" : "") + text;
  }
  std::int64_t count() const { return count_; }
  /// "train.tsv:7: ...", where there is any.
  const std::string& first() const { return first_; }
  /// "2 of 140 rows are skipped; the first: train.tsv:7: ...", for the log of a run.
  std::string skipped(std::int64_t rows) const {
    return std::to_string(count_) + " of " + std::to_string(rows) +
           (count_ == 1 ? " rows is skipped: " : " rows are skipped; the first: ") + first_;
  }
  /// Throws Error that names them.
  void require_none() const {
    if (count_ == 0) return;
    const std::int64_t more = count_ - most_listed;
    throw Error(text_ + (more <= 0   ? ""
                         : more == 1 ? "\nand 1 more row like these"
                                     : "\nand " + std::to_string(more) + " more rows like these"));
  }

 private:
  static constexpr int most_listed = 10;

  std::int64_t count_ = 0;
  std::string text_, first_;
};

}  // namespace encore
