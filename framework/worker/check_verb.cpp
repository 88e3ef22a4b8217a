// check: finds what no schema can say, for every specification of a sweep, before the first one starts.
#include <exception>
#include <iostream>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "config/fingerprint.hpp"
#include "config/manifest.hpp"
#include "data/vocabulary.hpp"
#include "model/model.hpp"
#include "train/setup.hpp"
#include "worker/verbs.hpp"

namespace encore {
namespace {

/// Enough to build the model; the real vocabulary only makes the embedding larger.
constexpr std::int64_t small_vocabulary = 16;

/// The runs of a sweep share most of their tables: each plugin is opened, each file read, and each table or
/// model built once; sets that the token cache holds are not read at all. What was found wrong with a table
/// is thrown again for every run that has it.
class Checker {
 public:
  void check(const Specification& specification) {
    Plugins& plugins = plugins_of(specification);
    const Experiment experiment = make_experiment(specification.config, plugins.catalogue);
    plugins.registry.load(plugins.catalogue, needed_types(experiment));
    const nlohmann::json& config = specification.config;
    std::string folders;
    for (const std::string& folder : specification.plugin_folders) folders += folder + '\n';
    const auto once = [&](const std::string& what, const auto& build) {
      Verdict& verdict = verdicts_[folders + what];
      if (!verdict.known) verdict = verdict_on(build);
      if (verdict.problem) std::rethrow_exception(verdict.problem);
    };
    const std::string table = "tokenizer " + config.at("tokenizer").dump();
    std::unique_ptr<Tokenizer>& tokenizer = tokenizers_[folders + table];
    once(table, [&] { tokenizer = loaded_tokenizer(experiment.tokenizer, plugins.registry); });
    const Task& task = task_of(specification, experiment, plugins.registry, tokenizer.get());
    // The labels come from the data; everything else that the model is built from is in these tables.
    once("model " + config.at("model").dump() + config.at("train").dump() + config.at("data").dump(), [&] {
      Model(experiment, {small_vocabulary, task.labels()}, plugins.registry, device_);
    });
    once("optimizer " + config.at("optimizer").dump(), [&] {
      with_key(experiment.optimizer, [&] {
        return plugins.registry.make_optimizer(experiment.optimizer.type, experiment.optimizer.options);
      });
    });
    once("schedule " + std::to_string(experiment.model.width) + config.at("schedule").dump(), [&] {
      with_key(experiment.schedule, [&] {
        return plugins.registry.make_schedule(experiment.schedule.type, experiment.schedule.options,
                                              {1, experiment.model.width});
      });
    });
  }

 private:
  struct Plugins {
    Catalogue catalogue;
    Registry registry = {};
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

  Plugins& plugins_of(const Specification& specification) {
    const std::vector<std::filesystem::path> folders(specification.plugin_folders.begin(),
                                                     specification.plugin_folders.end());
    const auto known = plugins_.find(folders);
    if (known != plugins_.end()) return known->second;
    return plugins_.emplace(folders, Plugins{Catalogue::load(folders, host_fingerprint())}).first->second;
  }

  /// What was encoded once was sound then, and is the same file still when its hash is.
  const Task& task_of(const Specification& specification, const Experiment& experiment,
                      const Registry& registry, const Tokenizer* tokenizer) {
    const DataTable& data = experiment.data;
    auto& known = tasks_[{data.train, data.dev, data.test, data.max_length}];
    if (known) return *known;
    std::unique_ptr<Task> task = make_task(experiment, content_hashes(specification));
    if (tokenizer == nullptr ||
        !task->load_encoded(TokenCache::standard(),
                            encoding_of(experiment.tokenizer, registry, *tokenizer, specification)))
      task->read();
    known = std::move(task);
    return *known;
  }

  /// The tokenizer with its vocabulary; none where the vocabulary is yet to be trained.
  static std::unique_ptr<Tokenizer> loaded_tokenizer(const TokenizerTable& table, const Registry& registry) {
    auto tokenizer = with_key(table, [&] { return registry.make_tokenizer(table.type, table.options); });
    if (!table.options.has("vocab")) return nullptr;
    try {
      tokenizer->load(load_vocabulary(table.options.text("vocab")));
    } catch (const Error& error) {
      throw ConfigError(table.key + ".vocab", error.what());
    }
    return tokenizer;
  }

  Device device_;
  std::map<std::vector<std::filesystem::path>, Plugins> plugins_;
  std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, std::unique_ptr<Task>> tasks_;
  std::unordered_map<std::string, std::unique_ptr<Tokenizer>> tokenizers_;
  std::unordered_map<std::string, Verdict> verdicts_;
};

}  // namespace

int check_verb() {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const nlohmann::json specifications = nlohmann::json::parse(text);
  nlohmann::json problems = nlohmann::json::array();
  Checker checker;
  for (std::size_t i = 0; i < specifications.size(); ++i) {
    const auto add = [&](const std::string& key, const std::string& message) {
      problems.push_back({{"index", i}, {"key", key}, {"message", message}});
    };
    try {
      checker.check(Specification::from_json(specifications[i]));
    } catch (const ConfigError& error) {
      add(error.key(), error.what());
    } catch (const std::exception& error) {
      add("", error.what());
    }
  }
  std::cout << problems.dump() << '\n';
  return problems.empty() ? 0 : 2;
}

}  // namespace encore
