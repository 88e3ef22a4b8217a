// SPDX-License-Identifier: BSD-3-Clause
// Implements setup.hpp: loads the experiment, plugins, data sets, tokenizer and model that a specification
// names. Worker verbs call it before training, checking or predicting. All verbs must make their parts here,
// so that a run is checked, trained and used with the same ones. Errors name the dotted key of the
// experiment. Read setup.hpp first.
#include "infer/setup.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <encore/vocabulary_lines.hpp>

#include "base/load_file.hpp"
#include "base/measures.hpp"
#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "config/catalogue.hpp"
#include "config/fingerprint.hpp"
#include "data/vocabulary.hpp"
#include "infer/tokenizer_pair.hpp"
#include "plugin_host/reader_settings.hpp"
#include "record/crash_line.hpp"
#include "tasks/length_share.hpp"

namespace encore::infer {
namespace {

const std::string dev_prefix = std::string(data::name_of(data::Split::dev)) + "/";

nlohmann::json options_json(const config::PluginTable& table) {
  nlohmann::json options = nlohmann::json::object();
  for (const auto& [name, value] : table.options.values())
    std::visit([&](const auto& held) { options[name] = held; }, value);
  return options;
}

LoadedTokenizer without_vocabulary(const LoadedExperiment& loaded, const config::TokenizerTable& table) {
  return {
      .tokenizer = with_key(table, [&] { return loaded.registry.make_tokenizer(table.type, table.options); }),
      .lines = {}};
}

void load_lines(std::vector<std::string> lines, LoadedTokenizer& to) {
  to.tokenizer->load(lines);
  to.lines = std::move(lines);
}

/// Loads the file that the option `vocab` names, or trains a vocabulary.
void load_or_train(const config::TokenizerTable& table, const std::function<TextCounts()>& text_counts,
                   LoadedTokenizer& to) {
  if (table.options.has("vocab")) return load_lines(data::load_vocabulary(table.options.text("vocab")), to);
  to.tokenizer->train(text_counts());
  to.lines = vocabulary_lines_of(*to.tokenizer);
}

}  // namespace

LoadedExperiment load_experiment(const record::Specification& specification) {
  if (record::is_application(specification))
    throw Error("run " + specification.name +
                " is an application, which has no model of its own; exp predict, evaluate and serve take it, "
                "and the runs that its steps ask (exp show names them) can do everything else");
  const std::vector<std::filesystem::path> folders(specification.plugin_folders.begin(),
                                                   specification.plugin_folders.end());
  const config::Catalogue catalogue = config::Catalogue::load(folders, config::host_fingerprint());
  LoadedExperiment loaded{config::make_experiment(specification.config, catalogue, specification.origin), {}};
  take_planned_files(loaded.experiment.data, specification);
  loaded.registry.load(catalogue, config::needed_types(loaded.experiment));
  return loaded;
}

void take_planned_files(config::DataTable& data, const record::Specification& specification) {
  for (const auto& [role, paths] : {std::pair("train", &data.train), std::pair("dev", &data.dev),
                                    std::pair("test", &data.test), std::pair(record::added_role, &data.more)})
    if (std::vector<std::string> files = record::files_of_role(specification.data, role); !files.empty())
      *paths = std::move(files);
}

LoadedTokenizer load_tokenizer(const LoadedExperiment& loaded, const std::filesystem::path& run_folder,
                               const std::function<TextCounts(tasks::TextSide)>& text_counts,
                               const std::function<std::filesystem::path()>& inherited) {
  const config::TokenizerTable& table = loaded.experiment.tokenizer;
  const std::optional<config::TokenizerTable>& of_targets = loaded.experiment.target_tokenizer;
  LoadedTokenizer sources = without_vocabulary(loaded, table), targets;
  if (of_targets) targets = without_vocabulary(loaded, *of_targets);
  const std::string text =
      record::work_text("vocabulary", "", loaded.registry.owner_text(Kind::tokenizer, table.type));
  const record::CurrentWork work(text.c_str());
  const std::filesystem::path kept = run_folder / vocabulary_file;
  std::filesystem::path file;
  if (std::filesystem::exists(kept))
    file = kept;
  else if (inherited)
    file = inherited();
  const auto counts_of = [&](tasks::TextSide side) { return [&, side] { return text_counts(side); }; };
  if (!of_targets) {
    if (file.empty())
      load_or_train(table, counts_of(tasks::TextSide::both), sources);
    else
      load_lines(data::load_vocabulary(file), sources);
    return sources;
  }
  if (file.empty()) {
    load_or_train(table, counts_of(tasks::TextSide::sources), sources);
    load_or_train(*of_targets, counts_of(tasks::TextSide::targets), targets);
  } else {
    auto [source_lines, target_lines] = data::load_two_vocabularies(file);
    load_lines(std::move(source_lines), sources);
    load_lines(std::move(target_lines), targets);
  }
  LoadedTokenizer both;
  both.lines = std::move(sources.lines);
  both.targets = targets.tokenizer->vocabulary().size();
  both.lines.emplace_back(data::targets_header);
  both.lines.insert(both.lines.end(), targets.lines.begin(), targets.lines.end());
  both.tokenizer =
      std::make_unique<TokenizerPair>(std::move(sources.tokenizer), std::move(targets.tokenizer));
  return both;
}

std::string encoding_of(const config::Experiment& experiment, const plugin_host::Registry& registry,
                        const LoadedTokenizer& tokenizer, const record::Specification& specification) {
  const auto described = [&](const config::TokenizerTable& table) {
    nlohmann::json options = options_json(table);
    for (const auto& [role, file] : specification.data) options.erase(role);  // hashed by content
    return nlohmann::json{{"type", table.type},
                          {"version", table.version},
                          {"plugin", registry.library_sha256(Kind::tokenizer, table.type)},
                          {"options", options}};
  };
  nlohmann::json encoding = described(experiment.tokenizer);
  if (experiment.target_tokenizer) encoding["target"] = described(*experiment.target_tokenizer);
  Sha256 vocabulary;
  for (const std::string& line : tokenizer.lines) vocabulary.add(line + "\n");
  encoding["vocabulary"] = vocabulary.hex();
  return encoding.dump();
}

tasks::TaskParts make_task_parts(const config::Experiment& experiment,
                                 const plugin_host::Registry& registry) {
  const config::PluginTable &task = experiment.task, &reader = experiment.data.reader;
  const auto identity = [&](Kind kind, const config::PluginTable& table) {
    return nlohmann::json{{"type", table.type},
                          {"version", table.version},
                          {"plugin", registry.library_sha256(kind, table.type)},
                          {"options", options_json(table)}};
  };
  const Offer& offer = registry.offer(Kind::task, task.type);
  const auto make_task = [task, &registry](std::int64_t max_length) {
    return with_key(task, [&] { return registry.make_task(task.type, task.options, {max_length}); });
  };
  const std::int64_t max_length = experiment.data.max_length;
  return {.make_task = make_task,
          .task = make_task(max_length == 0 ? tasks::longest_sequence : max_length),
          .reader = with_key(reader, [&] { return registry.make_reader(reader.type, reader.options); }),
          .fields = offer.needs,
          .measures = offer.measures,
          .identity =
              nlohmann::json{{"task", identity(Kind::task, task)}, {"reader", identity(Kind::reader, reader)}}
                  .dump(),
          .remedy = [reader, &registry](std::span<const InputText> files,
                                        const std::vector<std::string>& fields) {
            const Offer& of_reader = registry.offer(Kind::reader, reader.type);
            return plugin_host::reader_remedy(
                of_reader, plugin_host::settings_that_give(of_reader, reader.options, files, fields));
          }};
}

data::BatchOptions batch_options(const config::TrainTable& train, std::uint64_t seed) {
  return {.seed = seed, .batch_size = train.batch_size, .batch_tokens = train.batch_tokens};
}

ExampleSet units_of(const Task& task, const ExampleSet& set) {
  return task.separates_sequences() ? set.by_sequence() : set;
}

void require_unseen_targets(const config::ModelTable& model, const ExampleSet& set) {
  if (model.causal || !set.has_column(targets_column)) return;
  const std::size_t column = set.column(targets_column);
  if (set.columns()[column].rule != ColumnRule{.name = targets_column}) return;
  bool any = false;
  for (std::size_t s = 0; s < set.sequence_count(); ++s) {
    const std::span<const std::int32_t> ids = set.ids(s), targets = set.integers(column, s);
    for (std::size_t row = 1; row < ids.size(); ++row) {
      if (targets[row - 1] != ids[row]) return;
      any = true;
    }
  }
  if (any)
    throw config::ConfigError(
        "model.causal",
        "the target of each row is the token behind it, which this model sees and would only "
        "copy; set [model] causal = true");
}

model::ModelSize model_size(const Task& task, std::size_t vocabulary, std::size_t targets) {
  return {.vocabulary = static_cast<std::int64_t>(vocabulary),
          .labels = task.labels(),
          .columns = task.columns(),
          .outputs = task.outputs(),
          .targets = static_cast<std::int64_t>(targets)};
}

bool always_there(const config::Selection& select, const std::vector<Measure>& measures) {
  if (select.measure() == loss_measure().name) return true;
  const Measure* measure = config::measure_of(measures, select.measure());
  return measure != nullptr && measure->always && !is_family(*measure);
}

void take_max_length(config::Experiment& experiment, std::int64_t max_length) {
  const std::int64_t rows = experiment.model.max_positions;
  if (rows > 0 && max_length > rows)
    throw config::ConfigError(
        "data.max_length", "data.max_length = \"" + tasks::percent_text(experiment.data.max_length_percent) +
                               "\" is " + std::to_string(max_length) + " tokens for this training set, and " +
                               "model.max_positions = " + std::to_string(rows) +
                               " has no row for those behind; set data.max_length = " + std::to_string(rows));
  experiment.data.max_length = max_length;
}

std::int64_t kept_max_length(const std::filesystem::path& run_folder) {
  const std::filesystem::path path = run_folder / max_length_file;
  const std::string text = load_text(path, "resolved data.max_length");
  std::int64_t length = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (failure != std::errc() || length < 1 || length > tasks::longest_sequence ||
      std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end)) != "\n")
    throw Error(path.string() + ": no length of sequences; train the run again (exp run FILE --fresh)");
  return length;
}

void require_selectable(const config::Selection& select, const tasks::TaskSets& sets) {
  if (always_there(select, sets.measures())) return;
  // Measures that need the truth alone are always there, and those of generated text if the task generates
  // any.
  const ExampleSet& dev = sets.set(data::Split::dev).set;
  Outputs any(dev, sets.task().outputs());
  if (sets.task().decoding())
    any.set_texts(std::vector<std::vector<GeneratedText>>(dev.sequence_count(), {GeneratedText()}));
  std::vector<std::string> names;
  for (const auto& [name, value] : measure_values(sets.measures(), sets.measure(data::Split::dev, any)))
    names.push_back(dev_prefix + name);
  if (std::find(names.begin(), names.end(), select.metric) != names.end()) return;
  throw config::ConfigError("train.select",
                            "the development set has no measure \"" + select.metric + "\"" +
                                did_you_mean(select.metric, names, "; it has " + quoted_list(names)));
}

void require_generation(const Task& task, const model::Model& model) {
  if (task.decoding()) model.require_generation();
}

void require_attention(const config::TrainTable& train, const model::Model& model) {
  if (train.show_attention > 0 && !model.has_attention())
    throw config::ConfigError("train.show_attention",
                              "no layer of this model has attention weights to keep; leave it out");
}

void require_selectable(const config::Selection& select, const model::Model& model) {
  if (!model.couples_sequences() || select.measure() != loss_measure().name) return;
  throw config::ConfigError(
      "train.select", "the loss of this head depends on which examples stand together in a batch, so \"" +
                          select.metric + "\" cannot choose the best checkpoint; name a measure");
}

tasks::ContentHashes content_hashes(const record::Specification& specification) {
  tasks::ContentHashes hashes;
  for (const auto& [role, file] : specification.data) hashes[role] = file.sha256;
  return hashes;
}

}  // namespace encore::infer
