// SPDX-License-Identifier: BSD-3-Clause
// Records: named fields with one value per record, as a reader makes them and a task understands them. Field
// names that readers and tasks share: id, words, tags, text, label, labels (several of one text), number,
// text2, negatives (a list of inputs that do not belong to text, as text2 does), context, question,
// answers, source, target, spans (two marked parts of a text, "e1" and "e2").
// Reader::read and Task::from_text make Records for Task::encode; Task::label and answer return Records too.
// Readers and tasks of different authors work together by these names, so a name never changes its meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <encore/error.hpp>

namespace encore {

/// A part of a text that has a name.
struct TextSpan {
  std::string label;
  std::string text;
  std::int64_t start = 0;  ///< in Unicode code points of the text
  std::int64_t end = 0;    ///< one past the last
  /// The probability of a predicted span (Task::scored_answer). A span of words with a label each has the
  /// mean over its words, and the smallest.
  std::optional<double> score = {}, least_score = {};

  friend bool operator==(const TextSpan&, const TextSpan&) = default;
};

/// R records with some fields, each with R values. Reading is safe from several threads; adding is not.
class Records {
 public:
  using Texts = std::vector<std::string>;                   ///< one text per record
  using TextLists = std::vector<std::vector<std::string>>;  ///< words, tags
  using Numbers = std::vector<double>;
  using SpanLists = std::vector<std::vector<TextSpan>>;
  using NumberLists = std::vector<std::vector<double>>;           ///< a vector per record
  using NumberMaps = std::vector<std::map<std::string, double>>;  ///< numbers by name, such as by label
  using NumberMapLists = std::vector<NumberMaps>;                 ///< one for each word of a record
  using Values = std::variant<Texts, TextLists, Numbers, SpanLists, NumberLists, NumberMaps, NumberMapLists>;
  struct Field {
    std::string name;
    Values values;
  };

  /// Adds a field. Throws Error if a field of this name exists or if its length differs from that of the
  /// others.
  void add(std::string name, Values values) {
    const std::size_t count = std::visit([](const auto& each) { return each.size(); }, values);
    if (find(name) != nullptr) throw Error("field \"" + name + "\" stands twice in the records");
    if (!fields_.empty() && count != size_)
      throw Error("field \"" + name + "\" has " + std::to_string(count) + " values for " +
                  std::to_string(size_) + " records");
    size_ = count;
    fields_.push_back({std::move(name), std::move(values)});
  }

  std::size_t size() const { return size_; }
  const std::vector<Field>& fields() const { return fields_; }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Return the values of a field, valid as long as this object. Throw Error if there is no such field or if
  /// it has another type.
  const Texts& texts(std::string_view name) const { return get<Texts>(name); }
  const TextLists& lists(std::string_view name) const { return get<TextLists>(name); }
  const Numbers& numbers(std::string_view name) const { return get<Numbers>(name); }
  const SpanLists& spans(std::string_view name) const { return get<SpanLists>(name); }
  const NumberLists& vectors(std::string_view name) const { return get<NumberLists>(name); }
  const NumberMaps& maps(std::string_view name) const { return get<NumberMaps>(name); }
  const NumberMapLists& map_lists(std::string_view name) const { return get<NumberMapLists>(name); }

  /// Remarks for the user about these records, such as the scheme of their tags, or rows that were repaired.
  std::vector<std::string> notes = {};

 private:
  const Field* find(std::string_view name) const {
    for (const Field& field : fields_)
      if (field.name == name) return &field;
    return nullptr;
  }
  template <class T>
  const T& get(std::string_view name) const {
    const Field* field = find(name);
    const T* values = field == nullptr ? nullptr : std::get_if<T>(&field->values);
    if (values == nullptr)
      throw Error("the records have no field \"" + std::string(name) + "\" of the requested type");
    return *values;
  }

  std::vector<Field> fields_;
  std::size_t size_ = 0;
};

}  // namespace encore
