// SPDX-License-Identifier: BSD-3-Clause
// exp quantize: prints the effect of integer weights on size and scores. app/quantize.cpp starts the workers.
// Read next: app/quantize.hpp.
#include "app/quantize.hpp"

#include <sstream>

#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "base/bytes_text.hpp"
#include "base/measure_json.hpp"
#include "base/measures.hpp"
#include "base/shell_word.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "config/value.hpp"
#include "document/quantity.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

/// Prints the matrices that were not rounded, with the reason.
void print_kept(std::ostream& out, const Json& answer) {
  for (const Json& matrix : answer.at("matrices")) {
    if (!matrix.value("kept", false)) continue;
    out << "  kept     " << printable(matrix.value("path", ""));
    if (matrix.contains("growth"))
      out << " (rounding it alone costs " << number_text(matrix["growth"].get<double>()) << ")";
    else
      out << " (--keep)";
    out << '\n';
  }
  for (const Json& path : answer.at("adapted"))
    out << "  kept     " << printable(path.get<std::string>()) << " (it has an adapter)\n";
}

/// Returns, for example, "-0.12 (-0.31 to 0.05)", with the digits of the measure.
std::string difference_text(const Metric& metric, const Json& values) {
  const double before = values.at("before"), after = values.at("after");
  std::string text = metric_text(metric, after - before);
  if (const auto range = values.find("difference"); range != values.end())
    text +=
        " (" + metric_text(metric, range->at("low")) + " to " + metric_text(metric, range->at("high")) + ")";
  return text;
}

void print_scores(std::ostream& out, const Terminal& terminal, const Json& answer) {
  if (answer.at("sets").empty()) return;
  out << '\n';
  Table table({{"SET"},
               {"MEASURE"},
               {"BEFORE", Align::right},
               {"AFTER", Align::right},
               {"DIFFERENCE (95 % BY BOOTSTRAP)", Align::right}});
  for (const auto& [set, scores] : answer.at("sets").items())
    for (const Json& definition : answer.at("definitions")) {
      const Measure measure = measure_in(nlohmann::json(definition));
      const auto values = scores.find(measure.name);
      if (values == scores.end()) continue;
      const Metric metric{.name = measure.name, .meaning = measure};
      table.add({set, title_of(measure), metric_text(metric, values->at("before")),
                 metric_text(metric, values->at("after")), difference_text(metric, *values)});
    }
  table.print(out, terminal, 2);
}

/// Returns the text of the measurement that decided the result.
std::string cost_text(const Json& answer) {
  const std::string after = number_text(answer.at("cost").at("after").get<double>());
  const std::string sample = answer.at("sample").dump();
  if (answer.at("judged_by") == "vectors")
    return "  vectors  of " + sample + " inputs have moved by at most " + after + " (1 - cosine)\n";
  return "  loss     " + number_text(answer.at("cost").at("before").get<double>()) + " before, " + after +
         " after, on " + sample + " examples of the development set\n";
}

std::string text_of(const Terminal& terminal, const Json& answer) {
  const auto run = answer.at("run").get<std::string>();
  std::ostringstream out;
  std::size_t of_bits[9] = {};
  for (const Json& matrix : answer.at("matrices")) ++of_bits[matrix.at("bits").get<std::size_t>() % 9];
  const std::string bits = answer.at("bits").dump();
  const auto bytes = answer.at("bytes").get<std::uint64_t>(),
             float_bytes = answer.at("float_bytes").get<std::uint64_t>();
  char share[16];
  std::snprintf(share, sizeof share, "%.2f", static_cast<double>(bytes) / static_cast<double>(float_bytes));
  out << printable(run) << " (step " << answer.at("step").dump() << "): " << of_bits[bits == "4" ? 4 : 8]
      << " of " << answer.at("matrices").size() << " matrices as " << bits << "-bit integers"
      << (bits == "4" && of_bits[8] > 0 ? ", " + std::to_string(of_bits[8]) + " of 8 bits" : "") << ", "
      << bytes_text(bytes) << " instead of " << bytes_text(float_bytes) << " (" << share << ")\n"
      << cost_text(answer);
  print_kept(out, answer);
  print_scores(out, terminal, answer);
  out << "\n  written  " << printable(answer.value("file", "")) << "\n  next     " << command_name() << ' '
      << shell_command({"predict", run, "--int" + bits, "..."}) << '\n';
  return out.str();
}

/// Prints one CSV line for each set and measure.
void print_csv(std::ostream& out, const QuantizeResult& result) {
  out << csv_record({"run", "set", "measure", "before", "after", "difference_low", "difference_high"});
  for (const Json& answer : result.runs)
    for (const auto& [set, scores] : answer.at("sets").items())
      for (const Json& definition : answer.at("definitions")) {
        const std::string measure = measure_in(nlohmann::json(definition)).name;
        const auto values = scores.find(measure);
        if (values == scores.end()) continue;
        const auto number = [](const Json& of) { return of.is_number() ? shortest(of.get<double>()) : ""; };
        const Json range = values->value("difference", Json::object());
        out << csv_record({answer.at("run").get<std::string>(), set, measure, number(values->at("before")),
                           number(values->at("after")), number(range.value("low", Json())),
                           number(range.value("high", Json()))});
      }
}

int quantize_verb(const QuantizeRequest& request, App& app, Console& console) {
  bool first = true;
  const QuantizeResult result = quantize(request, app, [&](const Json& answer) {
    if (!request.json && !request.csv)
      console.out << (first ? "" : "\n") << text_of(console.terminal, answer) << std::flush;
    first = false;
  });
  if (request.json) console.print(result.one ? result.runs.front() : Json(result.runs));
  if (request.csv) print_csv(console.out, result);
  return exit_done;
}

}  // namespace

Verb quantize_verb() {
  return make_verb("quantize", "write a run's weights as 8-bit integers", quantize_form, quantize_verb);
}

}  // namespace encore
