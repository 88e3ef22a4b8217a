// SPDX-License-Identifier: BSD-3-Clause
// ParentRuns: finds the parents of runs (the runs that they start from, learn from or ask) in the database,
// in other experiment files and in folders of models, and refuses circles of files. planned_runs.cpp and
// planned_search.cpp create it for make_plan (plan/plan.hpp). A file's parents are planned before the file
// itself, so take() returns them first. Read next: parent_runs.hpp.
#include "app/parent_runs.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/imported_experiment.hpp"
#include "base/nearest.hpp"
#include "pretrained/content_hash.hpp"
#include "runner/parent_weights.hpp"
#include "store/store.hpp"

namespace encore::app {

namespace {

namespace fs = std::filesystem;

/// Returns the names of the files of the circle, in order.
std::string ring_text(const std::vector<fs::path>& chain, std::vector<fs::path>::const_iterator begin) {
  std::string text = begin->filename().string() + " starts from ";
  for (auto file = begin + 1; file != chain.end(); ++file)
    text += file->filename().string() + ", which starts from ";
  return text + begin->filename().string() + " itself";
}

/// Reads the tables of a stored run as its resolved experiment had them, and whether each option was a
/// default.
void read_settings(store::Store& store, std::int64_t run, plan::Parent& parent) {
  for (const store::ParamRow& param : store.read_params(run)) {
    std::string pointer = "/" + param.key;
    std::ranges::replace(pointer, '.', '/');
    parent.config[nlohmann::json::json_pointer(pointer)] = param.value;
    parent.origin[param.key] = {param.source == config::name_of(config::Source::fallback)
                                    ? config::Source::fallback
                                    : config::Source::file,
                                {}};
  }
}

/// Notes that a file is being planned, until the end of the scope, also by an error.
class InChain {
 public:
  InChain(std::vector<fs::path>& chain, const fs::path& file) : chain_(chain) { chain_.push_back(file); }
  ~InChain() { chain_.pop_back(); }
  InChain(const InChain&) = delete;
  InChain& operator=(const InChain&) = delete;

 private:
  std::vector<fs::path>& chain_;
};

const plan::RunPoint& chosen_point(const plan::Plan& plan, const fs::path& file, const std::string& name) {
  std::vector<std::string> names;
  for (const plan::RunPoint& point : plan.points) {
    if (!name.empty() && point.name == name) return point;
    names.push_back(point.name);
  }
  if (!name.empty() && (names.size() > 1 || plan.points.front().group_name != name))
    throw Error(file.string() + " has no run \"" + name + "\"" +
                did_you_mean(name, names, "; its runs are " + quoted_list(names)));
  if (names.size() == 1) return plan.points.front();
  constexpr std::size_t most = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) list += (i > 0 ? ", " : "") + names[i];
  throw Error(file.string() + " has " + std::to_string(names.size()) + " runs (" + list +
              (names.size() > most ? ", ..." : "") +
              "), but a run starts from one; choose it with { experiment = \"...\", name = \"" +
              names.front() + "\" }");
}

}  // namespace

ParentRuns::ParentRuns(fs::path database, const fs::path& file, PluginFolders plugin_folders,
                       std::string fingerprint)
    : database_(std::move(database)),
      plugin_folders_(std::move(plugin_folders)),
      fingerprint_(std::move(fingerprint)),
      chain_{fs::weakly_canonical(file)} {}

const plan::Parent& ParentRuns::keep(const std::string& key, plan::Parent parent) {
  known_[key] = &found_.emplace_back(std::move(parent));
  return found_.back();
}

const plan::Parent& ParentRuns::run(const std::string& word) {
  const std::string key = "run " + word;
  if (const auto known = known_.find(key); known != known_.end()) return *known->second;
  if (!fs::exists(database_))
    throw Error("there is no run \"" + word + "\": the database " + database_.string() +
                " does not exist yet");
  store::Store store(database_, store::OpenMode::read);
  const store::RunRow row = store.find_run(word);
  plan::Parent parent;
  parent.title = "run " + row.name + " (" + row.id + ")";
  parent.id = row.id;
  parent.question = row.question;
  const record::DataFile weights = runner::weights_of(store, row);
  parent.weights = {weights.path, weights.sha256};
  parent.vocabulary = fs::path(weights.path).parent_path() / "vocab.txt";
  read_settings(store, row.number, parent);
  return keep(key, std::move(parent));
}

const plan::Parent& ParentRuns::experiment(const fs::path& file, const std::string& name) {
  const std::string key = "experiment " + file.string() + "\n" + name;
  if (const auto known = known_.find(key); known != known_.end()) return *known->second;
  const fs::path canonical = fs::weakly_canonical(file);
  if (const auto ring = std::ranges::find(chain_, canonical); ring != chain_.end())
    throw Error("a run cannot start from itself: " + ring_text(chain_, ring));
  const InChain here(chain_, canonical);
  return add(key, {.command = "exp run " + file.string(), .document = config::load_experiment_file(file)},
             file.string(), name);
}

const plan::Parent& ParentRuns::imported(const fs::path& folder) {
  const std::string key = "folder " + folder.string();
  if (const auto known = known_.find(key); known != known_.end()) return *known->second;
  const config::Catalogue catalogue = config::Catalogue::load(plugin_folders_({}), fingerprint_);
  ImportedExperiment imported = imported_experiment({.folder = folder}, catalogue);
  return add(key,
             {.command = "exp import " + folder.string(),
              .notices = std::move(imported.notices),
              .document = std::move(imported.document)},
             folder.string(), "");
}

const plan::Parent& ParentRuns::add(const std::string& key, PlannedParent planned, const std::string& title,
                                    const std::string& name) {
  planned.plugin_folders = plugin_folders_(planned.document);
  const config::Catalogue catalogue = config::Catalogue::load(planned.plugin_folders, fingerprint_);
  catalogue.require_built(config::strings_of(planned.document));
  planned.plan = plan::make_plan(planned.document, catalogue, pretrained::sha256_of_content, {}, this);
  planned.point = chosen_point(planned.plan, title, name);
  if (planned.plan.points.size() == 1 && planned.point.varied.empty())
    planned.point.name = planned.point.group_name;

  plan::Parent parent;
  parent.title = title;
  parent.question = planned.point.question;
  parent.config = planned.point.config;
  parent.origin = planned.point.origin;
  const bool is_new = std::ranges::none_of(
      planned_, [&](const PlannedParent& other) { return other.point.question == planned.point.question; });
  if (is_new) planned_.push_back(std::move(planned));
  return keep(key, std::move(parent));
}

}  // namespace encore::app
