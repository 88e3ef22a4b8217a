// Precision, recall and F1 of each class, and what was taken for what, of the candidate with the best mean.
#include <algorithm>

#include "data/confusion.hpp"
#include "report/predictions.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore {

namespace {

/// Candidates whose classes are shown, and runs whose predictions are counted.
constexpr std::size_t most_class_candidates = 4;
constexpr std::size_t most_runs = 10;

/// The classes for which a run of the candidate has "<split>/f1/<class>".
std::vector<std::string> classes_of(const Candidate& candidate, const std::string& split) {
  const std::string prefix = split + "/f1/";
  std::vector<std::string> classes;
  for (const Replicate& replicate : candidate.runs) {
    if (!replicate.run.result.is_object()) continue;
    const nlohmann::json measures = replicate.run.result.value("measures", nlohmann::json::object());
    for (const auto& [name, value] : measures.items())
      if (name.starts_with(prefix)) classes.push_back(name.substr(prefix.size()));
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

TableBlock class_table(const Material& material, const Question& question, const std::string& split) {
  TableBlock table;
  table.id = "classes-" + question.id;
  table.caption = "Classes on " + split +
                  ": mean over the n complete runs, with the standard deviation of F1 where n "
                  "is greater than 1.";
  table.columns = {{"candidate", "", false}, {"class", "", false},  {"n", "", true},
                   {"precision", "%", true}, {"recall", "%", true}, {"F1", "%", true},
                   {"SD of F1", "%", true}};
  const std::size_t shown = material.options.most_rows == 0
                                ? question.order.size()
                                : std::min(most_class_candidates, question.order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Candidate& candidate = question.comparison.candidates[question.order[i]];
    for (const std::string& type : classes_of(candidate, split)) {
      const std::vector<double> f1 = values_of(candidate, split + "/f1/" + type);
      table.rows.push_back(
          {question.letter(question.order[i]), type, count_cell(static_cast<std::int64_t>(f1.size())),
           value_cell("precision", mean_of(values_of(candidate, split + "/precision/" + type))),
           value_cell("recall", mean_of(values_of(candidate, split + "/recall/" + type))),
           value_cell("f1", mean_of(f1)), value_cell("f1", deviation_of(f1))});
    }
  }
  const std::size_t scored = question.scored();
  if (shown < scored)
    table.notes.push_back(counted(scored - shown, "more candidate") + (scored - shown == 1 ? " is" : " are") +
                          " in the CSV and JSON of this report.");
  return table;
}

Figure confusion_figure(const Question& question, std::size_t candidate, const std::string& split,
                        const Confusion& confusion, std::size_t runs) {
  MatrixChart chart{"truth", "prediction", confusion.names(), {}};
  std::int64_t right = 0, all = 0, most = 0;
  std::string mistake;
  const auto counts = confusion.counts();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    chart.counts.emplace_back(counts[i].begin(), counts[i].end());
    for (std::size_t j = 0; j < counts.size(); ++j) {
      all += counts[i][j];
      if (i == j) {
        right += counts[i][j];
      } else if (counts[i][j] > most) {
        most = counts[i][j];
        mistake = " Most often " + chart.labels[i] + " is taken for " + chart.labels[j] + ": " +
                  thousands(most) + " times.";
      }
    }
  }
  Figure figure;
  figure.id = "confusion-" + question.id;
  figure.caption = "Words of " + split + " by the type of their tag, as " +
                   question.key.introduced(candidate) + " has them, summed over " + counted(runs, "run") +
                   "; O stands for words outside of entities. From the stored predictions.";
  figure.alternative = "A table of counts; " + thousands(right) + " of " + thousands(all) +
                       " words have the type they should have." + mistake;
  figure.chart = std::move(chart);
  return figure;
}

void add_confusion(const Material& material, const Question& question, const std::string& split,
                   std::vector<Block>& blocks) {
  const std::optional<std::size_t> first = question.first();
  if (!first) return;
  const Candidate& candidate = question.comparison.candidates[*first];
  Confusion confusion;
  std::size_t runs = 0;
  std::vector<std::string> problems;
  for (const Replicate& replicate : candidate.runs) {
    if (!replicate.value || runs == most_runs) continue;
    try {
      for (const PredictedSentence& sentence : read_predictions(material.store, replicate.run, split))
        confusion.add(sentence.truth, sentence.predicted);
      ++runs;
    } catch (const Error& error) {
      problems.push_back(error.what());
    }
  }
  if (runs > 0) blocks.push_back(confusion_figure(question, *first, split, confusion, runs));
  if (!problems.empty())
    blocks.push_back(Notice{"Predictions that could not be counted: " + problems.front() +
                            (problems.size() > 1 ? ", and " + counted(problems.size() - 1, "more") : "") +
                            "."});
}

}  // namespace

Section classes_section(const Material& material) {
  Section section{"classes", "Classes"};
  const std::string split = material.metric.starts_with("dev/") ? "dev" : "test";
  for (const Question& question : material.questions) {
    TableBlock table = class_table(material, question, split);
    if (table.rows.empty()) continue;
    section.blocks.push_back(std::move(table));
    add_confusion(material, question, split, section.blocks);
  }
  return section;
}

}  // namespace encore
