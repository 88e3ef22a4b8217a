// quantize: the weights of runs as integers; the worker does the work and answers in JSON.
#include <iostream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "base/bytes_text.hpp"
#include "base/measure_json.hpp"
#include "base/measures.hpp"
#include "base/shell_word.hpp"
#include "cli/access.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_selection.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "cli/worker_answer.hpp"
#include "document/quantity.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

/// What stays as it is, and why.
void print_kept(std::ostream& out, const Json& answer) {
  for (const Json& matrix : answer.at("matrices")) {
    if (!matrix.value("kept", false)) continue;
    out << "  kept     " << printable(matrix.value("path", ""));
    if (matrix.contains("growth"))
      out << " (alone it costs " << number_text(matrix["growth"].get<double>()) << ")";
    else
      out << " (--keep)";
    out << '\n';
  }
  for (const Json& path : answer.at("adapted"))
    out << "  kept     " << printable(path.get<std::string>()) << " (it has an adapter)\n";
}

/// "-0.12 (-0.31 to 0.05)", in the measure's own digits.
std::string difference_text(const Metric& metric, const Json& values) {
  const double before = values.at("before"), after = values.at("after");
  std::string text = metric_text(metric, after - before);
  if (const auto range = values.find("difference"); range != values.end())
    text +=
        " (" + metric_text(metric, range->at("low")) + " to " + metric_text(metric, range->at("high")) + ")";
  return text;
}

void print_scores(std::ostream& out, const Json& answer) {
  if (answer.at("sets").empty()) return;
  out << '\n';
  Table table({{"SET"},
               {"MEASURE"},
               {"BEFORE", Align::right},
               {"AFTER", Align::right},
               {"DIFFERENCE (95 % OF EXAMPLES DRAWN ANEW)", Align::right}});
  for (const auto& [set, scores] : answer.at("sets").items())
    for (const Json& definition : answer.at("definitions")) {
      const Measure measure = measure_in(nlohmann::json(definition));
      const auto values = scores.find(measure.name);
      if (values == scores.end()) continue;
      const Metric metric{.name = measure.name, .meaning = measure};
      table.add({set, title_of(measure), metric_text(metric, values->at("before")),
                 metric_text(metric, values->at("after")), difference_text(metric, *values)});
    }
  table.print(out, terminal_of(stdout), 2);
}

/// What was decided by.
std::string cost_text(const Json& answer) {
  const std::string after = number_text(answer.at("cost").at("after").get<double>());
  const std::string sample = answer.at("sample").dump();
  if (answer.at("judged_by") == "vectors")
    return "  vectors  of " + sample + " texts have moved by at most " + after + " (1 - cosine)\n";
  return "  loss     " + number_text(answer.at("cost").at("before").get<double>()) + " before, " + after +
         " after, on " + sample + " examples of the development set\n";
}

std::string text_of(const std::string& run, const Json& answer) {
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
      << bytes_text(bytes) << " in place of " << bytes_text(float_bytes) << " (" << share << ")\n"
      << cost_text(answer);
  print_kept(out, answer);
  print_scores(out, answer);
  out << "\n  written  " << printable(answer.value("file", "")) << "\n  next     " << command_name() << ' '
      << shell_command({"predict", run, "--int" + bits, "..."}) << '\n';
  return out.str();
}

std::vector<std::string> options_of(const CommandLine& line) {
  const double tolerance = line.number("tolerance");
  const int examples = line.integer("examples");
  if (!(tolerance >= 0.0 && tolerance <= 10.0))
    throw UsageError("--tolerance must be from 0 to 10: 0.01 lets the loss grow by a hundredth");
  if (examples < 1) throw UsageError("--examples must be at least 1");
  require_threads(line.integer("threads"));
  const int bits = line.integer("bits");
  if (bits != 4 && bits != 8) throw UsageError("--bits is " + std::to_string(bits) + "; it must be 8 or 4");
  std::vector<std::string> options = {
      "--bits",     std::to_string(bits),     "--tolerance", shortest(tolerance),
      "--examples", std::to_string(examples), "--threads",   std::to_string(line.integer("threads"))};
  if (line.has("texts")) options.insert(options.end(), {"--texts", line.text("texts")});
  for (const std::string& path : line.texts("keep")) options.insert(options.end(), {"--keep", path});
  return options;
}

CommandLine make_quantize_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "quantize",
      {"quantize RUN... [options]",
       "Writes the best model of each run once more, with matrices of 8-bit integers: a quarter of the space "
       "(with --bits 4 an eighth), and faster products, for predict, evaluate, generate, embed and serve "
       "with --int8. Matrices that cost the development set's loss more than is tolerated stay as they are. "
       "What was trained is not touched.",
       {{"exp quantize quickstart", "writes weights_int8.safetensors, and says what it does to the scores"},
        {"exp quantize minilm_wnut17 --best dev/f1", "the best run of a sweep"},
        {"exp quantize quickstart --keep head --tolerance 0.05",
         "the head stays as it is, and the loss may grow by a twentieth"},
        {"exp quantize shakespeare --bits 4",
         "half of that again, for a decoder that writes texts; see --int4"}}});
  line.options()("bits", po::value<int>()->value_name("N")->default_value(8),
                 "8, or 4 with a scale for each 32 numbers; matrices that cost too much with 4 get 8");
  line.options()(
      "tolerance", po::value<double>()->value_name("SHARE")->default_value(0.01, "0.01"),
      "by what share of it the loss may grow; with --texts how far a vector may move (1 - cosine)");
  line.options()("examples", po::value<int>()->value_name("N")->default_value(1000),
                 "the first N examples of the development set, or of the texts, decide what is rounded");
  line.options()(
      "texts", po::value<std::string>()->value_name("FILE"),
      "decide by the vectors of these lines in place of the development set's loss: for an encoder that "
      "was imported and has no such set");
  line.options()(
      "keep", po::value<std::vector<std::string>>()->value_name("PATH"),
      "matrices that stay as they are: a parameter, or a part of the model such as head or encoder.0 "
      "(may be repeated)");
  line.options()(
      "json", po::bool_switch(),
      "what was decided, matrix by matrix, and the scores, as JSON; a list where several runs are meant");
  add_model_options(line);
  add_run_arguments(line);
  return line;
}

}  // namespace

int quantize_verb(const Arguments& arguments) {
  CommandLine line = make_quantize_line();
  if (!line.parse(arguments)) return exit_done;
  const RunSelection selection = selection_from(line);
  const std::vector<std::string> options = options_of(line);
  const auto [runs, one] = find_trained_runs(line, selection);
  Json list = Json::array();
  for (const TrainedRun& run : runs) {
    Json answer = {{"run", run.name}};
    answer.update(worker_answer(run.worker, worker_arguments(line, run, "quantize", options)));
    if (!line.flag("json"))
      std::cout << (&run == &runs.front() ? "" : "\n") << text_of(run.name, answer) << std::flush;
    list.push_back(std::move(answer));
  }
  if (line.flag("json")) std::cout << (one ? list.front() : list).dump(2) << '\n';
  return exit_done;
}

}  // namespace encore
