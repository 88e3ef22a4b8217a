// SPDX-License-Identifier: BSD-3-Clause
// The task "regress": encodes numbers as targets, and turns the model's outputs into numbers and errors.
// Trainer and inference call it through Task; runs store knowledge() and the names of measures, so these must
// not change. Read regress.hpp first.
#include "regress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "number_bits.hpp"
#include "window_shares.hpp"

namespace encore::regress {
namespace {

/// The columns of an example, in the order of Regress::columns(); those of TextInput come last.
enum : std::size_t { targets, known, bits, of_texts };

constexpr const char* numbers_output = "numbers";
/// The knowledge of a run: only whether its examples are pairs.
constexpr std::string_view knowledge_text = "numbers\n";

/// Throws Error for a number that float32 cannot hold.
double checked(double number) {
  if (!std::isfinite(static_cast<float>(number)))
    throw Error("invalid number " + std::to_string(number) + ": every text needs a finite number");
  return number;
}

std::string written(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", number);
  return text;
}

}  // namespace

Regress::Regress(const Options& options, const TaskContext& context) : texts_(options, context.max_length) {}

std::vector<Measure> Regress::measures() {
  const std::vector<std::string> pair = {"prediction", "truth"};
  return {{.name = "spearman",
           .title = "Spearman's rho",
           .help = "correlation of the ranks of true and predicted numbers, in [-1, 1]",
           .reducer = Reducer::rank_correlation,
           .columns = pair},
          {.name = "pearson",
           .title = "Pearson's r",
           .help = "correlation of true and predicted numbers, in [-1, 1]",
           .reducer = Reducer::correlation,
           .columns = pair},
          {.name = "mse",
           .title = "mean squared error",
           .help = "mean of the squared differences of true and predicted numbers",
           .better = Better::lower,
           .reducer = Reducer::ratio,
           .columns = {"squared_error", "texts"}},
          {.name = "mae",
           .title = "mean absolute error",
           .help = "mean of the absolute differences of true and predicted numbers",
           .better = Better::lower,
           .reducer = Reducer::ratio,
           .columns = {"absolute_error", "texts"}}};
}

// --- what the training set decides ---

void Regress::prepare(const Records& train) {
  const Records::Numbers& numbers = train.numbers("number");
  for (const double number : numbers) checked(number);
  if (numbers.empty()) throw Error("the training set has no text to learn from");
  const auto [least, most] = std::ranges::minmax(numbers);
  if (least == most)
    throw Error("all examples of the training set have the number " + written(least) +
                "; there is nothing to learn");
  texts_.prepare(train);
}

void Regress::extend(const Records& other) {
  texts_.require_texts(other);
  for (const double number : other.numbers("number")) checked(number);
}

std::string Regress::knowledge() const {
  return texts_.marked(std::string(knowledge_text));
}

void Regress::restore(std::string_view knowledge) {
  if (texts_.take_mark(knowledge) != knowledge_text) throw Error("invalid knowledge of the task \"regress\"");
}

// --- encoding ---

std::vector<ColumnRule> Regress::columns() const {
  std::vector<ColumnRule> columns = {
      {.name = targets_column, .space = Space::sequences, .type = ColumnType::numbers, .truth = true},
      {.name = "known", .space = Space::sequences, .truth = true},  // 0: the example has a number
      tasks::number_bits_rule()};
  texts_.add_columns(columns);
  return columns;
}

std::vector<OutputRule> Regress::outputs() const {
  return {{.name = numbers_output,
           .space = Space::sequences,
           .type = ColumnType::numbers,
           .truth = targets_column}};
}

void Regress::encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                     EncodedExample& to) const {
  const bool has_number = records.has("number");
  const double number = has_number ? checked(records.numbers("number")[record]) : 0.0;
  texts_.encode(records, record, tokenizer, to, of_texts, [&] {
    if (!has_number) return;
    to.numbers(targets).push_back(static_cast<float>(number));
    to.integers(known).push_back(0);
    tasks::put_number(number, to.integers(bits));
  });
}

SetDescription Regress::describe(const ExampleSet& set) const {
  SetDescription description;
  texts_.describe(set, description);
  if (set.size() == 0 || !set.has_column(tasks::number_bits_column)) return description;
  const std::size_t column = set.column(tasks::number_bits_column);
  const double count = static_cast<double>(set.size());
  double sum = 0.0, squares = 0.0;
  const auto number = [&](std::size_t i) {
    return tasks::number_in(set.integers(column, tasks::first_window(set, i)));
  };
  for (std::size_t i = 0; i < set.size(); ++i) sum += number(i);
  const double mean = sum / count;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const double distance = number(i) - mean;
    squares += distance * distance;
  }
  description.notes.push_back("the numbers have the mean " + written(mean) + " and the standard deviation " +
                              written(std::sqrt(squares / count)));
  return description;
}

// --- measures and predictions ---

void Regress::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  const std::size_t truths = set.column(tasks::number_bits_column);
  for (std::size_t i = 0; i < set.size(); ++i) {
    const double truth = tasks::number_in(set.integers(truths, tasks::first_window(set, i))),
                 prediction = predicted(set, outputs, i);
    const double error = prediction - truth;
    statistics.begin_example();
    statistics.add("prediction", prediction);
    statistics.add("truth", truth);
    statistics.add("squared_error", error * error);
    statistics.add("absolute_error", std::abs(error));
    statistics.add("texts", 1);
  }
}

Records Regress::label(const Records&, const ExampleSet& set, const Outputs& outputs) const {
  Records::Numbers numbers;
  for (std::size_t i = 0; i < set.size(); ++i) numbers.push_back(predicted(set, outputs, i));
  Records labelled;
  labelled.add("number", std::move(numbers));
  return labelled;
}

// --- text that a user types ---

Records Regress::answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
  Records answers = label(records, set, outputs);
  Records::Texts shown;
  for (std::size_t i = 0; i < set.size(); ++i)
    shown.push_back(written(answers.numbers("number")[i]) + "\t" + texts_.shown(records, i));
  texts_.add_texts(records, answers);
  answers.add("shown", std::move(shown));
  return answers;
}

std::string Regress::left_out(const ExampleSet& set, std::size_t example) const {
  return texts_.left_out(set, example, "its number");
}

/// Returns the number of an example, of several windows the mean of theirs.
double Regress::predicted(const ExampleSet& set, const Outputs& outputs, std::size_t example) const {
  return tasks::mean_of_windows(tasks::window_shares(set, example),
                                [&](std::size_t sequence) {
                                  return std::vector<double>{static_cast<double>(
                                      outputs.numbers(numbers_output, set, sequence).front())};
                                })
      .front();
}

}  // namespace encore::regress
