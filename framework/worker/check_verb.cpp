// SPDX-License-Identifier: BSD-3-Clause
// The verb check: finds errors that a schema cannot find, for every specification of a sweep, before `exp
// run` starts the first run. It builds what each run would build, except that nothing is trained, so a new
// part of a run must be built here too. Request and answer are in record/check_request.hpp; runner/check.cpp
// is the other side.
#include <exception>
#include <iostream>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <encore/device.hpp>
#include <encore/target_tokenizer.hpp>
#include <nlohmann/json.hpp>

#include "apply/application.hpp"
#include "config/catalogue.hpp"
#include "config/error.hpp"
#include "config/fingerprint.hpp"
#include "data/vocabulary.hpp"
#include "infer/parent_weights.hpp"
#include "infer/setup.hpp"
#include "infer/teacher.hpp"
#include "model/model.hpp"
#include "record/check_request.hpp"
#include "train/pretrained_run.hpp"
#include "worker/answers.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {
namespace {

/// The size of a vocabulary that is not trained yet. It suffices to build the model; a real one only makes
/// the embedding larger.
constexpr std::size_t small_vocabulary = 16;
constexpr std::int64_t usual_length = 256;

/// A tokenizer that returns the same token for any text. The real vocabulary may not be trained yet, and the
/// measures of a set do not depend on the tokens.
class OneTokenTokenizer final : public Tokenizer {
 public:
  void load(std::vector<std::string>) override {}
  void train(const TextCounts&) override {}
  std::span<const std::string> vocabulary() const override { return {}; }
  std::optional<std::int32_t> find(Special) const override { return 0; }
  std::string decode(std::span<const std::int32_t>) const override { return {}; }

 protected:
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const override {
    tokens.push_back(0);
    if (ranges != nullptr) ranges->push_back({0, text.size()});
  }
};

/// Checks the runs of a sweep, which share most of their tables. So each plugin is opened, each file read,
/// and each table and model built only once; sets in the token cache are not read. The error of a table is
/// thrown again for every run that has the table.
class Checker {
 public:
  explicit Checker(const record::CheckRequest& request) : request_(request) {}

  void check(const record::CheckRequest::Run& run) {
    Plugins& plugins = plugins_of(run.folders);
    if (run.tables.contains("app")) return check_steps(run, plugins);
    const auto table = [&](const char* name) { return " " + run.table(name); };
    const auto once = [&](const std::string& what, const auto& build) {
      Verdict& verdict = verdicts_[what + " " + std::to_string(run.folders)];
      if (!verdict.known) verdict = verdict_on(build);
      if (verdict.problem) std::rethrow_exception(verdict.problem);
    };
    // The labels come from the data; all else from which the model is built is in these tables.
    const std::string distil = run.tables.contains("distil") ? table("distil") : "";
    once("model" + table("tokenizer") + table("model") + table("train") + table("data") + table("task") +
             distil,
         [&] { check_model(run, plugins); });
    once("optimizer" + table("optimizer"), [&] {
      const config::PluginTable optimizer = plugin_table(run, plugins, Kind::optimizer, "optimizer");
      infer::with_key(optimizer,
                      [&] { return plugins.registry.make_optimizer(optimizer.type, optimizer.options); });
    });
    const std::int64_t width = request_.part(run.tables.at("model")).at("width").get<std::int64_t>();
    once("schedule" + table("schedule") + " " + std::to_string(width), [&] {
      const config::PluginTable schedule = plugin_table(run, plugins, Kind::schedule, "schedule");
      infer::with_key(schedule, [&] {
        return plugins.registry.make_schedule(schedule.type, schedule.options, {1, width});
      });
    });
  }

 private:
  struct CheckedSets {
    tasks::TaskSets sets;
    bool encoded = false;
  };
  struct Plugins {
    config::Catalogue catalogue;
    plugin_host::Registry registry = {};
  };
  struct Verdict {
    bool known = false;
    std::exception_ptr problem = nullptr;
  };

  template <class Build>
  static Verdict verdict_on(const Build& build) {
    try {
      build();
      return {true};
    } catch (...) {
      return {true, std::current_exception()};
    }
  }

  Plugins& plugins_of(std::size_t part) {
    const auto known = plugins_.find(part);
    if (known != plugins_.end()) return known->second;
    std::vector<std::filesystem::path> folders;
    for (const nlohmann::json& folder : request_.part(part)) folders.emplace_back(folder.get<std::string>());
    return plugins_.emplace(part, Plugins{config::Catalogue::load(folders, config::host_fingerprint())})
        .first->second;
  }

  /// Returns the options of a plugin as a table that can be checked alone; loads the plugin.
  config::PluginTable plugin_table(const record::CheckRequest::Run& run, Plugins& plugins, Kind kind,
                                   const char* key) const {
    const nlohmann::json& table = request_.part(run.tables.at(key));
    const config::ManifestOffer& offer = plugins.catalogue.get(kind, table.at("type").get<std::string>());
    const config::TypeName type{kind, offer.name};
    plugins.registry.load(plugins.catalogue, {&type, 1});
    return {key, offer.name, offer.version,
            config::options_from_config(table, offer.options, key, request_.origins(run))};
  }

  /// Checks an application without the models that its steps ask, which may not be trained yet.
  void check_steps(const record::CheckRequest::Run& run, Plugins& plugins) {
    const record::Specification specification = request_.specification(run);
    const config::Application application =
        config::make_application(specification.config, plugins.catalogue, specification.origin);
    plugins.registry.load(plugins.catalogue, config::needed_types(application));
    apply::check_application(application, plugins.registry);
  }

  void check_model(const record::CheckRequest::Run& run, Plugins& plugins) {
    const record::Specification specification = request_.specification(run);
    config::Experiment experiment =
        config::make_experiment(specification.config, plugins.catalogue, specification.origin);
    infer::take_planned_files(experiment.data, specification);
    plugins.registry.load(plugins.catalogue, config::needed_types(experiment));
    const std::string known = run.table("tokenizer") + " " + std::to_string(run.folders);
    if (!tokenizers_.contains(known)) tokenizers_[known] = loaded_tokenizer(experiment, plugins.registry);
    if (experiment.train.trains_nothing()) return check_adopted(specification, experiment, plugins.registry);
    CheckedSets& checked = sets_of(specification, experiment, plugins.registry, tokenizers_[known]);
    infer::require_classes_of_parent(specification, experiment, plugins.registry, checked.sets.task());
    const bool length_is_known = experiment.data.max_length != 0 || checked.sets.max_length() != 0;
    if (experiment.data.max_length == 0) assume_max_length(experiment, checked.sets.max_length());
    infer::Engine* teacher = teacher_of(specification);
    if (teacher != nullptr) {
      infer::require_same_tokens(*teacher, experiment.tokenizer, tokenizers_[known].lines);
      infer::require_same_labels(*teacher, checked.sets.task().labels());
    }
    std::size_t vocabulary = small_vocabulary, targets = experiment.target_tokenizer ? small_vocabulary : 0;
    if (teacher != nullptr) {
      vocabulary = teacher->tokenizer().vocabulary().size();
      if (targets > 0) targets = target_tokenizer_of(teacher->tokenizer()).vocabulary().size();
    }
    model::Model model(experiment, infer::model_size(checked.sets.task(), vocabulary, targets),
                       plugins.registry, device_);
    if (teacher != nullptr && length_is_known) infer::learn_from(model, *teacher);
    infer::require_selectable(experiment.train.select, model);
    infer::require_generation(checked.sets.task(), model);
    infer::require_attention(experiment.train, model);
    if (infer::always_there(experiment.train.select, checked.sets.measures())) return;
    if (!checked.encoded && experiment.data.max_length_percent > 0)
      return;  // the worker that trains checks it
    if (!checked.encoded) checked.sets.encode(OneTokenTokenizer(), 1);
    checked.encoded = true;
    infer::require_selectable(experiment.train.select, checked.sets);
  }

  /// Returns the model that a run learns from ([distil] teacher), or null if that is not trained yet.
  infer::Engine* teacher_of(const record::Specification& specification) {
    const auto weights = specification.data.find(record::teacher_role);
    if (weights == specification.data.end()) return nullptr;
    auto& known = teachers_[weights->second.path];
    if (!known) known = infer::load_teacher(specification, device_);
    return known.get();
  }

  /// Checks a run without sets, whose task gets its knowledge from the folder of a foreign model.
  void check_adopted(const record::Specification& specification, const config::Experiment& experiment,
                     const plugin_host::Registry& registry) {
    tasks::TaskParts parts = infer::make_task_parts(experiment, registry);
    train::adopt_model(parts, specification);
    const model::Model model(experiment, infer::model_size(*parts.task, small_vocabulary), registry, device_);
  }

  /// Returns the sets of a run. A set that was encoded before was valid then, and its hash shows that it is
  /// unchanged.
  CheckedSets& sets_of(const record::Specification& specification, const config::Experiment& experiment,
                       const plugin_host::Registry& registry, const infer::LoadedTokenizer& tokenizer) {
    const config::DataTable& data = experiment.data;
    tasks::TaskParts parts = infer::make_task_parts(experiment, registry);
    auto& known = sets_[{parts.identity, data.train, data.dev, data.test, data.more, data.held_out,
                         data.split, data.stratify, data.max_length, data.max_length_percent}];
    if (known) return *known;
    auto checked = std::make_unique<CheckedSets>(
        CheckedSets{tasks::TaskSets(std::move(parts), data, infer::content_hashes(specification))});
    checked->encoded =
        tokenizer.tokenizer != nullptr &&
        checked->sets.load_encoded(tasks::TokenCache::standard(),
                                   infer::encoding_of(experiment, registry, tokenizer, specification));
    if (!checked->encoded) checked->sets.read();
    known = std::move(checked);
    return *known;
  }

  /// Assumes a max_length if it is a percentage of the training set, which may not be encoded here. The model
  /// can be checked with any length.
  static void assume_max_length(config::Experiment& experiment, std::int64_t known) {
    if (known != 0) return infer::take_max_length(experiment, known);
    const std::int64_t rows = experiment.model.max_positions;
    experiment.data.max_length = rows > 0 ? rows : usual_length;
  }

  /// Returns the tokenizer with its vocabulary, or an empty result if the vocabulary is yet to be trained, or
  /// if each side has one of its own.
  static infer::LoadedTokenizer loaded_tokenizer(const config::Experiment& experiment,
                                                 const plugin_host::Registry& registry) {
    infer::LoadedTokenizer of_sources = loaded_tokenizer(experiment.tokenizer, registry);
    if (!experiment.target_tokenizer) return of_sources;
    loaded_tokenizer(*experiment.target_tokenizer, registry);
    return {};
  }

  static infer::LoadedTokenizer loaded_tokenizer(const config::TokenizerTable& table,
                                                 const plugin_host::Registry& registry) {
    auto tokenizer =
        infer::with_key(table, [&] { return registry.make_tokenizer(table.type, table.options); });
    if (!table.options.has("vocab")) return {};
    try {
      std::vector<std::string> lines = data::load_vocabulary(table.options.text("vocab"));
      tokenizer->load(lines);
      return {.tokenizer = std::move(tokenizer), .lines = std::move(lines)};
    } catch (const Error& error) {
      throw config::ConfigError(table.key + ".vocab", error.what());
    }
  }

  const record::CheckRequest& request_;
  Device device_;
  std::map<std::size_t, Plugins> plugins_;
  using Files = std::vector<std::string>;
  std::map<std::tuple<std::string, Files, Files, Files, Files, double, std::vector<double>, bool,
                      std::int64_t, double>,
           std::unique_ptr<CheckedSets>>
      sets_;
  std::unordered_map<std::string, infer::LoadedTokenizer> tokenizers_;
  std::unordered_map<std::string, std::unique_ptr<infer::Engine>>
      teachers_;  ///< keyed by the path of their weights
  std::unordered_map<std::string, Verdict> verdicts_;
};

}  // namespace

int check_verb() {
  std::ios::sync_with_stdio(false);  // else reading is byte by byte, and a request may have megabytes
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const record::CheckRequest request = record::CheckRequest::parse(text);
  std::vector<record::CheckProblem> problems;
  Checker checker(request);
  for (std::size_t i = 0; i < request.size(); ++i) {
    try {
      checker.check(request.run(i));
    } catch (const config::ConfigError& error) {
      problems.push_back({i, error.key(), error.what()});
    } catch (const std::exception& error) {
      problems.push_back({i, "", error.what()});
    }
    if ((i + 1) % record::checks_per_line == 0)
      answer_stream() << std::endl;  // flushed, because exp waits for it
  }
  write_answer(to_json_object(problems));
  return problems.empty() ? 0 : 2;
}

}  // namespace encore::worker
