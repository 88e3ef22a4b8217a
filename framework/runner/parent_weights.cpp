// SPDX-License-Identifier: BSD-3-Clause
// Finds the weights of a run's parent (from which it starts) and teacher (from which it learns): the run by
// its row or question, its state, and the file. Runner, SlurmRunner and planners in app/ call it. If the
// weights are part of the question, other weights are refused, since the run would be another one. Read
// parent_weights.hpp first.
#include "runner/parent_weights.hpp"

#include "record/checkpoint.hpp"
#include "record/run_paths.hpp"

namespace encore::runner {

namespace {

/// Returns the table model.from or distil.teacher of a resolved experiment, or null.
const nlohmann::json* link_of(const record::Specification& specification, store::Need need) {
  const bool teacher = need == store::Need::teacher;
  const auto outer = specification.config.find(teacher ? "distil" : "model");
  if (outer == specification.config.end() || !outer->is_object()) return nullptr;
  const auto link = outer->find(teacher ? "teacher" : "from");
  return link != outer->end() && link->is_object() ? &*link : nullptr;
}

/// Sets the role's weights to those in the stored specification, if the run resumes from a checkpoint.
/// Returns false if it does not resume.
bool take_earlier(store::Store& store, record::Specification& specification, const char* role,
                  bool from_start) {
  const std::filesystem::path folder = store.run_folder(specification.run);
  if (from_start || record::list_checkpoints(folder).empty()) return false;
  const record::Specification before = record::Specification::load(folder);
  if (const auto weights = before.data.find(role); weights != before.data.end())
    specification.data[role] = weights->second;
  return true;
}

/// Sets the role's weights to those that the parent has now. Throws Error if the question names other
/// weights.
nlohmann::json take_present(store::Store& store, record::Specification& specification, store::Need need,
                            const char* role) {
  const std::optional<store::RunRow> parent = parent_of(store, specification, need);
  const record::DataFile weights = weights_of(store, *parent);
  if (!specification.data.contains(role)) specification.data[role] = weights;
  return {{"run", parent->id}, {"name", parent->name}, {"sha256", specification.data[role].sha256}};
}

std::string state_text(const store::RunRow& run) {
  return std::string(store::name_of(run.state)) + (run.reason.empty() ? "" : ": " + run.reason);
}

}  // namespace

std::optional<store::RunRow> parent_of(store::Store& store, const record::Specification& specification,
                                       store::Need need) {
  const nlohmann::json* link = link_of(specification, need);
  if (link == nullptr) return std::nullopt;
  if (link->contains("run")) return store.find_run(link->at("run").get<std::string>(), store::Sight::any);
  std::optional<store::RunRow> run =
      store.find_question(link->at("question").get<std::string>(), specification.backend);
  if (!run)
    throw Error(std::string("the run that it ") + (need == store::Need::teacher ? "learns" : "starts") +
                " from, of " + link->at("experiment").get<std::string>() +
                ", is missing; run the experiment file again, which trains it first");
  return run;
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

nlohmann::json take_parent(store::Store& store, record::Specification& specification, bool from_start) {
  if (link_of(specification, store::Need::start) == nullptr) return nullptr;
  if (take_earlier(store, specification, record::pretrained_role, from_start)) return nullptr;
  return take_present(store, specification, store::Need::start, record::pretrained_role);
}

nlohmann::json take_teacher(store::Store& store, record::Specification& specification, bool from_start) {
  if (link_of(specification, store::Need::teacher) == nullptr) return nullptr;
  take_earlier(store, specification, record::teacher_role, from_start);
  return take_present(store, specification, store::Need::teacher, record::teacher_role);
}

void find_parent_files(store::Store& store, const store::RunRow& run, record::Specification& specification) {
  for (const store::Need need : {store::Need::start, store::Need::teacher}) {
    const std::optional<store::ParentRow> parent = store.read_parent(run, need);
    if (!parent || !parent->run) continue;
    for (auto& [role, file] : specification.data) {
      const std::filesystem::path path = file.path;
      if (path.parent_path().filename() == parent->run->id)
        file.path = (store.run_folder(parent->run->id) / path.filename()).string();
    }
  }
}

}  // namespace encore::runner
