// SPDX-License-Identifier: BSD-3-Clause
// The task "copy" of the plugin "seams", which exists for the tests of this folder. It shows that a task of a
// plugin can use a model with an encoder and a decoder: the model reads the first text and must write the
// second, word by word. seams_test.cpp trains it with the head "tied_words", whose output "words" it measures
// as "right"; these names must stay. Read next: parts.hpp.
#include <algorithm>

#include <encore/plugin.hpp>

#include "seams/parts.hpp"

namespace encore_seams {

using namespace encore;

class Copy final : public Task {
 public:
  static constexpr const char* select = "max dev/right";
  static Schema options() { return {}; }
  static TaskFields fields() { return {{"text"}, {"text2"}}; }
  static std::vector<Measure> measures() {
    return {{.name = "right", .fraction = true, .reducer = Reducer::ratio, .columns = {"right", "all"}}};
  }
  Copy(const Options&, const TaskContext& context) : most_(static_cast<std::size_t>(context.max_length)) {}

  void prepare(const Records&) override {}
  std::string knowledge() const override { return "copy\n"; }
  void restore(std::string_view) override {}
  TextCounts text_counts(const Records& train) const override {
    TextCounts counts;
    for (const std::string& text : train.texts("text")) ++counts[text];
    return counts;
  }
  std::vector<ColumnRule> columns() const override {
    return {{.name = "next", .space = Space::target, .truth = true}};
  }
  /// Encodes an example: the decoder reads [CLS] and the words of the second text, and must write the words
  /// and [SEP].
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override {
    tokenizer.encode(records.texts("text")[record], to.ids);
    to.ids.resize(std::min(to.ids.size(), most_));
    if (to.ids.empty()) to.ids.push_back(tokenizer.special(Special::unknown));
    to.target_ids.push_back(tokenizer.special(Special::start));
    if (!records.has("text2")) return;
    tokenizer.encode(records.texts("text2")[record], to.target_ids);
    to.target_ids.resize(std::min(to.target_ids.size(), most_));
    to.integers(0).assign(to.target_ids.begin() + 1, to.target_ids.end());
    to.integers(0).push_back(tokenizer.special(Special::end));
  }
  SetDescription describe(const ExampleSet&) const override { return {}; }

  std::vector<OutputRule> outputs() const override {
    return {{.name = "words", .space = Space::target, .truth = "next"}};
  }
  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override {
    const std::size_t next = set.column("next");
    for (std::size_t i = 0; i < set.size(); ++i) {
      const auto truth = set.integers(next, i), said = outputs.integers("words", set, i);
      statistics.begin_example();
      double right = 0;
      for (std::size_t k = 0; k < truth.size(); ++k) right += truth[k] == said[k];
      statistics.add("all", static_cast<double>(truth.size()));
      statistics.add("right", right);
    }
  }
  /// Returns the input and not what the model wrote: no test compares the labels.
  Records label(const Records& records, const ExampleSet&, const Outputs&) const override {
    Records labelled;
    labelled.add("text2", records.texts("text"));
    return labelled;
  }

 private:
  std::size_t most_;
};

void add_copy(Registrar& plugin) {
  plugin.add<Kind::task, Copy>("copy");
}

}  // namespace encore_seams
