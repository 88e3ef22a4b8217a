// check: finds what no schema can say, for every specification of a sweep, before the first one starts.
#include <iostream>
#include <iterator>
#include <map>
#include <tuple>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "data/vocabulary.hpp"
#include "model/model.hpp"
#include "train/setup.hpp"
#include "worker/verbs.hpp"

namespace encore {
namespace {

/// Enough to build the model; the real vocabulary only makes the embedding larger.
constexpr std::int64_t small_vocabulary = 16;

/// The sets and vocabularies of a sweep are mostly the same files: each is read once, sets that the token
/// cache holds not at all.
class Checker {
 public:
  void check(const Specification& specification) {
    const LoadedExperiment loaded = load_experiment(specification);
    const Experiment& experiment = loaded.experiment;
    const Tokenizer* const tokenizer = check_tokenizer(loaded);
    const Task& task = check_sets(specification, loaded, tokenizer);
    Model model(experiment, {small_vocabulary, task.labels()}, loaded.registry, device_);
    with_key(experiment.optimizer, [&] {
      return loaded.registry.make_optimizer(experiment.optimizer.type, experiment.optimizer.options);
    });
    with_key(experiment.schedule, [&] {
      return loaded.registry.make_schedule(experiment.schedule.type, experiment.schedule.options,
                                           {1, experiment.model.width});
    });
  }

 private:
  /// What was encoded once was sound then, and is the same file still when its hash is.
  const Task& check_sets(const Specification& specification, const LoadedExperiment& loaded,
                         const Tokenizer* tokenizer) {
    const DataTable& data = loaded.experiment.data;
    auto& known = tasks_[{data.train, data.dev, data.test, data.max_length}];
    if (known) return *known;
    std::unique_ptr<Task> task = make_task(loaded.experiment, content_hashes(specification));
    if (tokenizer == nullptr ||
        !task->load_encoded(TokenCache::standard(), encoding_of(loaded, *tokenizer, specification)))
      task->read();
    known = std::move(task);
    return *known;
  }

  /// The tokenizer with its vocabulary; none where the vocabulary is yet to be trained.
  const Tokenizer* check_tokenizer(const LoadedExperiment& loaded) {
    const TokenizerTable& table = loaded.experiment.tokenizer;
    auto tokenizer =
        with_key(table, [&] { return loaded.registry.make_tokenizer(table.type, table.options); });
    if (!table.options.has("vocab")) return nullptr;
    const std::string& path = table.options.text("vocab");
    const auto [known, first] = tokenizers_.emplace(table.type + " " + path, nullptr);
    if (!first) return known->second.get();
    try {
      tokenizer->load(load_vocabulary(path));
    } catch (const Error& error) {
      throw ConfigError(table.key + ".vocab", error.what());
    }
    known->second = std::move(tokenizer);
    return known->second.get();
  }

  Device device_;
  std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, std::unique_ptr<Task>> tasks_;
  std::map<std::string, std::unique_ptr<Tokenizer>>
      tokenizers_;  ///< by type and file; none where it was refused
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
