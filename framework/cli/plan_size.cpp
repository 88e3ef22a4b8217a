// SPDX-License-Identifier: BSD-3-Clause
// Prints the costs of models for `exp plan --size` as tables (print_sizes, called by plan_verb.cpp). Read
// next: plan_text.hpp.
#include <ostream>

#include <nlohmann/json.hpp>

#include "cli/format.hpp"
#include "cli/plan_text.hpp"
#include "cli/table.hpp"
#include "report/wording.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

/// Returns "109,514,298 parameters", with "all of them trained" or "294,912 of them trained".
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
      "copies of parameters that passes read, in " + size.at("precision").get<std::string>());
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
  if (batch.contains("target_tokens"))
    out << ", and the same number of sequences of this length for the decoder";
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
    out << " not counted: products of " << path.get<std::string>() << " without its matrices\n";
  out << '\n';
}

}  // namespace

void print_sizes(std::ostream& out, const Terminal& terminal, const Json& sizes) {
  for (const Json& size : sizes) print_size(out, terminal, size);
  out << "The numbers of a block and its parts are for one block. Operations: two for each multiply-add of "
         "the matrix products, with\nattention at this length; the backward pass has twice those of the "
         "forward pass if all parameters train; lookups, norms,\nactivations and the optimizer are not "
         "counted. Memory is for a largest batch of this shape.\n";
}

}  // namespace encore
