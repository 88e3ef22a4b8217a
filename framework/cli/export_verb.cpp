// export: the best model of a run as a folder for other programs: the worker writes the weights, the model
// card comes from the database. The folder is made aside and renamed, so that it is whole or not there.

#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/components.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_selection.hpp"
#include "cli/worker_answer.hpp"
#include "report/model_card.hpp"
#include "report/wording.hpp"
#include "world/atomic_file.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

constexpr const char* hugging_face = "huggingface";
constexpr const char* onnx = "onnx";
constexpr const char* encore_folder = "encore";

void require_free(const fs::path& folder) {
  std::error_code failure;
  const fs::file_status status = fs::status(folder, failure);
  if (status.type() == fs::file_type::not_found) return;
  if (status.type() != fs::file_type::directory)
    throw UsageError(folder.string() + " is there and is no folder; name one that is not there yet");
  if (!fs::is_empty(folder, failure) || failure)
    throw UsageError(folder.string() + " is not empty; name a folder that is not there yet");
}

/// A folder that becomes another one, or nothing.
class FolderAside {
 public:
  explicit FolderAside(const fs::path& folder) : folder_(folder), aside_(aside_name(folder)) {
    make_folder(folder_.parent_path());
    std::error_code failure;
    if (!fs::create_directory(aside_, failure) || failure)
      throw Error("cannot make the folder " + aside_.string() +
                  (failure ? ": " + failure.message() : ": it is there already"));
  }
  ~FolderAside() {
    std::error_code ignored;
    if (!committed_) fs::remove_all(aside_, ignored);
  }
  FolderAside(const FolderAside&) = delete;
  FolderAside& operator=(const FolderAside&) = delete;

  const fs::path& path() const { return aside_; }
  /// An empty folder of that name is replaced.
  void commit() {
    std::error_code failure;
    sync_folder(aside_);
    fs::rename(aside_, folder_, failure);
    if (failure) throw Error("cannot write " + folder_.string() + ": " + failure.message());
    committed_ = true;
    sync_folder(folder_.parent_path());
  }

 private:
  fs::path folder_, aside_;
  bool committed_ = false;
};

void require_format(const CommandLine& line) {
  const std::string format = line.text("format");
  if (format != hugging_face && format != onnx && format != encore_folder)
    throw UsageError("--format is \"" + format + "\"; it must be " + hugging_face + ", " + onnx + " or " +
                     encore_folder);
  if (format != hugging_face && line.has("dtype"))
    throw UsageError("--dtype is for --format huggingface; " +
                     std::string(format == onnx ? "the weights of an ONNX graph are float32"
                                                : "a folder of Encore has the weights as they are"));
  if (format != onnx && line.flag("external-data"))
    throw UsageError("--external-data is for --format onnx; no other format has such a limit");
}

CardModel card_model_from(const nlohmann::ordered_json& answer) {
  return {.architecture = answer.at("architecture"),
          .pipeline = answer.at("pipeline"),
          .parameters = answer.at("parameters"),
          .dtype = answer.at("dtype"),
          .rounded_from = answer.at("rounded_from"),
          .step = answer.at("step"),
          .weights_file = answer.at("weights_file"),
          .weights_sha256 = answer.at("weights_sha256"),
          .library = answer.at("library"),
          .use = answer.value("use", "")};
}

}  // namespace

int export_in_component(const Arguments& arguments) {
  CommandLine line = make_export_line();
  if (!line.parse(arguments)) return exit_done;

  require_format(line);
  const RunSelection selection = selection_from(line);
  const fs::path folder =
      fs::absolute(line.required("output", "a folder to write (-o DIR)")).lexically_normal();
  const fs::path target = folder.has_filename() ? folder : folder.parent_path();  // without a last slash
  require_free(target);
  require_threads(line.integer("threads"));

  Store store(line.database(), OpenMode::read);
  const RunRow row = selected_run(line, store, selection);
  const TrainedRun run = find_trained_run(store, row, line.text("backend"));
  require_component(installed_programs(), line.has("backend") ? line.text("backend") : row.backend,
                    "encore-worker-export");
  FolderAside aside(target);
  std::vector<std::string> options = {"--to",      aside.path().string(),
                                      "--format",  line.text("format"),
                                      "--threads", std::to_string(line.integer("threads"))};
  if (line.flag("external-data")) options.emplace_back("--external-data");
  if (line.has("dtype")) options.insert(options.end(), {"--dtype", line.text("dtype")});
  nlohmann::ordered_json answer = worker_answer(run.worker, worker_arguments(line, run, "export", options));
  const CardModel model = card_model_from(answer);
  save_file(aside.path() / "README.md", model_card(store, row, model));
  aside.commit();

  if (line.flag("json")) {
    answer["run"] = row.name;
    answer["folder"] = target.string();
    std::cout << answer.dump(2) << '\n';
  } else {
    std::cout << "Run " << row.name << " (step " << model.step << ") written to " << target.string() << " as "
              << model.architecture << " with " << thousands(model.parameters) << " parameters in "
              << model.dtype << '\n';
  }
  return exit_done;
}

}  // namespace encore
