// SPDX-License-Identifier: BSD-3-Clause
// The task "classify", one class per text or text pair. It joins two parts that do the work: texts_
// (text_input.hpp) encodes the input, and class_ (sequence_class.hpp) encodes the label, counts, and turns
// the predicted class into a label. Trainer and inference call it through Task. Runs store knowledge(), so
// its form must not change. Read classify.hpp first.
#include "classify.hpp"

#include <utility>

#include "class_measures.hpp"
#include "label_scores.hpp"

namespace encore::classify {

Classify::Classify(const Options& options, const TaskContext& context)
    : class_(options), texts_(options, context.max_length) {}

std::vector<Measure> Classify::measures() {
  return tasks::class_measures("examples");
}

void Classify::prepare(const Records& train) {
  class_.prepare(train);
  texts_.prepare(train);
}

void Classify::extend(const Records& other) {
  texts_.require_texts(other);
  class_.extend(other);
}

std::vector<ColumnRule> Classify::columns() const {
  std::vector<ColumnRule> columns = class_.columns();
  texts_.add_columns(columns);
  return columns;
}

void Classify::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                      EncodedExample& to) const {
  texts_.encode(records, record, tokenizer, to, class_.column_count(),
                [&] { class_.encode(records, record, to); });
}

SetDescription Classify::describe(const ExampleSet& set) const {
  SetDescription description;
  class_.describe_labels(set, description);
  texts_.describe(set, description);
  class_.describe_unseen(set, description);
  return description;
}

Records Classify::from_text(std::span<const std::string> lines) const {
  return texts_.from_text(lines);
}

Records Classify::completed(const Records& records, Records answers) const {
  Records::Texts shown = answers.texts("label");
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (answers.has("score")) shown[i] += " " + tasks::score_text(answers.numbers("score")[i]);
    shown[i] += "\t" + texts_.shown(records, i);
  }
  texts_.add_texts(records, answers);
  answers.add("shown", std::move(shown));
  return answers;
}

std::string Classify::left_out(const ExampleSet& set, std::size_t example) const {
  return texts_.left_out(set, example, "its label");
}

}  // namespace encore::classify
