// TagNames: the tags of all sets by number, those that the model tells apart first.
// Place in the flow: the training set gives the labels, the other sets may add tags; examples hold numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace encore::ner {

class TagNames {
 public:
  TagNames() = default;
  /// Throws Error on an empty or doubled label.
  explicit TagNames(const std::vector<std::string>& labels);
  /// From text(): the labels, one per line; then, behind an empty line, the other tags. Throws Error.
  static TagNames from_text(std::string_view text);
  std::string text() const;

  /// A tag that may be known already.
  void add(const std::string& tag);
  /// Throws Error for a tag that was never added.
  std::int32_t number(const std::string& tag) const;
  bool is_label(std::int32_t number) const { return static_cast<std::size_t>(number) < labels_; }
  const std::string& name(std::int32_t number) const { return names_[static_cast<std::size_t>(number)]; }
  std::vector<std::string> labels() const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::size_t labels_ = 0;
};

}  // namespace encore::ner
