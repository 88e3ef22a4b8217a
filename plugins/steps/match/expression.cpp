// SPDX-License-Identifier: BSD-3-Clause
// Compiles a regular expression and finds its matches in a text. match.cpp calls it. Read expression.hpp
// first.
#include "expression.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <encore/options.hpp>

#include "text_places.hpp"

namespace encore::match {
namespace {

constexpr const char* option = "expressions";

[[noreturn]] void refuse(const std::string& pattern, const std::string& reason) {
  throw OptionError(option, "invalid expressions \"" + pattern + "\": " + reason);
}

/// Returns " at character 7" for the place that RE2 blames, or "" if that is the whole pattern.
std::string place_of(const std::string& blamed, const std::string& pattern) {
  const std::size_t at = pattern.find(blamed);
  if (blamed.empty() || blamed == pattern || at == std::string::npos) return "";
  return " at character " + std::to_string(code_points_before(pattern, at) + 1);
}

/// Returns "item.amount" for "item__amount".
std::string label_of(std::string name) {
  for (std::size_t at = 0; (at = name.find("__", at)) != std::string::npos; ++at) name.replace(at, 2, ".");
  return name;
}

}  // namespace

Expression::Expression(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  expression_ = std::make_unique<RE2>(pattern, options);
  if (!expression_->ok())
    refuse(pattern, expression_->error() + place_of(expression_->error_arg(), pattern) +
                        "; expected a regular expression in the notation of RE2");
  for (const auto& [number, name] : expression_->CapturingGroupNames()) labels_[number] = label_of(name);
  if (labels_.empty())
    refuse(pattern,
           "it has no group with a name: expected (?P<NAME>...) around the value, where NAME is the "
           "label");
}

Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

void Expression::find_in(const std::string& text, std::vector<TextSpan>& spans) const {
  using Part = re2::StringPiece;
  const int groups = expression_->NumberOfCapturingGroups() + 1;
  std::vector<Part> parts(static_cast<std::size_t>(groups));
  const Part whole(text);
  std::size_t from = 0, counted = 0;  // bytes
  std::int64_t points = 0;            // code points before `counted`
  const auto point_at = [&](std::size_t byte) {
    if (byte < counted) return code_points_before(text, byte);
    points += code_points_before(std::string_view(text).substr(counted), byte - counted);
    counted = byte;
    return points;
  };
  while (from <= text.size() &&
         expression_->Match(whole, from, text.size(), RE2::UNANCHORED, parts.data(), groups)) {
    std::vector<std::pair<std::size_t, TextSpan>> found;
    for (const auto& [number, label] : labels_) {
      const Part& part = parts[static_cast<std::size_t>(number)];
      if (part.empty()) continue;
      found.emplace_back(static_cast<std::size_t>(part.data() - text.data()),
                         TextSpan{.label = label, .text = std::string(part.data(), part.size())});
    }
    std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
    for (auto& [byte, span] : found) {
      span.start = point_at(byte);
      span.end = span.start + code_points_before(span.text, span.text.size());
      spans.push_back(std::move(span));
    }
    const std::size_t end = static_cast<std::size_t>(parts[0].data() - text.data()) + parts[0].size();
    from = end;
    if (parts[0].empty()) {  // an empty match: the next one begins behind the next character
      ++from;
      while (from < text.size() && continues_character(text[from])) ++from;
    }
  }
}

}  // namespace encore::match
