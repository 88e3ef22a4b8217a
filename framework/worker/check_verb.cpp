// check: finds what no schema can say, for every specification of a sweep, before the first one starts.
#include <iostream>
#include <iterator>
#include <map>
#include <set>
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

/// The sets and vocabularies of a sweep are mostly the same files: each is read once.
class Checker {
 public:
  void check(const Specification& specification) {
    const LoadedExperiment loaded = load_experiment(specification);
    const Experiment& experiment = loaded.experiment;
    const Task& task = task_of(experiment);
    check_tokenizer(loaded);
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
  const Task& task_of(const Experiment& experiment) {
    const DataTable& data = experiment.data;
    auto& task = tasks_[{data.train, data.dev, data.test, data.max_length}];
    if (!task) task = make_task(experiment);
    return *task;
  }

  void check_tokenizer(const LoadedExperiment& loaded) {
    const TokenizerTable& table = loaded.experiment.tokenizer;
    const auto tokenizer =
        with_key(table, [&] { return loaded.registry.make_tokenizer(table.type, table.options); });
    if (!table.options.has("vocab")) return;
    const std::string& path = table.options.text("vocab");
    if (!vocabularies_.emplace(table.type + " " + path).second) return;
    try {
      tokenizer->load(load_vocabulary(path));
    } catch (const Error& error) {
      throw ConfigError(table.key + ".vocab", error.what());
    }
  }

  Device device_;
  std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, std::unique_ptr<Task>> tasks_;
  std::set<std::string> vocabularies_;
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
