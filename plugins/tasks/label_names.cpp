// SPDX-License-Identifier: BSD-3-Clause
// LabelNames: a list of names, in which the index of a label is its number, and the text that stores the
// list. The tasks with labels call it; runs store the text as knowledge, so its form and the order of the
// names must not change. Read label_names.hpp first.
#include "label_names.hpp"

#include <algorithm>

#include <encore/error.hpp>

namespace encore::tasks {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

LabelNames::LabelNames(const std::vector<std::string>& labels) {
  if (labels.empty()) throw Error("a list of labels needs at least one label");
  for (const std::string& label : labels) {
    if (label.empty())
      throw Error("label " + std::to_string(names_.size()) + " of the list of labels is empty");
    if (numbers_.contains(label)) throw Error("the list of labels names \"" + label + "\" twice");
    add(label);
  }
  labels_ = names_.size();
}

LabelNames LabelNames::from_text(std::string_view text) {
  const std::size_t parting = std::min(text.find("\n\n"), text.size());
  LabelNames names(lines_of(text.substr(0, parting)));
  if (parting < text.size())
    for (const std::string& label : lines_of(text.substr(parting + 2))) names.add(label);
  return names;
}

LabelNames LabelNames::adopted(const std::vector<std::string>& classes) {
  if (classes.size() < 2)
    throw Error("id2label names " + std::to_string(classes.size()) +
                (classes.size() == 1 ? " class" : " classes") +
                ": expected at least 2; for the vectors of its encoder, import it with --task embed");
  for (const std::string& name : classes)
    if (name.find_first_of("\n\r") != std::string::npos)
      throw Error("the name of a class has a line break: \"" + name + "\"");
  return LabelNames(classes);
}

std::string LabelNames::text() const {
  std::string text;
  for (std::size_t i = 0; i < names_.size(); ++i) text += (i == labels_ ? "\n" : "") + names_[i] + "\n";
  return text;
}

void LabelNames::add(const std::string& label) {
  if (numbers_.emplace(label, static_cast<std::int32_t>(names_.size())).second) names_.push_back(label);
}

std::int32_t LabelNames::number(const std::string& label) const {
  const auto found = numbers_.find(label);
  if (found == numbers_.end()) throw Error("unknown label \"" + label + "\": it is in none of the data sets");
  return found->second;
}

std::vector<std::string> LabelNames::labels() const {
  return {names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(labels_)};
}

}  // namespace encore::tasks
