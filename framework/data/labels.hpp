// The list of labels a model tells apart, and their numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/conll.hpp"

namespace encore {

/// "O", then for each entity type in sorted order `B-<type>` and `I-<type>`.
class Labels {
 public:
  Labels() = default;
  /// Takes any list of distinct labels, as read back from a run's folder. Throws Error on an empty or doubled
  /// one.
  explicit Labels(std::vector<std::string> names);

  std::int64_t size() const { return static_cast<std::int64_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name(std::int32_t label) const { return names_[static_cast<std::size_t>(label)]; }
  /// -1 when there is no such label.
  std::int32_t number(std::string_view name) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

/// The labels of a training set. Throws Error when it holds no entity at all.
Labels make_labels(const Dataset& train);

/// A file with one label per line.
Labels load_labels(const std::filesystem::path& path);
/// The content of such a file.
std::string labels_text(const Labels& labels);

}  // namespace encore
