// SPDX-License-Identifier: BSD-3-Clause
// exp quantize: prints the effect of integer weights on size and scores. app/quantize.cpp starts the workers;
// help_verb.cpp lists the verb. --json prints the worker's answer (record/quantize_answer.hpp); its members
// and the CSV columns keep their names. Read next: app/quantize.hpp.
#include "app/quantize.hpp"

#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "base/measures.hpp"
#include "base/readable_text.hpp"
#include "base/shell_word.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "config/value.hpp"
#include "document/quantity.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Prints the matrices that were not rounded, with the reason.
void print_kept(std::ostream& out, const record::QuantizeAnswer& answer) {
  for (const record::RoundedMatrix& matrix : answer.matrices) {
    if (!matrix.kept) continue;
    out << "  kept     " << printable(matrix.path);
    if (matrix.growth)
      out << " (rounding it alone costs " << document::number_text(*matrix.growth) << ")";
    else
      out << " (--keep)";
    out << '\n';
  }
  for (const std::string& path : answer.adapted)
    out << "  kept     " << printable(path) << " (it has an adapter)\n";
}

/// Returns, for example, "-0.12 (-0.31 to 0.05)", with the digits of the measure.
std::string difference_text(const Metric& metric, const record::ScoreChange& change) {
  std::string text = analysis::metric_text(metric, change.after - change.before);
  if (const auto& range = change.difference)
    text += " (" + analysis::metric_text(metric, range->low) + " to " +
            analysis::metric_text(metric, range->high) + ")";
  return text;
}

void print_scores(std::ostream& out, const Terminal& terminal, const record::QuantizeAnswer& answer) {
  if (answer.sets.empty()) return;
  out << '\n';
  Table table({{"SET"},
               {"MEASURE"},
               {"BEFORE", Align::right},
               {"AFTER", Align::right},
               {"DIFFERENCE (95 % BY BOOTSTRAP)", Align::right}});
  for (const auto& [set, scores] : answer.sets)
    for (const Measure& measure : answer.definitions) {
      const auto found = scores.find(measure.name);
      if (found == scores.end()) continue;
      const Metric metric{.name = measure.name, .meaning = measure};
      const record::ScoreChange& change = found->second;
      table.add({set, title_of(measure), analysis::metric_text(metric, change.before),
                 analysis::metric_text(metric, change.after), difference_text(metric, change)});
    }
  table.print(out, terminal, 2);
}

/// Returns the line with the measurement by which matrices were rounded or kept: the loss before and after,
/// or how far vectors have moved.
std::string cost_text(const record::QuantizeAnswer& answer) {
  const std::string after = document::number_text(answer.cost.after);
  const std::string sample = std::to_string(answer.sample);
  if (answer.judged_by == "vectors")
    return "  vectors  of " + sample + " inputs have moved by at most " + after + " (1 - cosine)\n";
  return "  loss     " + document::number_text(answer.cost.before) + " before, " + after + " after, on " +
         sample + " examples of the development set\n";
}

std::string text_of(const Terminal& terminal, const app::QuantizedRun& quantized) {
  const auto& [run, answer] = quantized;
  std::ostringstream out;
  std::size_t of_bits[9] = {};
  for (const record::RoundedMatrix& matrix : answer.matrices)
    ++of_bits[static_cast<unsigned>(matrix.bits) % 9];
  const std::string bits = std::to_string(answer.bits);
  char share[16];
  std::snprintf(share, sizeof share, "%.2f",
                static_cast<double>(answer.bytes) / static_cast<double>(answer.float_bytes));
  out << printable(run) << " (step " << answer.step << "): " << of_bits[bits == "4" ? 4 : 8] << " of "
      << answer.matrices.size() << " matrices as " << bits << "-bit integers"
      << (bits == "4" && of_bits[8] > 0 ? ", " + std::to_string(of_bits[8]) + " of 8 bits" : "") << ", "
      << bytes_text(answer.bytes) << " instead of " << bytes_text(answer.float_bytes) << " (" << share
      << ")\n"
      << cost_text(answer);
  print_kept(out, answer);
  print_scores(out, terminal, answer);
  out << "\n  written  " << printable(answer.file) << "\n  next     " << command_name() << ' '
      << shell_command({"predict", run, "--int" + bits, "..."}) << '\n';
  return out.str();
}

/// Prints one CSV line for each set and measure.
void print_scores_csv(std::ostream& out, const app::QuantizeResult& result) {
  out << document::csv_record(
      {"run", "set", "measure", "before", "after", "difference_low", "difference_high"});
  const auto number = [](double value) { return std::isfinite(value) ? config::shortest(value) : ""; };
  for (const auto& [run, answer] : result.runs)
    for (const auto& [set, scores] : answer.sets)
      for (const Measure& measure : answer.definitions) {
        const auto found = scores.find(measure.name);
        if (found == scores.end()) continue;
        const record::ScoreChange& change = found->second;
        const record::ScoreRange range = change.difference.value_or(record::ScoreRange{NAN, NAN});
        out << document::csv_record({run, set, measure.name, number(change.before), number(change.after),
                                     number(range.low), number(range.high)});
      }
}

int quantize_verb(const app::QuantizeRequest& request, app::App& app, Console& console) {
  bool first = true;
  const app::QuantizeResult result = app::quantize(request, app, [&](const app::QuantizedRun& run) {
    if (!request.json && !request.csv)
      console.out << (first ? "" : "\n") << text_of(console.terminal, run) << std::flush;
    first = false;
  });
  if (request.json) {
    Json list = Json::array();
    for (const auto& [run, answer] : result.runs)
      list.emplace_back(Json{{"run", run}}).update(Json(to_json_object(answer)));
    console.print(result.one ? list.front() : list);
  }
  if (request.csv) print_scores_csv(console.out, result);
  return exit_done;
}

}  // namespace

Verb quantize_verb() {
  return make_verb("quantize", "write a run's weights as 8-bit integers", app::quantize_form, quantize_verb);
}

}  // namespace encore::cli
