// Records of texts to rows, and the class of the first row back to labels and counts.
#include "classify.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "measures.hpp"

namespace encore::classify {
namespace {

constexpr std::string_view white_space = " \t\r\n\v\f";

/// The columns of an example, in the order of Classify::columns().
enum : std::size_t { targets, truth, cut_pieces };

std::string counted(std::int64_t count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

/// Throws Error for what cannot name a class.
const std::string& checked(const std::string& label) {
  if (label.empty()) throw Error("a label is empty; every text needs a label");
  if (label.find('\n') != std::string::npos)
    throw Error("the label \"" + label + "\" has a line break in it");
  return label;
}

}  // namespace

Classify::Classify(const Options&, const TaskContext& context)
    : max_length_(static_cast<std::size_t>(context.max_length)) {
  ENCORE_REQUIRE(context.max_length >= 3, "max_length must leave room for the two markers and one piece");
}

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
}

void Classify::extend(const Records& other) {
  for (const std::string& label : other.texts("label")) names_.add(checked(label));
}

TextCounts Classify::text_counts(const Records& train) const {
  // Counted in a hash table and sorted once: the map is part of the interface because its order is fixed.
  std::unordered_map<std::string_view, std::int64_t> counts;
  for (const std::string_view text : train.texts("text"))
    for (std::size_t end = 0, first = text.find_first_not_of(white_space); first != std::string_view::npos;
         first = text.find_first_not_of(white_space, end)) {
      end = std::min(text.find_first_of(white_space, first), text.size());
      ++counts[text.substr(first, end - first)];
    }
  return {counts.begin(), counts.end()};
}

// --- records to numbers ---

std::vector<ColumnRule> Classify::columns() const {
  return {{.name = targets_column, .space = Space::sequences, .truth = true},
          {.name = "truth",
           .space = Space::sequences,
           .truth = true},                                     // number of the label, seen in training or not
          {.name = "cut_pieces", .space = Space::sequences}};  // pieces at the end that did not fit
}

std::vector<OutputRule> Classify::outputs() const {
  return {{.name = classes_output, .space = Space::sequences, .truth = targets_column}};
}

void Classify::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                      EncodedExample& to) const {
  to.ids.push_back(tokenizer.special(Special::start));
  tokenizer.encode(records.texts("text")[record], to.ids);
  const std::size_t kept = std::min(to.ids.size(), max_length_ - 1);
  to.integers(cut_pieces).push_back(static_cast<std::int32_t>(to.ids.size() - kept));
  to.ids.resize(kept);
  to.ids.push_back(tokenizer.special(Special::end));
  if (!records.has("label")) return;
  const std::int32_t number = names_.number(records.texts("label")[record]);
  to.integers(truth).push_back(number);
  to.integers(targets).push_back(names_.is_label(number) ? number : no_target);
}

SetDescription Classify::describe(const ExampleSet& set) const {
  const std::size_t cuts = set.column("cut_pieces");
  std::map<std::int32_t, std::int64_t> texts;  // by label; none where the truth is not known
  std::int64_t cut_texts = 0, cut = 0, unseen = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::int32_t pieces = set.integers(cuts, i).front();
    cut_texts += pieces > 0 ? 1 : 0;
    cut += pieces;
    if (!set.has_column("truth")) continue;
    const std::int32_t number = set.integers(set.column("truth"), i).front();
    ++texts[number];
    unseen += names_.is_label(number) ? 0 : 1;
  }
  SetDescription description;
  description.counts = {{"labels", static_cast<std::int64_t>(texts.size())},
                        {"cut texts", cut_texts},
                        {"cut pieces", cut},
                        {"texts with labels not in training", unseen}};
  std::vector<std::string>& notes = description.notes;
  const std::string all = counted(static_cast<std::int64_t>(set.size()), "text", "texts");
  const auto most = std::ranges::max_element(texts, {}, [](const auto& each) { return each.second; });
  if (texts.size() > 1)
    notes.push_back("the most frequent label, \"" + names_.name(most->first) + "\", is that of " +
                    std::to_string(most->second) + " of " + all);
  if (cut_texts > 0)
    notes.push_back(std::to_string(cut_texts) + " of " + all +
                    " are longer than max_length = " + std::to_string(max_length_) + ": " +
                    counted(cut, "piece is", "pieces are") + " cut at the end");
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
  Records records;
  records.add("text", Records::Texts(lines.begin(), lines.end()));
  return records;
}

Records Classify::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  Records answers = label(records, set, outputs);
  Records::Texts shown = answers.texts("label");
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] += "\t" + records.texts("text")[i];
  answers.add("text", records.texts("text"));
  answers.add("shown", std::move(shown));
  return answers;
}

std::string Classify::left_out(const ExampleSet& set, std::size_t sequence) const {
  const std::int32_t cut = set.integers(set.column("cut_pieces"), sequence).front();
  return cut == 0 ? "" : "its label does not depend on its last " + counted(cut, "piece", "pieces");
}

/// A head may give anything for a text without a target.
const std::string& Classify::predicted(const ExampleSet& set, const Outputs& outputs,
                                       std::size_t sequence) const {
  const std::int32_t number = outputs.integers(classes_output, set, sequence).front();
  return names_.name(names_.is_label(number) ? number : 0);
}

}  // namespace encore::classify
