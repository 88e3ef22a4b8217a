// SPDX-License-Identifier: BSD-3-Clause
// print_sizes(): prints the costs of models for `exp plan --size` as tables, for plan_verb.cpp, which prints
// the JSON itself (record/size_answer.hpp). The tables are for people and may change. Read next:
// plan_text.hpp.
#include <ostream>

#include "cli/plan_text.hpp"
#include "cli/table.hpp"
#include "report/wording.hpp"

namespace encore::cli {

namespace {

/// "109,514,298 parameters"; "all of them trained", "294,912 of them trained".
std::string parameters_text(const record::SizedPart& model) {
  return thousands(model.parameters) + " parameters" +
         (model.trained == model.parameters ? "" : ", " + thousands(model.trained) + " of them trained");
}

std::string share_text(const record::SizedPart& part, const record::SizedPart& model) {
  const auto all = static_cast<double>(model.parameters);
  return all > 0.0 ? document::percent_text(static_cast<double>(part.parameters) *
                                            static_cast<double>(part.count) / all)
                   : "-";
}

void add_rows(const record::SizedPart& part, const record::SizedPart& model, int depth, Table& table) {
  const auto flops_text = [](double value) {
    return value == 0.0 ? std::string("-") : document::count_text(value);
  };
  const record::PartFlops& flops = part.flops;
  const bool is_shared = part.parameters == 0 && flops.forward != 0.0;
  table.add({std::string(static_cast<std::size_t>(2 * depth), ' ') +
                 (part.count > 1 ? std::to_string(part.count) + " x " : "") + part.part,
             part.type, is_shared ? "shared" : thousands(part.parameters),
             is_shared ? "" : share_text(part, model), flops_text(flops.forward_per_token),
             flops_text(flops.training_per_token), flops_text(flops.forward), flops_text(flops.training)});
  for (const record::SizedPart& inner : part.parts) add_rows(inner, model, depth + 1, table);
}

void print_parts(std::ostream& out, const Terminal& terminal, const record::SizedPart& model) {
  Table table({{"PART"},
               {"TYPE", Align::left, true},
               {"PARAMETERS", Align::right},
               {"%", Align::right, true},
               {"FORWARD/TOKEN", Align::right},
               {"TRAINING/TOKEN", Align::right, true},
               {"FORWARD/BATCH", Align::right, true},
               {"TRAINING/BATCH", Align::right}});
  for (const record::SizedPart& part : model.parts) add_rows(part, model, 0, table);
  add_rows({.part = "all", .parameters = model.parameters, .flops = model.flops}, model, 0, table);
  table.print(out, terminal, 2);
}

void print_memory(std::ostream& out, const Terminal& terminal, const record::SizeAnswer& size) {
  const record::SizedMemory& memory = size.memory;
  const auto& [type, states] = size.optimizer;
  Table table({{"MEMORY"}, {"BYTES", Align::right}, {"OF"}});
  const auto row = [&](const char* what, std::size_t bytes, const std::string& of) {
    if (bytes > 0) table.add({what, bytes_text(bytes), of});
  };
  row("parameters", memory.parameters, "");
  row("gradients", memory.gradients,
      size.gradient_shards > 1
          ? "of the batch, and of one of its " + std::to_string(size.gradient_shards) + " shards"
          : "");
  row("optimizer", memory.optimizer,
      type + ": " + std::to_string(states) + (states == 1 ? " number" : " numbers") + " for each parameter");
  row("copies", memory.copies, "copies of parameters that passes read, in " + size.precision);
  row("activations", memory.activations,
      "the arena; training needs " + bytes_text(memory.activations_training) + ", evaluation " +
          bytes_text(memory.activations_evaluation));
  row("all", memory.total, "");
  table.print(out, terminal, 2);
}

void print_assumptions(std::ostream& out, const record::SizeAnswer& size) {
  const record::SizedBatch& batch = size.batch;
  out << "  batch: " << thousands(batch.sequences) << " sequences of " << thousands(batch.length)
      << " tokens, " << thousands(batch.tokens) << " in all";
  if (batch.target_tokens) out << ", and the same number of sequences of this length for the decoder";
  if (batch.picked)
    out << "; " << thousands(batch.picked->value) << " rows picked"
        << (batch.picked->assumed ? " (assumed; --picked)" : "");
  out << '\n';
  const auto sourced = [&](const std::string& what, const record::SourcedNumber& number) {
    if (number.value == 0) return;
    out << "  " << what << ": " << thousands(number.value) << " (" << (number.assumed ? "assumed, for " : "")
        << number.source << (number.assumed ? "; --" + what : "") << ")\n";
  };
  sourced("vocabulary", size.vocabulary);
  sourced("labels", size.labels);
}

void print_size(std::ostream& out, const Terminal& terminal, const app::SizedModel& model) {
  const auto& [runs, size] = model;
  out << runs.front();
  if (runs.size() > 1)
    out << " and " << runs.size() - 1 << (runs.size() == 2 ? " more run" : " more runs") << " of this size";
  out << ": " << parameters_text(size.model) << '\n';
  print_assumptions(out, size);
  out << '\n';
  print_parts(out, terminal, size.model);
  out << '\n';
  print_memory(out, terminal, size);
  for (const std::string& path : size.uncounted)
    out << "  not counted: products of " << path << " without its matrices\n";
  out << '\n';
}

}  // namespace

void print_sizes(std::ostream& out, const Terminal& terminal, const std::vector<app::SizedModel>& sizes) {
  for (const app::SizedModel& model : sizes) print_size(out, terminal, model);
  out << "The numbers of a block and its parts are for one block; % is the share of all its copies. "
         "Operations: two for each\nmultiply-add of the matrix products, with attention at this length; the "
         "backward "
         "pass has twice those of the forward pass\nif all parameters train; lookups, norms, activations and "
         "the "
         "optimizer are not counted. Memory is for a largest batch of\nthis shape.\n";
}

}  // namespace encore::cli
