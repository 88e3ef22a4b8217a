// RowProblems: the rows of files that cannot be read, so that a person mends them all at once; the first ones
// with what is wrong with each. Place in the flow: a reader adds while it reads -> require_none throws.
#pragma once

#include <cstdint>
#include <string>

#include <encore/error.hpp>

namespace encore {

class RowProblems {
 public:
  void add(const std::string& file, std::int64_t line, const std::string& message) {
    if (++count_ <= most_listed)
      text_ += (count_ > 1 ? "\n" : "") + file + ":" + std::to_string(line) + ": " + message;
  }
  /// Throws Error that names them.
  void require_none() const {
    if (count_ == 0) return;
    const int more = count_ - most_listed;
    throw Error(text_ + (more <= 0   ? ""
                         : more == 1 ? "\nand 1 more row like these"
                                     : "\nand " + std::to_string(more) + " more rows like these"));
  }

 private:
  static constexpr int most_listed = 10;

  int count_ = 0;
  std::string text_;
};

}  // namespace encore
