// SPDX-License-Identifier: BSD-3-Clause
// Expression: a regular expression of RE2 whose named groups are the labels of what it finds. match.cpp makes
// one for each entry of the option `expressions`. RE2 needs time that is linear in the text for every
// expression and text, so a request cannot make a server wait. Read next: expression.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <encore/records.hpp>

namespace re2 {
class RE2;
}

namespace encore::match {

/// Constant functions may be called by several threads at once.
class Expression {
 public:
  /// Throws OptionError with the reason and, where RE2 names it, the place, if the pattern is not an
  /// expression or has no group with a name.
  explicit Expression(const std::string& pattern);
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  /// Adds a span for each named group of each match, from left to right; matches do not overlap. A group
  /// that is empty or has no part in a match gives none. The text is UTF-8.
  void find_in(const std::string& text, std::vector<TextSpan>& spans) const;

 private:
  std::unique_ptr<re2::RE2> expression_;
  std::map<int, std::string> labels_;  ///< by the number of the group
};

}  // namespace encore::match
