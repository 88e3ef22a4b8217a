// Task "my_plugin": one label per text, read off the first row of its sequence ([CLS]); scored by accuracy.
// It reads the field `text`, and `label` for training and scores. Trainer and inference call it through Task
// (encore/task.hpp). You may change everything here; README.md lists the rules.
#include <algorithm>
#include <sstream>

#include <encore/plugin.hpp>

namespace my_plugin_task {

using namespace encore;

class MyPluginTask final : public Task {
 public:
  static constexpr const char* summary =
      "one label per text, predicted from its first row; scored by accuracy";
  static constexpr const char* select = "max dev/accuracy";
  static Schema options() {
    return Schema().choice("keep", "start", {"start", "end"},
                           {.help = "the part to keep of a text that is too long"});
  }
  static TaskFields fields() { return {.structure = {"text"}, .truth = {"label"}}; }
  /// All results follow from the counts of `measure`, so progress, tables, tests and reports know no task.
  static std::vector<Measure> measures() {
    return {{.name = "accuracy",
             .help = "share of the examples with the right label",
             .fraction = true,
             .reducer = Reducer::ratio,
             .columns = {"right", "texts"}},
            {.name = "confusion",
             .help = "examples by their true label and the predicted one",
             .better = Better::neither,
             .reducer = Reducer::matrix,
             .columns = {"confusion"}}};
  }

  MyPluginTask(const Options& options, const TaskContext& context)
      : keep_end_(options.text("keep") == "end"), most_(static_cast<std::size_t>(context.max_length) - 2) {}

  void prepare(const Records& train) override {
    names_ = train.texts("label");
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    if (names_.size() < 2) throw Error("the training set has only one label, so there is nothing to learn");
    classes_ = names_.size();
  }
  /// Adds labels that only another set has: they are not classes of the model, but the truth of that set.
  void extend(const Records& other) override {
    if (!other.has("label")) return;
    for (const std::string& label : other.texts("label"))
      if (std::find(names_.begin(), names_.end(), label) == names_.end()) names_.push_back(label);
  }
  std::string knowledge() const override {
    std::ostringstream text;
    text << classes_ << '\n';
    for (const std::string& name : names_) text << name.size() << ' ' << name << '\n';
    return text.str();
  }
  void restore(std::string_view knowledge) override {
    std::istringstream text{std::string(knowledge)};
    text >> classes_;
    names_.clear();
    for (std::size_t size = 0; text >> size && size <= knowledge.size();) {
      names_.emplace_back(size, ' ');
      text.ignore(1).read(names_.back().data(), static_cast<std::streamsize>(size));
    }
    if (classes_ == 0 || classes_ > names_.size()) throw Error("the labels of the run cannot be read");
  }
  std::vector<std::string> labels() const override {
    return {names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(classes_)};
  }
  TextCounts text_counts(const Records& train) const override {
    TextCounts counts;
    for (const std::string& text : train.texts("text")) {
      std::istringstream words(text);
      for (std::string word; words >> word;) ++counts[word];
    }
    return counts;
  }

  std::vector<ColumnRule> columns() const override {
    return {{.name = targets_column, .space = Space::sequences, .truth = true},
            {.name = "truth", .space = Space::sequences, .truth = true}};
  }
  /// Encodes [CLS] tokens [SEP] and the class of the whole text. Called from several threads at once.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override {
    std::vector<std::int32_t> tokens;
    tokenizer.encode(records.texts("text")[record], tokens);
    const std::size_t kept = std::min(tokens.size(), most_), first = keep_end_ ? tokens.size() - kept : 0;
    to.ids.push_back(tokenizer.special(Special::start));
    for (std::size_t i = 0; i < kept; ++i) to.ids.push_back(tokens[first + i]);
    to.ids.push_back(tokenizer.special(Special::end));
    if (!records.has("label")) return;
    const std::size_t truth = number(records.texts("label")[record]);
    to.integers(0).push_back(truth < classes_ ? static_cast<std::int32_t>(truth) : no_target);
    to.integers(1).push_back(static_cast<std::int32_t>(truth));
  }
  SetDescription describe(const ExampleSet& set) const override {
    return {.counts = {{"texts", set.size()}}, .notes = {}};
  }

  std::vector<OutputRule> outputs() const override {
    return {{.name = classes_output, .space = Space::sequences, .truth = targets_column}};
  }
  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override {
    for (std::size_t i = 0; i < set.size(); ++i) {
      const auto number = static_cast<std::size_t>(set.integers(set.column("truth"), i).front());
      const std::string &truth = names_[number], &found = predicted(set, outputs, i);
      statistics.begin_example();
      statistics.add("texts", 1);
      statistics.add("right", truth == found);
      statistics.add("confusion", 1, truth, found);
    }
  }
  Records label(const Records&, const ExampleSet& set, const Outputs& outputs) const override {
    Records::Texts labels;
    for (std::size_t i = 0; i < set.size(); ++i) labels.push_back(predicted(set, outputs, i));
    Records records;
    records.add("label", std::move(labels));
    return records;
  }

  Records from_text(std::span<const std::string> lines) const override {
    Records records;
    records.add("text", Records::Texts(lines.begin(), lines.end()));
    return records;
  }
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override {
    Records answers = label(records, set, outputs);
    Records::Texts shown = answers.texts("label");
    for (std::size_t i = 0; i < shown.size(); ++i) shown[i] += "\t" + records.texts("text")[i];
    answers.add("text", records.texts("text"));
    answers.add("shown", std::move(shown));
    return answers;
  }

 private:
  std::size_t number(const std::string& label) const {
    const auto found = std::find(names_.begin(), names_.end(), label);
    if (found == names_.end()) throw Error("unknown label \"" + label + "\": it is in none of the data sets");
    return static_cast<std::size_t>(found - names_.begin());
  }
  const std::string& predicted(const ExampleSet& set, const Outputs& outputs, std::size_t example) const {
    return names_[static_cast<std::size_t>(outputs.integers(classes_output, set, example).front())];
  }

  bool keep_end_;
  std::size_t most_;                // tokens beside the two markers
  std::vector<std::string> names_;  // the classes, then other labels
  std::size_t classes_ = 0;
};

}  // namespace my_plugin_task

ENCORE_PLUGIN("my_plugin", "1.0.0") {
  plugin.add<encore::Kind::task, my_plugin_task::MyPluginTask>("my_plugin");
}
