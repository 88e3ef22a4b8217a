// LabelNames: the labels of all sets by number, first those that the model distinguishes. Tasks that give
// labels share it. Place in the flow: the training set gives the labels, the other sets may add some;
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
  /// Reads what text() wrote: one label per line; then, after an empty line, those that only other sets have.
  /// Throws Error.
  static LabelNames from_text(std::string_view text);
  std::string text() const;
  /// Takes the classes of an imported model, in its order. Throws Error if there are fewer than two, or if
  /// text() could not hold a name.
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
  std::size_t labels_ = 0;
};

}  // namespace encore::tasks
