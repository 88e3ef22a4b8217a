// SPDX-License-Identifier: BSD-3-Clause
// Writes the experiment file of a pretrained run from the folder's config.json and from the manifests of
// tasks, which say the architectures that they import. The text is planned like any other file. Its settings
// are part of the run's identity: changed defaults would make equal models new runs. Read
// imported_experiment.hpp first.
#include "app/imported_experiment.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "app/toml_text.hpp"
#include "pretrained/family.hpp"
#include "pretrained/folder_settings.hpp"
#include "pretrained/hugging_face_folder.hpp"

namespace encore::app {

namespace {

namespace fs = std::filesystem;

/// A model architecture and the task that imports it.
struct Adopter {
  std::string task;
  AdoptedModel model;
};

std::vector<Adopter> adopters_in(const config::Catalogue& catalogue) {
  std::vector<Adopter> all;
  for (const std::string& name : catalogue.names(Kind::task))
    for (const AdoptedModel& model : catalogue.get(Kind::task, name).adopted) all.push_back({name, model});
  return all;
}

/// Returns a list such as `"ForTokenClassification" (--task ner)`. With `tasks_only` it names each task once.
std::string listed(const std::vector<Adopter>& adopters, bool tasks_only) {
  std::vector<std::string> texts;
  for (const Adopter& adopter : adopters) {
    const std::string text =
        tasks_only ? "--task " + adopter.task : adopter.model.architecture + " (--task " + adopter.task + ")";
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  }
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + text;
  return list;
}

/// Returns the members of config.json that decide the architecture.
std::string sources_of(const std::string& architecture) {
  const std::size_t slash = architecture.find('/');
  if (slash == std::string::npos) return "architectures";
  return std::string("architectures, ") +
         (architecture.substr(slash) == pretrained::plain_labels ? "id2label" : "problem_type");
}

/// Returns the adopter for the folder's architecture. A named task that imports encoders also accepts the
/// encoder of a model with another head.
Adopter adopter_of(const pretrained::HuggingFaceFolder& folder, const std::string& task,
                   const config::Catalogue& catalogue) {
  std::vector<Adopter> all = adopters_in(catalogue);
  const auto of = [&](const std::string& architecture) {
    std::vector<Adopter> found;
    for (const Adopter& adopter : all)
      if (adopter.model.architecture == architecture && (task.empty() || adopter.task == task))
        found.push_back(adopter);
    return found;
  };
  if (!task.empty()) static_cast<void>(catalogue.get(Kind::task, task));  // throws with the nearest name
  std::vector<Adopter> found = of(folder.architecture);
  // With a named task, tags of entities also count as labels.
  if (found.empty() && !task.empty()) found = of(folder.architecture + pretrained::plain_labels);
  if (found.empty() && !task.empty()) found = of(pretrained::body_architecture);
  const std::string what = folder.path.string() + " (config.json: " + sources_of(folder.architecture) +
                           ") holds a model \"" + folder.architecture + "\"";
  if (found.empty())
    throw UsageError(what + ", which " +
                     (task.empty() ? "no task can import" : "the task \"" + task + "\" cannot import") +
                     "; expected one of " + listed(all, false) +
                     (task.empty() && !of(pretrained::body_architecture).empty()
                          ? "; for its encoder alone: " + listed(of(pretrained::body_architecture), true)
                          : ""));
  if (found.size() > 1)
    throw UsageError(what + ", which several tasks can import; choose one: " + listed(found, true));
  return found.front();
}

/// Returns the folder's name, limited to the characters of run names.
std::string name_of_folder(const fs::path& folder) {
  std::string name = folder.filename().string();
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.' && letter != '-') letter = '_';
  return name.empty() ? "model" : name;
}

/// Returns the experiment of zero epochs. Optimizer and schedule are required in it but unused.
std::string experiment_text(const pretrained::HuggingFaceFolder& folder, std::int64_t max_length,
                            const Adopter& adopter, const std::string& name) {
  const AdoptedModel& model = adopter.model;
  std::string text =
      "# Written by exp import: the model as it is, without training.\nname = " + toml_text(name) +
      "\n\n[task]\ntype = " + toml_text(adopter.task) + "\n";
  for (const std::string& option : model.task_options) text += option + "\n";
  text += "\n[data]\ntype = " + toml_text(model.reader) + "\nmax_length = " + std::to_string(max_length) +
          "\n\n[model]\nfrom = " + toml_text(folder.path.string()) +
          "\n\n[model.head]\ntype = " + toml_text(model.head) + "\n";
  for (const std::string& option : model.head_options) text += option + "\n";
  return text + "\n[optimizer]\ntype = \"sgd\"\n\n[schedule]\ntype = \"constant\"\n\n[train]\nepochs = 0\n";
}

bool joins_inputs(const AdoptedModel& model, const std::vector<std::string>& set) {
  if (model.architecture == pretrained::body_architecture)
    return false;  // each input has a sequence of its own
  return model.architecture == "ForQuestionAnswering" ||
         std::ranges::any_of(set, [](const std::string& one) { return one.starts_with("data.text2_"); });
}

}  // namespace

ImportedExperiment imported_experiment(const ImportedModel& model, const config::Catalogue& catalogue) {
  const pretrained::HuggingFaceFolder folder =
      pretrained::open_hugging_face_folder(fs::absolute(model.folder).lexically_normal());
  const pretrained::FolderSettings settings = pretrained::settings_of(folder);
  ImportedExperiment experiment{.document = {}, .notices = settings.notices};
  catalogue.require_all_built(Kind::task);
  const Adopter adopter = adopter_of(folder, model.task.value_or(""), catalogue);
  if (pretrained::family_of(folder.config).shape.doubles_separator && joins_inputs(adopter.model, model.set))
    experiment.notices.emplace_back(
        "two inputs are joined by one separator here and by two in transformers, so answers and scores "
        "differ until the model is trained here: docs/reference/pretrained_families.md");
  const std::string name = model.name.value_or(name_of_folder(folder.path));
  experiment.document = config::parse_experiment_file(
      experiment_text(folder, settings.max_length, adopter, name), fs::absolute(name + ".toml"), model.set);
  return experiment;
}

}  // namespace encore::app
