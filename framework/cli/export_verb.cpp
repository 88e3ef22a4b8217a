// SPDX-License-Identifier: BSD-3-Clause
// exp export: writes the best model of a run as a folder for other programs. It is linked into the program
// exp-report, which exp becomes for this verb (report_main.cpp). The worker writes the weights
// (worker/export_verb.cpp); the model card comes from the database. The folder is written under a temporary
// name and renamed, so it is complete or absent; keep that order.

#include <nlohmann/json.hpp>

#include "app/document_requests.hpp"
#include "app/worker_answer.hpp"
#include "cli/components.hpp"
#include "report/model_card.hpp"
#include "report/wording.hpp"
#include "runner/programs.hpp"
#include "world/atomic_file.hpp"

namespace encore::cli {

namespace {

namespace fs = std::filesystem;

void require_free(const fs::path& folder) {
  std::error_code failure;
  const fs::file_status status = fs::status(folder, failure);
  if (status.type() == fs::file_type::not_found) return;
  if (status.type() != fs::file_type::directory)
    throw app::UsageError(folder.string() + " is not a folder; name a new folder");
  if (!fs::is_empty(folder, failure) || failure)
    throw app::UsageError(folder.string() + " is not empty; name a new folder");
}

/// A temporary folder that is renamed at the end, or removed.
class FolderAside {
 public:
  explicit FolderAside(const fs::path& folder) : folder_(folder), aside_(world::aside_name(folder)) {
    world::make_folder(folder_.parent_path());
    std::error_code failure;
    if (!fs::create_directory(aside_, failure) || failure)
      throw Error("cannot make the folder " + aside_.string() +
                  (failure ? ": " + failure.message() : ": it already exists"));
  }
  ~FolderAside() {
    std::error_code ignored;
    if (!committed_) fs::remove_all(aside_, ignored);
  }
  FolderAside(const FolderAside&) = delete;
  FolderAside& operator=(const FolderAside&) = delete;

  const fs::path& path() const { return aside_; }
  /// Renames the folder. An empty folder with the final name is replaced.
  void commit() {
    std::error_code failure;
    world::sync_folder(aside_);
    fs::rename(aside_, folder_, failure);
    if (failure) throw Error("cannot write " + folder_.string() + ": " + failure.message());
    committed_ = true;
    world::sync_folder(folder_.parent_path());
  }

 private:
  fs::path folder_, aside_;
  bool committed_ = false;
};

int export_folder(const app::ExportRequest& request, app::App& app, Console& console) {
  const fs::path folder = fs::absolute(request.output).lexically_normal();
  const fs::path target = folder.has_filename() ? folder : folder.parent_path();  // without a last slash
  require_free(target);

  store::Store store(app.database, store::OpenMode::read);
  const store::RunRow row = app::selected_run(app, store, app::selection_from(request.selection));
  const app::TrainedRun run = app::find_trained_run(store, row, request.model.backend);
  runner::require_component(runner::installed_programs(), request.model.backend.value_or(row.backend),
                            "encore-worker-export");
  FolderAside aside(target);
  std::vector<std::string> options = {"--to",      aside.path().string(),
                                      "--format",  request.format,
                                      "--threads", std::to_string(request.model.threads)};
  if (request.external_data) options.emplace_back("--external-data");
  if (request.dtype) options.insert(options.end(), {"--dtype", *request.dtype});
  const auto model = app::worker_answer<record::ExportAnswer>(
      app.events, run.worker, app::worker_arguments(app, request.model, run, "export", options));
  world::save_file(aside.path() / "README.md", report::model_card(store, row, model));
  aside.commit();

  if (request.json) {
    nlohmann::ordered_json answer = to_json_object(model);
    answer["run"] = row.name;
    answer["folder"] = target.string();
    console.print(answer);
  } else {
    console.out << "Run " << row.name << " (step " << model.step << ") written to " << target.string()
                << " as " << model.architecture << " with " << thousands(model.parameters)
                << " parameters in " << model.dtype << '\n';
  }
  return exit_done;
}

}  // namespace

Verb export_of_component() {
  return make_verb("export", "", app::export_form, export_folder);
}

}  // namespace encore::cli
