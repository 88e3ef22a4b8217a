// import: a Hugging Face folder as a run of its own. It is planned, checked, recorded and verified like any
// other run: as an experiment of zero epochs, which this file writes from what the folder says and from what
// the manifests say that tasks take over. The rest is that of `exp run` (run_verb.cpp).
#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "cli/access.hpp"
#include "cli/plan_comparison.hpp"
#include "cli/planned_runs.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_session.hpp"
#include "cli/slurm_session.hpp"
#include "cli/verbs.hpp"
#include "pretrained/folder_settings.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "record/run_paths.hpp"
#include "runner/launched_runs.hpp"
#include "runner/programs.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

/// A model that some task takes over.
struct Adopter {
  std::string task;
  AdoptedModel model;
};

std::vector<Adopter> adopters_in(const Catalogue& catalogue) {
  std::vector<Adopter> all;
  for (const std::string& name : catalogue.names(Kind::task))
    for (const AdoptedModel& model : catalogue.get(Kind::task, name).adopted) all.push_back({name, model});
  return all;
}

/// `"ForTokenClassification" (--task ner)`, for each; each task once where `tasks_only`.
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

/// The members of config.json that an architecture follows from.
std::string sources_of(const std::string& architecture) {
  const std::size_t slash = architecture.find('/');
  if (slash == std::string::npos) return "architectures";
  return std::string("architectures, ") +
         (architecture.substr(slash) == plain_labels ? "id2label" : "problem_type");
}

/// The one that takes the folder's architecture; a task that is named takes also the body of a model with
/// another head, where it takes bodies.
Adopter adopter_of(const HuggingFaceFolder& folder, const std::string& task, const Catalogue& catalogue) {
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
  // Tags of entities are labels too, where a task is named that takes any.
  if (found.empty() && !task.empty()) found = of(folder.architecture + plain_labels);
  if (found.empty() && !task.empty()) found = of(body_architecture);
  const std::string what = folder.path.string() + " (config.json: " + sources_of(folder.architecture) +
                           ") holds a model \"" + folder.architecture + "\"";
  if (found.empty())
    throw UsageError(what + ", which " +
                     (task.empty() ? "no task takes over" : "the task \"" + task + "\" does not take over") +
                     "; taken over are " + listed(all, false) +
                     (task.empty() && !of(body_architecture).empty()
                          ? "; its encoder alone: " + listed(of(body_architecture), true)
                          : ""));
  if (found.size() > 1)
    throw UsageError(what + ", which several tasks take over; say which: " + listed(found, true));
  return found.front();
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

/// The folder's own name, with what a run's name may hold.
std::string name_of_folder(const fs::path& folder) {
  std::string name = folder.filename().string();
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.' && letter != '-') letter = '_';
  return name.empty() ? "model" : name;
}

/// The experiment of zero epochs. What trains must stand in it, and does nothing.
std::string experiment_text(const HuggingFaceFolder& folder, std::int64_t max_length, const Adopter& adopter,
                            const std::string& name) {
  const AdoptedModel& model = adopter.model;
  std::string text =
      "# Written by exp import: the model as it is, without training.\nname = " + quoted(name) +
      "\n\n[task]\ntype = " + quoted(adopter.task) + "\n";
  for (const std::string& option : model.task_options) text += option + "\n";
  text += "\n[data]\ntype = " + quoted(model.reader) + "\nmax_length = " + std::to_string(max_length) +
          "\n\n[model]\nfrom = " + quoted(folder.path.string()) +
          "\n\n[model.head]\ntype = " + quoted(model.head) + "\n";
  for (const std::string& option : model.head_options) text += option + "\n";
  return text + "\n[optimizer]\ntype = \"sgd\"\n\n[schedule]\ntype = \"constant\"\n\n[train]\nepochs = 0\n";
}

ExperimentFile experiment_of(const CommandLine& line, const std::string& backend) {
  const HuggingFaceFolder folder =
      open_hugging_face_folder(fs::absolute(line.required("folder", "a folder")).lexically_normal());
  const FolderSettings settings = settings_of(folder);
  for (const std::string& notice : settings.notices) std::cerr << "exp: note: " << notice << "\n";
  const Programs programs = installed_programs();
  const Catalogue catalogue =
      Catalogue::load(plugin_search_path({}, line.texts("plugin-path"), programs, backend),
                      fingerprint_of(programs, backend));
  catalogue.require_all_built(Kind::task);
  const Adopter adopter = adopter_of(folder, line.text("task"), catalogue);
  const std::string name = line.has("name") ? line.text("name") : name_of_folder(folder.path);
  return parse_experiment_file(experiment_text(folder, settings.max_length, adopter, name),
                               fs::absolute(name + ".toml"), line.texts("set"));
}

CommandLine make_import_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "import",
      {"import DIR [--name NAME] [--task TYPE] [options]",
       "Makes a run of the model in a Hugging Face folder, without training: the run is asked, scored, "
       "exported and verified like any other. What it answers follows from the folder's architecture; an "
       "encoder alone gives a vector for each text.",
       {{"exp import models/all-MiniLM-L6-v2", "a run all-MiniLM-L6-v2 that embeds texts"},
        {"exp import models/bert-ner --name names", "one that finds entities, by the labels of the folder"},
        {"exp import models/bert-ner --task embed", "the encoder of a model with another head"}}});
  line.options()("name", po::value<std::string>()->value_name("NAME"),
                 "what the run is called (default: the folder's name)");
  line.options()("task", po::value<std::string>()->value_name("TYPE"),
                 "the task that takes the model over (default: the one that takes its architecture)");
  line.options()("set,S", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
                 "a setting of the run, such as model.head.normalize=true (may be repeated)");
  add_backend_options(line);
  add_session_options(line);
  line.positional("folder");
  return line;
}

}  // namespace

int import_verb(const Arguments& arguments) {
  CommandLine line = make_import_line();
  if (!line.parse(arguments)) return exit_done;
  check_session_options(line);
  require_no_jobs_of_slurm(line);
  const std::string backend = backend_of(line, installed_programs());
  SessionFile session(runs_folder_of(line.database()), "exp import " + line.text("folder"));
  const ExperimentFile document = experiment_of(line, backend);
  PlannedRuns planned = plan_document(line, document, backend);
  planned.overrides = line.texts("set");
  name_like_experiment(planned);
  session.works_on(planned.plan.name);
  Store store(line.database(), OpenMode::create);
  store.settle();
  settle_launched(store);
  compare_with(store, planned);
  record_descriptions(store, planned);
  if (planned.to_do() == 0) {
    const RunRow& run = *planned.runs.front().before;
    std::cout << run.name << (run.state == RunState::completed ? " has this model already" : " is running")
              << "; nothing is done\n";
    return exit_done;
  }
  require_startable(planned);
  const std::int64_t sweep = store.add_sweep(planned.plan.name, planned.file.string(),
                                             planned.sources.front().text, context_of(planned));
  return work_on(line, store, planned, sweep, session_places(line, backend, planned.to_do()), session);
}

}  // namespace encore
