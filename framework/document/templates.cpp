// SPDX-License-Identifier: BSD-3-Clause
// Implements Templates and fill(): finds the template of a format among the user's files or those of
// reports/, and replaces its placeholders. html.cpp, markdown.cpp, latex.cpp and report/attention_page.cpp
// use it. Read templates.hpp first; docs/guides/reports.md lists the placeholders.
#include "document/templates.hpp"

#include <algorithm>
#include <set>

#include <encore/error.hpp>

#include "base/load_file.hpp"
#include "base/nearest.hpp"

namespace encore::document {

namespace fs = std::filesystem;

namespace {

bool in_name(char letter) {
  return (letter >= 'a' && letter <= 'z') || letter == '_';
}

/// Returns the end of the placeholder that begins at `begin` with "{{", or npos if it is not valid.
std::size_t end_of_placeholder(const std::string& text, std::size_t begin) {
  std::size_t at = begin + 2;
  while (at < text.size() && in_name(text[at])) ++at;
  return at > begin + 2 && text.compare(at, 2, "}}") == 0 ? at + 2 : std::string::npos;
}

std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

}  // namespace

Templates::Templates(fs::path installed, fs::path own)
    : installed_(std::move(installed)), own_(std::move(own)) {
  if (!own_.empty() && !fs::exists(own_))
    throw Error("--template names " + own_.string() +
                ", which does not exist; give a file such as report.html or a folder "
                "with such files");
}

Templates::Source Templates::find(const std::string& name) const {
  fs::path file = installed_ / name;
  const std::string ending = fs::path(name).extension().string();
  if (fs::is_directory(own_)) {
    if (fs::exists(own_ / name)) file = own_ / name;
  } else if (!own_.empty() && own_.extension() == ending) {
    file = own_;
  }
  return {file, load_text(file, "template " + name)};
}

std::string fill(const Templates::Source& source, const Values& values,
                 const std::vector<std::string>& required) {
  const std::string& text = source.text;
  std::string result;
  std::set<std::string> seen;
  std::size_t done = 0;
  for (std::size_t at = text.find("{{"); at != std::string::npos; at = text.find("{{", at)) {
    const std::size_t end = end_of_placeholder(text, at);
    if (end == std::string::npos) {
      ++at;
      continue;
    }
    const std::string name = text.substr(at + 2, end - at - 4);
    const auto value = values.find(name);
    if (value == values.end()) {
      const auto begin = text.begin();
      const auto line = 1 + std::count(begin, begin + static_cast<std::ptrdiff_t>(at), '\n');
      const std::vector<std::string> names = names_of(values);
      throw Error(source.file.string() + ":" + std::to_string(line) + ": unknown placeholder \"{{" + name +
                  "}}\"" + did_you_mean(name, names, "; there is " + quoted_list(names)));
    }
    result.append(text, done, at - done);
    result += value->second;
    seen.insert(name);
    done = at = end;
  }
  for (const std::string& name : required)
    if (!seen.contains(name))
      throw Error(source.file.string() + ": the placeholder \"{{" + name +
                  "}}\" is missing; without it the document would be incomplete");
  return result + text.substr(done);
}

}  // namespace encore::document
