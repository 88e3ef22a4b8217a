// Records of texts to rows, and the class of the first row back to labels and counts.
#include "classify.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "measures.hpp"

namespace encore::classify {
namespace {

using tasks::counted;

/// The columns of an example, in the order of Classify::columns(); those of the texts come last.
enum : std::size_t { targets, truth, of_texts };

/// Throws Error for what cannot name a class.
const std::string& checked(const std::string& label) {
  if (label.empty()) throw Error("a label is empty; every text needs a label");
  if (label.find('\n') != std::string::npos)
    throw Error("the label \"" + label + "\" has a line break in it");
  return label;
}

}  // namespace

Classify::Classify(const Options&, const TaskContext& context) : texts_(context.max_length) {}

std::vector<Measure> Classify::measures() {
  return classify::measures();
}

// --- what the training set decides ---

void Classify::prepare(const Records& train) {
  std::set<std::string> labels;
  for (const std::string& label : train.texts("label")) labels.insert(checked(label));
  if (labels.size() < 2)
    throw Error(labels.empty() ? "the training set has no text; there is nothing to learn"
                               : "every text of the training set has the label \"" + *labels.begin() +
                                     "\"; there is nothing to learn");
  names_ = tasks::LabelNames({labels.begin(), labels.end()});
  texts_.prepare(train);
}

void Classify::extend(const Records& other) {
  texts_.require_texts(other);
  for (const std::string& label : other.texts("label")) names_.add(checked(label));
}

void Classify::restore(std::string_view knowledge) {
  names_ = tasks::LabelNames::from_text(texts_.take_mark(knowledge));
}

// --- records to numbers ---

std::vector<ColumnRule> Classify::columns() const {
  std::vector<ColumnRule> columns = {{.name = targets_column, .space = Space::sequences, .truth = true},
                                     {.name = "truth",
                                      .space = Space::sequences,
                                      .truth = true}};  // number of the label, seen in training or not
  texts_.add_columns(columns);
  return columns;
}

std::vector<OutputRule> Classify::outputs() const {
  return {{.name = classes_output, .space = Space::sequences, .truth = targets_column}};
}

void Classify::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                      EncodedExample& to) const {
  texts_.encode(records, record, tokenizer, to, of_texts);
  if (!records.has("label")) return;
  const std::int32_t number = names_.number(records.texts("label")[record]);
  to.integers(truth).push_back(number);
  to.integers(targets).push_back(names_.is_label(number) ? number : no_target);
}

SetDescription Classify::describe(const ExampleSet& set) const {
  std::map<std::int32_t, std::int64_t> texts;  // by label; none where the truth is not known
  std::int64_t unseen = 0;
  for (std::size_t i = 0; i < set.size() && set.has_column("truth"); ++i) {
    const std::int32_t number = set.integers(set.column("truth"), i).front();
    ++texts[number];
    unseen += names_.is_label(number) ? 0 : 1;
  }
  SetDescription description;
  description.counts = {{"labels", static_cast<std::int64_t>(texts.size())}};
  std::vector<std::string>& notes = description.notes;
  const std::string all = counted(static_cast<std::int64_t>(set.size()), "text", "texts");
  const auto most = std::ranges::max_element(texts, {}, [](const auto& each) { return each.second; });
  if (texts.size() > 1)
    notes.push_back("the most frequent label, \"" + names_.name(most->first) + "\", is that of " +
                    std::to_string(most->second) + " of " + all);
  texts_.describe(set, description);
  description.counts.emplace_back("texts with labels not in training", unseen);
  for (const auto& [number, count] : texts)
    if (!names_.is_label(number))
      notes.push_back("the label \"" + names_.name(number) + "\" of " + counted(count, "text", "texts") +
                      " does not stand in the training set; it is counted as wrong whatever a model says");
  return description;
}

// --- outputs to what is reported ---

void Classify::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  const std::size_t truths = set.column("truth");
  for (std::size_t i = 0; i < set.size(); ++i)
    measure_text(names_.name(set.integers(truths, i).front()), predicted(set, outputs, i), statistics);
}

Records Classify::label(const Records&, const ExampleSet& set, const Outputs& outputs) const {
  Records::Texts labels;
  for (std::size_t i = 0; i < set.size(); ++i) labels.push_back(predicted(set, outputs, i));
  Records labelled;
  labelled.add("label", std::move(labels));
  return labelled;
}

// --- text that a user types ---

Records Classify::from_text(std::span<const std::string> lines) const {
  return texts_.from_text(lines);
}

Records Classify::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  Records answers = label(records, set, outputs);
  Records::Texts shown = answers.texts("label");
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] += "\t" + texts_.shown(records, i);
  texts_.add_texts(records, answers);
  answers.add("shown", std::move(shown));
  return answers;
}

std::string Classify::left_out(const ExampleSet& set, std::size_t sequence) const {
  return texts_.left_out(set, sequence, "its label");
}

/// A head may give anything for a text without a target.
const std::string& Classify::predicted(const ExampleSet& set, const Outputs& outputs,
                                       std::size_t sequence) const {
  const std::int32_t number = outputs.integers(classes_output, set, sequence).front();
  return names_.name(names_.is_label(number) ? number : 0);
}

}  // namespace encore::classify
