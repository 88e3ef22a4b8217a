// See labels.hpp.
#include "data/labels.hpp"

#include <sstream>

#include <encore/error.hpp>

#include "data/file.hpp"

namespace encore {

Labels::Labels(std::vector<std::string> names) : names_(std::move(names)) {
  if (names_.empty()) throw Error("a list of labels needs at least one label");
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i].empty()) throw Error("label " + std::to_string(i) + " of the list of labels is empty");
    if (!numbers_.emplace(names_[i], static_cast<std::int32_t>(i)).second)
      throw Error("the list of labels names \"" + names_[i] + "\" twice");
  }
}

std::int32_t Labels::number(std::string_view name) const {
  const auto found = numbers_.find(std::string(name));
  return found == numbers_.end() ? -1 : found->second;
}

Labels make_labels(const Dataset& train) {
  if (train.entities.empty())
    throw Error(
        train.path +
        ": no word of the training set belongs to an entity (every tag is O); there is nothing to learn");
  std::vector<std::string> names = {"O"};
  for (const auto& [type, count] : train.entities) {
    names.push_back("B-" + type);
    names.push_back("I-" + type);
  }
  return Labels(std::move(names));
}

Labels load_labels(const std::filesystem::path& path) {
  std::istringstream lines(load_text(path, "list of labels"));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  return Labels(std::move(names));
}

std::string labels_text(const Labels& labels) {
  std::string text;
  for (const std::string& name : labels.names()) text += name + '\n';
  return text;
}

}  // namespace encore
