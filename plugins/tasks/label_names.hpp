// SPDX-License-Identifier: BSD-3-Clause
// LabelNames: the labels of all sets with their numbers; first those that the model distinguishes, then those
// that occur only in other sets. All tasks with labels use it: prepare() adds the labels of the training set,
// examples hold numbers. The order is stored with a run and must not change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace encore::tasks {

class LabelNames {
 public:
  LabelNames() = default;
  /// Throws Error if a label is empty or occurs twice.
  explicit LabelNames(const std::vector<std::string>& labels);
  /// Reads what text() wrote: one label per line; after an empty line, labels that only other sets have.
  /// Throws Error if the text is invalid.
  static LabelNames from_text(std::string_view text);
  std::string text() const;
  /// Returns the classes of an imported model, in its order. Throws Error if there are fewer than two, or if
  /// text() cannot represent a name.
  static LabelNames adopted(const std::vector<std::string>& classes);

  /// Adds a label, which may be known already.
  void add(const std::string& label);
  /// Throws Error for a label that was never added.
  std::int32_t number(const std::string& label) const;
  bool is_label(std::int32_t number) const { return static_cast<std::size_t>(number) < labels_; }
  const std::string& name(std::int32_t number) const { return names_[static_cast<std::size_t>(number)]; }
  std::vector<std::string> labels() const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::size_t labels_ = 0;  ///< the number of names that the model distinguishes; they come first
};

}  // namespace encore::tasks
