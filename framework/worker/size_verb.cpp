// SPDX-License-Identifier: BSD-3-Clause
// The verb size: computes memory and work of the models of an experiment file, for `exp plan --size`, without
// training and if possible without data: values that are missing are assumed, and the answer says which. The
// answer is record/size_answer.hpp. The numbers must be those of the model that a run would build. Read next:
// model/model_cost.hpp.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "config/error.hpp"
#include "data/vocabulary.hpp"
#include "infer/setup.hpp"
#include "model/model_cost.hpp"
#include "record/size_answer.hpp"
#include "record/specification.hpp"
#include "worker/answers.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {
namespace {

constexpr std::int64_t assumed_vocabulary = 30522;  // of bert-base-uncased (Devlin et al. 2019)
constexpr std::int64_t assumed_labels = 2;
constexpr double assumed_picked = 0.15;  // the share of masked tokens (Devlin et al. 2019)

record::SourcedNumber vocabulary_of(const config::TokenizerTable& table, std::int64_t given) {
  if (given > 0) return {given, "--vocabulary"};
  if (table.options.has("vocab")) {
    const std::string& file = table.options.text("vocab");
    if (std::filesystem::exists(file))
      return {static_cast<std::int64_t>(data::token_count(data::load_vocabulary(file))),
              table.key + ".vocab"};
    return {assumed_vocabulary, file + " is not there", true};
  }
  if (table.options.has("vocab_size"))
    return {table.options.integer("vocab_size"), table.key + ".vocab_size, the most it can get"};
  return {assumed_vocabulary, "the vocabulary is not trained yet", true};
}

/// What a task knows after it has read the training set, or assumed values.
struct KnownTask {
  record::SourcedNumber labels;
  model::ModelSize size;
};

bool all_there(const std::vector<std::string>& files) {
  return !files.empty() &&
         std::ranges::all_of(files, [](const auto& file) { return std::filesystem::exists(file); });
}

/// Returns what the task knows. With `data.split`, the whole file counts as its training set, so labels that
/// only the other shares have count too.
KnownTask known_task(tasks::TaskParts parts, const std::vector<std::string>& train, std::int64_t given) {
  if (given == 0 && all_there(train)) {
    const Records records = tasks::read_set(*parts.reader, train, data::title_of(data::Split::train)).records;
    tasks::require_fields(records, parts.fields, train, parts.remedy);
    tasks::with_file(train.front(), [&] { parts.task->prepare(records); });
    model::ModelSize size = infer::model_size(*parts.task, 0);
    const auto count = static_cast<std::int64_t>(size.labels.size());
    return {{count, "data.train"}, std::move(size)};
  }
  const bool assumed = given == 0;
  const std::int64_t count = assumed ? assumed_labels : given;
  model::ModelSize size = infer::model_size(*parts.task, 0);
  size.labels.clear();
  for (std::int64_t label = 1; label <= count; ++label) size.labels.push_back(std::to_string(label));
  for (ColumnRule& column : size.columns)  // one value per label, which it does not know
    if (column.width == 0) column.width = count;
  const std::string source = train.empty() ? "there are no data" : train.front() + " is not there";
  return {{count, assumed ? source : "--labels", assumed}, std::move(size)};
}

record::SizedPart sized(const model::PartCost& part, double rows) {
  record::SizedPart answer{.part = part.name,
                           .type = part.type,
                           .count = part.count,
                           .parameters = part.parameters,
                           .trained = part.trained,
                           .flops = {.forward_per_token = part.forward_flops / rows,
                                     .training_per_token = part.training_flops / rows,
                                     .forward = part.forward_flops,
                                     .training = part.training_flops}};
  for (const model::PartCost& inner : part.parts) answer.parts.push_back(sized(inner, rows));
  return answer;
}

std::size_t state_blocks(const infer::LoadedExperiment& loaded) {
  const config::OptimizerTable& table = loaded.experiment.optimizer;
  return infer::with_key(
      table, [&] { return loaded.registry.make_optimizer(table.type, table.options)->states().size(); });
}

/// Reads each training set once for all models that learn from it.
class KnownTasks {
 public:
  KnownTask of(const infer::LoadedExperiment& loaded, std::int64_t given) {
    tasks::TaskParts parts = infer::make_task_parts(loaded.experiment, loaded.registry);
    const std::vector<std::string>& train = loaded.experiment.data.train;
    const auto key = std::tuple(parts.identity, train, loaded.experiment.data.max_length);
    auto known = known_.find(key);
    if (known == known_.end()) known = known_.emplace(key, known_task(std::move(parts), train, given)).first;
    return known->second;
  }

 private:
  std::map<std::tuple<std::string, std::vector<std::string>, std::int64_t>, KnownTask> known_;
};

record::SizeAnswer size_of_model(const record::Specification& specification, const SizeArguments& asked,
                                 KnownTasks& tasks, const Device& device) {
  infer::LoadedExperiment loaded = infer::load_experiment(specification);
  const config::Experiment& experiment = loaded.experiment;
  if (experiment.data.max_length == 0) {
    if (asked.length == 0)
      throw config::ConfigError("data.max_length",
                                "is a share of the training set, which is not encoded here; give --length");
    infer::take_max_length(loaded.experiment, asked.length);
  }
  const std::int64_t most = experiment.data.max_length;
  const std::int64_t length = asked.length > 0 ? asked.length : most;
  const config::TrainTable& train = experiment.train;
  const std::int64_t of_file =
      train.batch_tokens > 0 ? std::max<std::int64_t>(1, train.batch_tokens / length) : train.batch_size;
  const std::int64_t sequences = asked.batch > 0 ? asked.batch : of_file;
  if (length > most)
    throw config::ConfigError("data.max_length",
                              "no sequence has " + std::to_string(length) +
                                  " rows, the length that was asked for; the longest has " +
                                  std::to_string(most));
  const record::SourcedNumber vocabulary = vocabulary_of(experiment.tokenizer, asked.vocabulary);
  KnownTask task = tasks.of(loaded, asked.labels);
  task.size.vocabulary = vocabulary.value;
  if (experiment.target_tokenizer)
    task.size.targets = vocabulary_of(*experiment.target_tokenizer, asked.vocabulary).value;
  const model::Network network(experiment, task.size, loaded.registry, device);

  const double share = asked.picked > 0.0 ? asked.picked : assumed_picked;
  const std::int64_t shards = experiment.train.gradient_shards;
  const BatchSize batch = model::uniform_batch(network, sequences, length, share);
  const BatchSize shard = model::uniform_batch(network, (sequences + shards - 1) / shards, length, share);
  const std::size_t states = state_blocks(loaded);
  const model::ModelCost cost = model::cost_of(network, batch, shard, shards, states);

  record::SizedBatch shape{.sequences = sequences, .length = length, .tokens = batch.tokens};
  if (network.needs().picked)
    shape.picked = {.value = batch.picked, .share = share, .assumed = asked.picked == 0.0};
  if (network.needs().target) shape.target_tokens = batch.target.tokens;
  const model::MemoryCost& memory = cost.memory;
  return {.vocabulary = vocabulary,
          .labels = task.labels,
          .batch = std::move(shape),
          .precision = std::string(name_of(network.precision())),
          .optimizer = {.type = experiment.optimizer.type, .states = states},
          .gradient_shards = shards,
          .model = sized(cost.whole, static_cast<double>(batch.tokens)),
          .memory = {.parameters = memory.parameters,
                     .gradients = memory.gradients,
                     .optimizer = memory.optimizer,
                     .copies = memory.copies,
                     .activations = memory.arena(),
                     .activations_training = memory.training,
                     .activations_evaluation = memory.evaluation,
                     .total = memory.total()},
          .uncounted = cost.uncounted};
}

}  // namespace

int size_verb(const SizeArguments& arguments) {
  std::ios::sync_with_stdio(false);
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const nlohmann::json specifications = parse_json(text);
  const Device device;
  KnownTasks tasks;
  nlohmann::ordered_json answers = nlohmann::ordered_json::array();
  const auto problem = [&](const std::string& key, const char* message) {
    write_value(answers.emplace_back(), record::SizeProblem{key, message});
  };
  for (const nlohmann::json& specification : specifications) {
    try {
      const record::SizeAnswer size =
          size_of_model(record::Specification::from_json(specification), arguments, tasks, device);
      write_value(answers.emplace_back(), size);
    } catch (const config::ConfigError& error) {
      problem(error.key(), error.what());
    } catch (const std::exception& error) {
      problem("", error.what());
    }
    answer_stream() << std::endl;  // flushed, because exp waits for it
  }
  answer_stream() << answers.dump() << '\n';
  return 0;
}

}  // namespace encore::worker
