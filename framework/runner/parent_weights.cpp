// SPDX-License-Identifier: BSD-3-Clause
// Finds the weights of the runs that a run needs: its parent, its teacher, the runs that steps of an
// application call. Such a run is found by its id or its question (the text of its settings, data and seed),
// must be completed, and has a recorded weights file. Runner and SlurmRunner call take_weights() before an
// attempt, planners in app/ the other functions. Weights that the specification already names are never
// replaced here; the worker refuses a file with another digest (record::require_planned). Read
// parent_weights.hpp first.
#include "runner/parent_weights.hpp"

#include "config/core_schema.hpp"
#include "record/checkpoint.hpp"
#include "record/run_paths.hpp"

namespace encore::runner {

namespace {

/// Sets the role's weights to those in the stored specification, if the run resumes from a checkpoint.
/// Returns false if it does not resume.
bool take_earlier(store::Store& store, record::Specification& specification, const std::string& role,
                  bool from_start) {
  const std::filesystem::path folder = store.run_folder(specification.run);
  if (from_start || record::list_checkpoints(folder).empty()) return false;
  const record::Specification before = record::Specification::load(folder);
  if (const auto weights = before.data.find(role); weights != before.data.end())
    specification.data[role] = weights->second;
  return true;
}

/// Sets the role's weights to those that the run of this role has now, unless the specification already
/// names some. Returns what the attempt records of them. Throws Error if the run is missing or has no
/// weights.
nlohmann::json take_present(store::Store& store, record::Specification& specification,
                            const std::string& role) {
  const store::RunRow parent = linked_run(store, specification, role);
  const record::DataFile weights = weights_of(store, parent);
  if (!specification.data.contains(role)) specification.data[role] = weights;
  return {{"run", parent.id}, {"name", parent.name}, {"sha256", specification.data[role].sha256}};
}

std::string state_text(const store::RunRow& run) {
  return std::string(store::name_of(run.state)) + (run.reason.empty() ? "" : ": " + run.reason);
}

}  // namespace

store::RunRow linked_run(store::Store& store, const record::Specification& specification,
                         const std::string& table) {
  const record::RunLink link = record::run_links(specification.config).at(table);
  if (!link.run.empty()) return store.find_run(link.run, store::Sight::any);
  std::optional<store::RunRow> run = store.find_question(link.question, specification.backend);
  if (!run)
    throw Error("the run that " +
                std::string(table == record::pretrained_role ? "it starts from"
                            : table == record::teacher_role  ? "it learns from"
                                                             : "[" + table + "] names") +
                ", of " + link.experiment +
                ", is missing; run the experiment file again, which trains it first");
  return std::move(*run);
}

record::DataFile weights_of(store::Store& store, const store::RunRow& run) {
  const std::string title = "run " + run.name + " (" + run.id + ")";
  if (run.state != store::RunState::completed)
    throw Error(title + (run.state == store::RunState::failed ? " has " : " is ") + state_text(run) +
                "; only a completed run has weights to start from");
  for (const store::ArtifactRow& artifact : store.read_artifacts(run.number))
    if (artifact.name == "weights")
      return {record::path_below(store.run_folder(run.id), artifact.path).string(), artifact.sha256};
  throw Error(title +
              " has no file of weights, because an earlier version trained it; train it again (exp run FILE "
              "--fresh)");
}

std::vector<TakenWeights> take_weights(store::Store& store, record::Specification& specification,
                                       bool from_start) {
  std::vector<TakenWeights> taken;
  for (const auto& [table, link] : record::run_links(specification.config)) {
    // A run that resumes from a checkpoint does not read the weights that it started from again.
    const bool resumes = take_earlier(store, specification, table, from_start);
    if (table == record::pretrained_role && resumes) continue;
    nlohmann::json body = take_present(store, specification, table);
    if (!config::step_in(table).empty()) body["table"] = table;  // several steps have events of this type
    taken.push_back({store::event_of(table), std::move(body)});
  }
  return taken;
}

void find_parent_files(store::Store& store, const store::RunRow& run, record::Specification& specification) {
  for (const auto& [table, parent] : store.read_parents(run)) {
    if (!parent.run) continue;
    for (auto& [role, file] : specification.data) {
      const std::filesystem::path path = file.path;
      if (path.parent_path().filename() == parent.run->id)
        file.path = (store.run_folder(parent.run->id) / path.filename()).string();
    }
  }
}

}  // namespace encore::runner
