// See plan_size.hpp.
#include "cli/plan_size.hpp"

#include <algorithm>
#include <map>
#include <ostream>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/sha256.hpp"
#include "cli/format.hpp"
#include "cli/progress_line.hpp"
#include "cli/table.hpp"
#include "report/wording.hpp"
#include "runner/worker_process.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* whole_numbers[] = {"length", "batch", "vocabulary", "labels"};

std::vector<std::string> worker_arguments_of(const CommandLine& line) {
  std::vector<std::string> arguments = {"size"};
  for (const std::string name : whole_numbers) {
    if (!line.has(name)) continue;
    if (line.integer(name) < 1)
      throw UsageError("--" + name + " is " + std::to_string(line.integer(name)) + "; it must be at least 1");
    arguments.insert(arguments.end(), {"--" + name, std::to_string(line.integer(name))});
  }
  if (line.has("picked")) {
    if (!(line.number("picked") > 0.0 && line.number("picked") <= 1.0))
      throw UsageError("--picked is " + number_text(line.number("picked")) +
                       "; it is a share of the rows, above 0 and at most 1");
    arguments.insert(arguments.end(), {"--picked", std::to_string(line.number("picked"))});
  }
  return arguments;
}

/// Runs with these tables in common have one model, and train it alike.
std::string model_key(const nlohmann::json& config) {
  nlohmann::json tables = config;
  tables.erase("schedule");
  return tables.dump();
}

Json ask(const PlannedRuns& planned, const std::vector<std::string>& arguments,
         const std::vector<const Specification*>& models) {
  nlohmann::json request = nlohmann::json::array();
  for (const Specification* model : models) request.push_back(model->to_json());
  ProgressLine progress;
  std::size_t done = 0;
  const auto seen = [&](std::string_view text) {
    done += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    progress.show("sized", std::min(done, models.size()), models.size(), "models");
  };
  const ProgramOutput answer = run_program(planned.worker, arguments, request.dump(), {.seen = seen});
  const Json sizes = json_or_null<Json>(answer.output);
  if (!answer.end.success() || !sizes.is_array() || sizes.size() != models.size())
    throw Error(planned.worker.string() + " size ended with " + answer.end.text() + " and no answer" +
                (answer.errors.empty() ? "" : ":\n" + answer.errors));
  return sizes;
}

void require_sizes(const Json& sizes, const std::vector<const Specification*>& models) {
  Problems problems;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].contains("message")) continue;
    const std::string key = sizes[i].at("key"), message = sizes[i].at("message");
    const Place place = key.empty() ? Place() : place_of(models[i]->origin, key);
    problems.add(place, key, place.known() || key.empty() ? message : key + ": " + message);
  }
  problems.require_none();
}

// --- text ---

/// "109,514,298 parameters"; "all of them trained", "294,912 of them trained".
std::string parameters_text(const Json& model) {
  const auto all = model.at("parameters").get<std::int64_t>(),
             trained = model.at("trained").get<std::int64_t>();
  return thousands(all) + " parameters" +
         (trained == all ? "" : ", " + thousands(trained) + " of them trained");
}

std::string share_text(const Json& part, const Json& model) {
  const double all = model.at("parameters").get<double>();
  return all > 0.0 ? percent_text(part.at("parameters").get<double>() * part.at("count").get<double>() / all)
                   : "-";
}

void add_rows(const Json& part, const Json& model, int depth, Table& table) {
  const auto count = part.at("count").get<std::int64_t>();
  const Json& flops = part.at("flops");
  const auto flops_text = [&](const char* name) {
    const double value = flops.at(name).get<double>();
    return value == 0.0 ? std::string("-") : count_text(value);
  };
  const bool is_shared = part.at("parameters") == 0 && flops.at("forward") != 0.0;
  table.add({std::string(static_cast<std::size_t>(2 * depth), ' ') +
                 (count > 1 ? std::to_string(count) + " x " : "") + part.at("part").get<std::string>(),
             part.value("type", ""),
             is_shared ? "shared" : thousands(part.at("parameters").get<std::int64_t>()),
             is_shared ? "" : share_text(part, model), flops_text("forward_per_token"),
             flops_text("training_per_token"), flops_text("forward"), flops_text("training")});
  if (!part.contains("parts")) return;
  for (const Json& inner : part.at("parts")) add_rows(inner, model, depth + 1, table);
}

void print_parts(std::ostream& out, const Terminal& terminal, const Json& model) {
  Table table({{"PART"},
               {"TYPE", Align::left, true},
               {"PARAMETERS", Align::right},
               {"%", Align::right, true},
               {"FORWARD/TOKEN", Align::right},
               {"TRAINING/TOKEN", Align::right, true},
               {"FORWARD/BATCH", Align::right, true},
               {"TRAINING/BATCH", Align::right}});
  for (const Json& part : model.at("parts")) add_rows(part, model, 0, table);
  add_rows(
      {{"part", "all"}, {"count", 1}, {"parameters", model.at("parameters")}, {"flops", model.at("flops")}},
      model, 0, table);
  table.print(out, terminal, 2);
}

void print_memory(std::ostream& out, const Terminal& terminal, const Json& size) {
  const Json& memory = size.at("memory");
  const auto shards = size.at("gradient_shards").get<std::int64_t>();
  const auto states = size.at("optimizer").at("states").get<std::int64_t>();
  Table table({{"MEMORY"}, {"BYTES", Align::right}, {"OF"}});
  const auto row = [&](const char* what, const char* name, const std::string& of) {
    const auto bytes = memory.at(name).get<std::uint64_t>();
    if (bytes > 0) table.add({what, bytes_text(bytes), of});
  };
  row("parameters", "parameters", "");
  row("gradients", "gradients",
      shards > 1 ? "of the batch, and of one of its " + std::to_string(shards) + " shards" : "");
  row("optimizer", "optimizer",
      size.at("optimizer").at("type").get<std::string>() + ": " + std::to_string(states) +
          (states == 1 ? " number" : " numbers") + " for each parameter");
  row("copies", "copies",
      "what passes read in place of parameters, in " + size.at("precision").get<std::string>());
  row("activations", "activations",
      "the arena; training needs " + bytes_text(memory.at("activations_training").get<std::uint64_t>()) +
          ", evaluation " + bytes_text(memory.at("activations_evaluation").get<std::uint64_t>()));
  row("all", "total", "");
  table.print(out, terminal, 2);
}

void print_assumptions(std::ostream& out, const Json& size) {
  const Json& batch = size.at("batch");
  out << "  batch: " << thousands(batch.at("sequences").get<std::int64_t>()) << " sequences of "
      << thousands(batch.at("length").get<std::int64_t>()) << " tokens, "
      << thousands(batch.at("tokens").get<std::int64_t>()) << " in all";
  if (batch.contains("target_tokens")) out << ", and as many sequences of the same length for the decoder";
  if (batch.contains("picked"))
    out << "; " << thousands(batch.at("picked").at("value").get<std::int64_t>()) << " rows picked"
        << (batch.at("picked").at("assumed").get<bool>() ? " (assumed; --picked)" : "");
  out << '\n';
  const auto sourced = [&](const char* name, const std::string& what) {
    const Json& value = size.at(name);
    if (value.at("value") == 0) return;
    out << "  " << what << ": " << thousands(value.at("value").get<std::int64_t>()) << " ("
        << (value.at("assumed").get<bool>() ? "assumed, for " : "") << value.at("source").get<std::string>()
        << (value.at("assumed").get<bool>() ? std::string("; --") + name : "") << ")\n";
  };
  sourced("vocabulary", "vocabulary");
  sourced("labels", "labels");
}

void print_size(std::ostream& out, const Terminal& terminal, const Json& size) {
  const Json &model = size.at("model"), &runs = size.at("runs");
  out << runs.front().get<std::string>();
  if (runs.size() > 1)
    out << " and " << runs.size() - 1 << (runs.size() == 2 ? " more run" : " more runs") << " of this size";
  out << ": " << parameters_text(model) << '\n';
  print_assumptions(out, size);
  out << '\n';
  print_parts(out, terminal, model);
  out << '\n';
  print_memory(out, terminal, size);
  for (const Json& path : size.at("uncounted"))
    out << "  not counted: what " << path.get<std::string>() << " multiplies beside its matrices\n";
  out << '\n';
}

}  // namespace

void add_size_options(CommandLine& line) {
  namespace po = boost::program_options;
  line.options()("size", po::bool_switch(),
                 "parameters, operations and memory of each distinct model, part by part; the data need not "
                 "be there");
  line.options()("length", po::value<int>()->value_name("T"),
                 "with --size: tokens of a sequence (default: data.max_length)");
  line.options()("batch", po::value<int>()->value_name("B"),
                 "with --size: sequences of a batch (default: train.batch_size, or as many as "
                 "train.batch_tokens holds)");
  line.options()("vocabulary", po::value<int>()->value_name("V"),
                 "with --size: pieces (default: those of tokenizer.vocab, or tokenizer.vocab_size)");
  line.options()("labels", po::value<int>()->value_name("K"),
                 "with --size: labels (default: those of the training set)");
  line.options()("picked", po::value<double>()->value_name("SHARE"),
                 "with --size: share of the rows that the task picks for its head (default: 0.15)");
}

std::string hash_of_path(const std::filesystem::path& path) {
  return sha256(path.string());
}

Json sizes_of(const CommandLine& line, const PlannedRuns& planned, const std::vector<std::size_t>& shown) {
  const std::vector<std::string> arguments = worker_arguments_of(line);
  std::map<std::string, std::size_t> numbers;
  std::vector<const Specification*> models;
  std::vector<std::vector<std::string>> runs;
  for (const std::size_t index : shown) {
    const Specification& specification = planned.runs[index].specification;
    const auto [known, is_new] = numbers.emplace(model_key(specification.config), models.size());
    if (is_new) {
      models.push_back(&specification);
      runs.emplace_back();
    }
    runs[known->second].push_back(specification.name);
  }
  const Json answers = ask(planned, arguments, models);
  require_sizes(answers, models);
  Json sizes = Json::array();
  std::vector<std::size_t> firsts;  // the answer that each of sizes came from
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto same =
        std::ranges::find_if(firsts, [&](std::size_t first) { return answers[first] == answers[i]; });
    if (same != firsts.end()) {
      Json& names = sizes[static_cast<std::size_t>(same - firsts.begin())]["runs"];
      for (const std::string& name : runs[i]) names.push_back(name);
      continue;
    }
    firsts.push_back(i);
    Json size = {{"runs", runs[i]}};
    size.update(answers[i]);
    sizes.push_back(std::move(size));
  }
  return sizes;
}

void print_sizes(std::ostream& out, const Terminal& terminal, const Json& sizes) {
  for (const Json& size : sizes) print_size(out, terminal, size);
  out << "The numbers of a block and its parts are those of one block. Operations: two for each multiply-add "
         "of "
         "the matrix products,\nattention's at that length included, those of the backward pass twice those "
         "of "
         "the forward pass where all of it trains;\nlookups, norms, activations and the optimizer are not "
         "counted. Memory is that of the largest batch if it has this shape.\n";
}

}  // namespace encore
