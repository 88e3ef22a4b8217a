// See parent_weights.hpp.
#include "runner/parent_weights.hpp"

#include "record/checkpoint.hpp"
#include "record/run_paths.hpp"

namespace encore {

namespace {

/// The table model.from of a resolved experiment, or null.
const nlohmann::json* link_of(const Specification& specification) {
  const auto model = specification.config.find("model");
  if (model == specification.config.end() || !model->is_object()) return nullptr;
  const auto from = model->find("from");
  return from != model->end() && from->is_object() ? &*from : nullptr;
}

std::string state_text(const RunRow& run) {
  return std::string(name_of(run.state)) + (run.reason.empty() ? "" : ": " + run.reason);
}

}  // namespace

std::optional<RunRow> parent_of(Store& store, const Specification& specification) {
  const nlohmann::json* link = link_of(specification);
  if (link == nullptr) return std::nullopt;
  if (link->contains("run")) return store.find_run(link->at("run").get<std::string>(), Sight::any);
  std::optional<RunRow> run =
      store.find_question(link->at("question").get<std::string>(), specification.backend);
  if (!run)
    throw Error("the run that it starts from, of " + link->at("experiment").get<std::string>() +
                ", is not there; run the experiment file again, which trains it first");
  return run;
}

DataFile weights_of(Store& store, const RunRow& run) {
  const std::string title = "run " + run.name + " (" + run.id + ")";
  if (run.state != RunState::completed)
    throw Error(title + " is " + state_text(run) + "; only a completed run has weights to start from");
  for (const ArtifactRow& artifact : store.read_artifacts(run.number))
    if (artifact.name == "weights")
      return {path_below(store.run_folder(run.id), artifact.path).string(), artifact.sha256};
  throw Error(title +
              " has no file of weights, for an earlier version trained it; train it again (exp run "
              "FILE --fresh)");
}

nlohmann::json take_parent(Store& store, Specification& specification, bool from_start) {
  if (link_of(specification) == nullptr) return nullptr;
  const std::filesystem::path folder = store.run_folder(specification.run);
  if (!from_start && !list_checkpoints(folder).empty()) {
    const Specification before = Specification::load(folder);
    if (const auto weights = before.data.find(pretrained_role); weights != before.data.end())
      specification.data[pretrained_role] = weights->second;
    return nullptr;
  }
  const std::optional<RunRow> parent = parent_of(store, specification);
  const DataFile weights = weights_of(store, *parent);
  // What counts in the question by its weights starts from these and no others.
  if (!specification.data.contains(pretrained_role)) specification.data[pretrained_role] = weights;
  return {
      {"run", parent->id}, {"name", parent->name}, {"sha256", specification.data[pretrained_role].sha256}};
}

void find_parent_files(Store& store, const RunRow& run, Specification& specification) {
  const std::optional<ParentRow> parent = store.read_parent(run);
  if (!parent || !parent->run) return;
  for (auto& [role, file] : specification.data) {
    const std::filesystem::path path = file.path;
    if (path.parent_path().filename() == parent->run->id)
      file.path = (store.run_folder(parent->run->id) / path.filename()).string();
  }
}

}  // namespace encore
