// Step "my_plugin" of an application: gives a text its `label` if the text has enough of the `words`. fit()
// chooses on the development set how many words are enough. The worker calls the step through AppStep
// (encore/step.hpp). You may change everything here; README.md lists the rules.
#include <algorithm>

#include <encore/plugin.hpp>

namespace my_plugin_step {

using namespace encore;

class MyPluginStep final : public AppStep {
 public:
  static constexpr const char* summary = "gives a text its label if the text has enough words of a list";
  static constexpr const char* select = "max dev/f1";
  static Schema options() {
    return Schema()
        .text_list("words", {"rain", "snow", "wind"}, {.help = "words that speak for the label"})
        .text("label", "weather", {.help = "label of the records that the step finds"});
  }
  /// Each measure is computed from columns, to which measure() adds.
  static std::vector<Measure> measures() {
    return {{.name = "f1",
             .title = "F1",
             .help = "harmonic mean of precision and recall of the label",
             .fraction = true,
             .reducer = Reducer::harmonic_mean,
             .columns = {"right", "found", "true"}},
            {.name = "precision",
             .title = "Precision",
             .help = "share of the records with enough words that have the label",
             .fraction = true,
             .reducer = Reducer::ratio,
             .columns = {"right", "found"}}};
  }

  MyPluginStep(const Options& options, const StepContext&)
      : words_(options.text_list("words")), label_(options.text("label")) {
    if (words_.empty()) throw OptionError("words", "words is empty: expected at least one word");
  }

  /// Fields of the reader have their own names; those of an earlier step have its name in front:
  /// "intent.label".
  StepFields fields() const override {
    return {.reads = {"text"}, .truth = {"label"}, .gives = {"label", "words"}};
  }

  bool is_fitted() const override { return true; }
  /// Chooses the number of words with the highest F1 on the development set, the smallest one of equals.
  void fit(const StepSets& sets) override {
    const Records::Texts &texts = sets.dev.texts("text"), &labels = sets.dev.texts("label");
    const auto wanted = std::ranges::count(labels, label_);
    if (wanted == 0)
      throw Error("no text of the development set has the label \"" + label_ +
                  "\": give some in data.dev, or change the option label");
    double best = -1.0;
    for (std::size_t least = 1; least <= words_.size(); ++least) {
      std::int64_t found = 0, right = 0;
      for (std::size_t i = 0; i < texts.size(); ++i)
        if (words_in(texts[i]) >= least) {
          ++found;
          right += labels[i] == label_ ? 1 : 0;
        }
      const double f1 = 2.0 * static_cast<double>(right) / static_cast<double>(found + wanted);
      if (f1 <= best) continue;
      best = f1;
      least_ = least;
    }
  }
  std::string knowledge() const override { return text_of(least_); }
  /// Compares the whole text, so that a damaged one is refused.
  void restore(std::string_view knowledge) override {
    for (least_ = 1; least_ <= words_.size(); ++least_)
      if (text_of(least_) == knowledge) return;
    throw Error("expected \"" + text_of(1) + "\" or a number up to " + std::to_string(words_.size()) +
                ", found \"" + std::string(knowledge) + "\"");
  }
  std::vector<std::string> notes() const override { return {"a text needs " + text_of(least_)}; }

  /// Answers each record by itself; `shown` is the line that `exp predict` prints.
  Records apply(const Records& records) override {
    Records::Texts labels, shown;
    Records::Numbers words;
    for (const std::string& text : records.texts("text")) {
      const std::size_t count = words_in(text);
      labels.push_back(count >= least_ ? label_ : "");
      words.push_back(static_cast<double>(count));
      shown.push_back((count >= least_ ? label_ : "-") + " (words: " + std::to_string(count) + ")");
    }
    Records given;
    given.add("label", std::move(labels));
    given.add("words", std::move(words));
    given.add("shown", std::move(shown));
    return given;
  }

  /// Begins an example for each record, also for one that adds nothing.
  void measure(const Records& records, const Records& given, Statistics& statistics) const override {
    for (std::size_t i = 0; i < records.size(); ++i) {
      const bool is_found = given.texts("label")[i] == label_, is_true = records.texts("label")[i] == label_;
      statistics.begin_example();
      if (is_found) statistics.add("found", 1.0);
      if (is_true) statistics.add("true", 1.0);
      if (is_found && is_true) statistics.add("right", 1.0);
    }
  }

 private:
  static std::string text_of(std::size_t least) { return "at least " + std::to_string(least) + " words"; }
  /// Returns how many different words of the list the text has. Words end at spaces and ASCII punctuation.
  std::size_t words_in(std::string_view text) const {
    std::vector<std::string> found(1);
    for (const char letter : text) {
      const auto byte = static_cast<unsigned char>(letter);
      if (byte >= 'A' && byte <= 'Z')
        found.back() += static_cast<char>(byte - 'A' + 'a');
      else if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte >= 0x80)
        found.back() += letter;
      else
        found.emplace_back();
    }
    return static_cast<std::size_t>(std::ranges::count_if(
        words_, [&](const std::string& word) { return std::ranges::find(found, word) != found.end(); }));
  }

  std::vector<std::string> words_;
  std::string label_;
  std::size_t least_ = 1;
};

}  // namespace my_plugin_step

ENCORE_PLUGIN("my_plugin", "1.0.0") {
  plugin.add<encore::Kind::step, my_plugin_step::MyPluginStep>("my_plugin");
}
