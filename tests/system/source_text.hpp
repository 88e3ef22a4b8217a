// SPDX-License-Identifier: BSD-3-Clause
// C++ source as the tests of the tree (layout_test.cpp, source_text_test.cpp) read it: its comments, and the
// types that it defines in namespaces. A scanner of words and braces, not a parser: it is enough for the
// layout that .clang-format gives, so a change of .clang-format may need one here.
#pragma once

#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore::testing {

/// The source with its literals emptied ("" in place of "text"), and either its comments or all but them.
struct SourceText {
  std::string code;      ///< without comments
  std::string comments;  ///< the comments alone, with all line breaks, so that lines keep their numbers
};

inline SourceText split_source(std::string_view source) {
  SourceText split;
  const auto line_break = [&] {
    split.code += '\n';
    split.comments += '\n';
  };
  const auto is_word = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
  };
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    if (rest.starts_with("//")) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      split.comments += rest.substr(2, end - 2);
      at += end;
    } else if (rest.starts_with("/*")) {
      const std::size_t end = std::min(rest.find("*/", 2), rest.size() - 2) + 2;
      for (const char letter : rest.substr(0, end))
        letter == '\n' ? line_break() : split.comments.push_back(letter);
      at += end;
    } else if (rest.starts_with("R\"") && (at == 0 || !is_word(source[at - 1]))) {
      const std::size_t open = rest.find('(');
      const std::string close = ")" + std::string(rest.substr(2, open - 2)) + "\"";
      const std::size_t end = std::min(rest.find(close, open), rest.size() - close.size()) + close.size();
      split.code += "\"\"";
      for (const char letter : rest.substr(0, end))
        if (letter == '\n') line_break();
      at += end;
    } else if (rest.front() == '"' || (rest.front() == '\'' && (at == 0 || !is_word(source[at - 1])))) {
      std::size_t end = 1;
      while (end < rest.size() && rest[end] != rest.front()) end += rest[end] == '\\' ? 2 : 1;
      split.code += "\"\"";
      at += std::min(end + 1, rest.size());
    } else if (rest.front() == '\n') {
      line_break();
      ++at;
    } else {
      split.code += rest.front();
      ++at;
    }
  }
  return split;
}

/// Words and single signs of code, "::" as one of them.
inline std::vector<std::string> words_of(const std::string& code) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < code.size();) {
    std::size_t end = at;
    while (end < code.size() &&
           (std::isalnum(static_cast<unsigned char>(code[end])) != 0 || code[end] == '_'))
      ++end;
    if (end == at) end += code.compare(at, 2, "::") == 0 ? 2 : 1;
    if (std::isspace(static_cast<unsigned char>(code[at])) == 0) words.push_back(code.substr(at, end - at));
    at = end;
  }
  return words;
}

/// The names of the classes, unions and enumerations that the source defines in named namespaces, such as
/// "encore::Metric"; none that is a member of a class or that lies in an unnamed namespace.
inline std::vector<std::string> types_defined_in(std::string_view source) {
  const std::vector<std::string> words = words_of(split_source(source).code);
  std::vector<std::string> types;
  // A name for each open brace: of a namespace; nothing for a brace whose types are not visible elsewhere.
  std::vector<std::optional<std::string>> open;
  const auto qualified = [&](const std::string& name) -> std::optional<std::string> {
    std::string text;
    for (const std::optional<std::string>& scope : open) {
      if (!scope) return std::nullopt;
      text += *scope + "::";
    }
    return text + name;
  };
  // The words since the last ';', '{' or '}' decide what a brace opens.
  std::size_t first = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "}") {
      if (!open.empty()) open.pop_back();
    } else if (words[i] == "{") {
      std::optional<std::string> scope;
      for (std::size_t at = first; at < i; ++at) {
        if (words[at] == "(" || words[at] == "=") break;  // a function, a variable
        if (words[at] == "<") {                           // parameters of a template
          for (int depth = 1; depth > 0 && ++at < i;)
            depth += words[at] == "<" ? 1 : words[at] == ">" ? -1 : 0;
          continue;
        }
        if (words[at] == "namespace") {
          std::string name;
          for (++at; at < i; ++at) name += words[at];
          if (!name.empty()) scope = name;
          break;
        }
        const bool is_enum = words[at] == "enum";
        if (!is_enum && words[at] != "struct" && words[at] != "class" && words[at] != "union") continue;
        if (is_enum && at + 1 < i && (words[at + 1] == "class" || words[at + 1] == "struct")) ++at;
        if (at + 2 < i && words[at + 1] == "alignas" && words[at + 2] == "(") {
          at += 2;
          for (int depth = 1; depth > 0 && ++at < i;)
            depth += words[at] == "(" ? 1 : words[at] == ")" ? -1 : 0;
        }
        if (at + 1 < i && !(at + 2 < i && (words[at + 2] == "::" || words[at + 2] == "<")))
          if (const auto name = qualified(words[at + 1])) types.push_back(*name);
        break;
      }
      open.push_back(scope);
    }
    if (words[i] == "{" || words[i] == "}" || words[i] == ";") first = i + 1;
  }
  return types;
}

}  // namespace encore::testing
