// SPDX-License-Identifier: BSD-3-Clause
// Counted nouns, lists of names, grouped digits and the natural order of names, for sentences and tables.
// The folders report, analysis and cli call it. No program reads the words back, so they may change. Read
// readable_text.hpp first.
#include "base/readable_text.hpp"

namespace encore {

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
  return thousands(static_cast<std::int64_t>(count)) + " " +
         (count == 1     ? one
          : many.empty() ? one + "s"
                         : many);
}

std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

std::string thousands(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > (count < 0 ? 4u : 3u);) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

bool natural_less(const std::string& a, const std::string& b) {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string left = number(a, i), right = number(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

}  // namespace encore
