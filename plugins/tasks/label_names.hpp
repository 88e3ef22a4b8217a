// LabelNames: the labels of all sets by number, those that the model tells apart first. Shared by the tasks
// that give labels. Place in the flow: the training set gives the labels, the other sets may add some;
// examples hold numbers.
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
  /// Throws Error on an empty or doubled label.
  explicit LabelNames(const std::vector<std::string>& labels);
  /// From text(): the labels, one per line; then, behind an empty line, those that only other sets have.
  /// Throws Error.
  static LabelNames from_text(std::string_view text);
  std::string text() const;
  /// The classes of a model from elsewhere, in its order. Throws Error where there are fewer than two, or a
  /// name that text() could not hold.
  static LabelNames adopted(const std::vector<std::string>& classes);

  /// A label that may be known already.
  void add(const std::string& label);
  /// Throws Error for a label that was never added.
  std::int32_t number(const std::string& label) const;
  bool is_label(std::int32_t number) const { return static_cast<std::size_t>(number) < labels_; }
  const std::string& name(std::int32_t number) const { return names_[static_cast<std::size_t>(number)]; }
  std::vector<std::string> labels() const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::size_t labels_ = 0;
};

}  // namespace encore::tasks
