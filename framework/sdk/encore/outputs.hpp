// SPDX-License-Identifier: BSD-3-Clause
// Outputs: what the model computes for a data set, as named values. Each output has a fixed number of values
// for each row of a space (Space in examples.hpp: tokens, sequences and others). OutputRule says which
// outputs a head gives and a task reads. Head::decode writes the values, the host puts them back into the
// order of the data set, and Task::measure, label and answer read them. Read next: task.hpp. The header is
// part of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <encore/decoding.hpp>
#include <encore/error.hpp>
#include <encore/examples.hpp>

namespace encore {

/// Describes one output that a head gives and a task reads: values over the rows of a space.
struct OutputRule {
  std::string name;  ///< "logits", "spans", "embedding"
  Space space = Space::tokens;
  ColumnType type = ColumnType::integers;
  std::int64_t width = 1;  ///< values per row; a task says 0 where it takes any
  /// In the rule of a task: the column with the values that a perfect model would give; "": there is none.
  std::string truth = {};
  /// In the rule of a head: the head writes the output only on request, such as for the probabilities of
  /// answers. outputs() of a task cannot name it.
  bool on_request = false;

  friend bool operator==(const OutputRule&, const OutputRule&) = default;
};

/// By convention, the name of the output of a classifying head with the number of the best class.
inline constexpr const char* classes_output = "classes";

/// The outputs of the model for a whole data set. While one thread changes the object, no other may use it.
class Outputs {
 public:
  struct Values {
    OutputRule rule;
    std::vector<std::int32_t> integers;
    std::vector<float> numbers;
  };

  Outputs() = default;
  /// Makes outputs of these rules, with zeros for every row of the set.
  Outputs(const ExampleSet& set, const std::vector<OutputRule>& rules) {
    for (const OutputRule& rule : rules) {
      Values values = {rule, {}, {}};
      const std::size_t count = set.rows(rule.space) * static_cast<std::size_t>(rule.width);
      if (rule.type == ColumnType::integers)
        values.integers.resize(count);
      else
        values.numbers.resize(count);
      all_.push_back(std::move(values));
    }
  }

  const std::vector<Values>& all() const { return all_; }
  std::vector<Values>& all() { return all_; }
  /// Returns an output by name. Throws Error if there is none.
  const Values& get(std::string_view name) const {
    for (const Values& values : all_)
      if (values.rule.name == name) return values;
    throw Error("the model gives no output \"" + std::string(name) + "\"");
  }
  /// Returns the outputs that were generated for a sequence, the best first, for a task with Task::decoding.
  /// Throws Error if there are none.
  const std::vector<GeneratedText>& texts(std::size_t sequence) const {
    if (sequence >= texts_.size()) throw Error("no text was generated for this sequence");
    return texts_[sequence];
  }
  bool has_texts() const { return !texts_.empty(); }
  /// Sets the generated outputs, indexed by sequence of the set.
  void set_texts(std::vector<std::vector<GeneratedText>> texts) { texts_ = std::move(texts); }

  /// Return the values of one sequence, `width` for each of its rows. The result is valid as long as this
  /// object. Throw Error if there is no such output.
  std::span<const std::int32_t> integers(std::string_view name, const ExampleSet& set,
                                         std::size_t sequence) const {
    const Values& values = get(name);
    return part(std::span(values.integers), values.rule, set, sequence);
  }
  std::span<const float> numbers(std::string_view name, const ExampleSet& set, std::size_t sequence) const {
    const Values& values = get(name);
    return part(std::span(values.numbers), values.rule, set, sequence);
  }

 private:
  /// Returns the values of the rows of one sequence. A Run (examples.hpp) is a range of rows.
  template <class T>
  static std::span<const T> part(std::span<const T> all, const OutputRule& rule, const ExampleSet& set,
                                 std::size_t sequence) {
    const Run of = set.rows(rule.space, sequence);
    const auto width = static_cast<std::size_t>(rule.width);
    return all.subspan(width * of.first, width * of.count);
  }

  std::vector<Values> all_;
  std::vector<std::vector<GeneratedText>> texts_;
};

}  // namespace encore
