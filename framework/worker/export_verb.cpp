// SPDX-License-Identifier: BSD-3-Clause
// The verb export: writes a run's best model as a folder for other programs, for `exp export`: for
// `transformers`, for a runtime of ONNX, or for a program that embeds it with libencore_infer.so.
// infer/hugging_face_export.hpp and onnx/onnx_export.hpp write the files. `exp export` reads the answer
// (record/export_answer.hpp) for the model card.
#include <iostream>

#include <filesystem>

#include <encore/device.hpp>

#include "infer/hugging_face_export.hpp"
#include "onnx/onnx_export.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "record/export_answer.hpp"
#include "record/weights_file.hpp"
#include "worker/answers.hpp"
#include "worker/program.hpp"

namespace encore::worker {
namespace {

record::ExportAnswer as_hugging_face(const infer::Engine& model, const ExportArguments& arguments) {
  const infer::ExportedModel exported =
      infer::export_to_hugging_face(model, arguments.folder, arguments.dtype);
  return {.architecture = exported.architecture,
          .pipeline = exported.pipeline,
          .tensors = exported.tensors,
          .parameters = exported.parameters,
          .dtype = record::name_of(exported.dtype),
          .rounded_from = record::name_of(exported.rounded_from),
          .weights_file = pretrained::tensors_file,
          .weights_sha256 = exported.weights_sha256,
          .library = "transformers"};
}

record::ExportAnswer as_onnx(const infer::Engine& model, const ExportArguments& arguments) {
  const onnx::ExportedOnnx exported = onnx::export_to_onnx(
      model, arguments.folder,
      arguments.external_data ? onnx_graph::OnnxWeights::beside : onnx_graph::OnnxWeights::inside);
  return {.architecture = "graph of ONNX",
          .pipeline = exported.pipeline,
          .tensors = exported.tensors,
          .parameters = exported.parameters,
          .dtype = name_of(DType::float32),
          .rounded_from = name_of(model.model().parameters().dtype()),
          .weights_file = exported.weights_file,
          .weights_sha256 = exported.weights_sha256,
          .library = "onnx",
          .use = "```python\n" + exported.use + "```\n"};
}

/// Copies only what an Engine reads of the run's folder.
record::ExportAnswer as_encore(const infer::Engine& model, const std::filesystem::path& run_folder,
                               const ExportArguments& arguments) {
  namespace fs = std::filesystem;
  if (!fs::exists(run_folder / record::weights_file))
    throw Error((run_folder / record::weights_file).string() +
                " is missing, because the run was not concluded; resume it, or export it with --format onnx");
  std::vector<const char*> files = {"specification.json", record::weights_file, record::int8_weights_file,
                                    record::int4_weights_file};
  files.insert(files.end(), infer::meaning_files.begin(), infer::meaning_files.end());
  for (const char* file : files)
    if (fs::exists(run_folder / file)) fs::copy_file(run_folder / file, arguments.folder / file);
  const record::WeightsFile written(arguments.folder);
  const memory::ParameterBlock& parameters = model.model().parameters();
  return {
      .architecture = "folder of Encore",
      .pipeline = "other",
      .tensors = static_cast<std::int64_t>(parameters.slices().size()),
      .parameters = parameters.count(),
      .dtype = name_of(parameters.dtype()),
      .rounded_from = name_of(parameters.dtype()),
      .weights_file = record::weights_file,
      .weights_sha256 = written.tensors().sha256(),
      .library = "encore",
      .use =
          "```c\nencore_model* model = NULL;\nchar* answers = NULL;\nconst char* texts[] = {\"a text\"};\n"
          "if (encore_open(DIR, NULL, &model) != ENCORE_OK || encore_predict(model, texts, 1, &answers) != "
          "ENCORE_OK)\n  puts(encore_last_error());\n```\n"};
}

record::ExportAnswer exported(const infer::Engine& model, const std::filesystem::path& run_folder,
                              const ExportArguments& arguments) {
  if (arguments.format == "onnx") return as_onnx(model, arguments);
  if (arguments.format == "encore") return as_encore(model, run_folder, arguments);
  return as_hugging_face(model, arguments);
}

}  // namespace

int export_verb(const TrainedRunArguments& run, const ExportArguments& arguments) {
  if (arguments.folder.empty()) throw Error("export needs --to FOLDER");
  const Device device;
  const infer::Engine model(run.folder, run.plugin_folders, device);
  for (const std::string& note : model.notes()) std::cerr << "encore-worker: " << note << '\n';
  record::ExportAnswer answer = exported(model, run.folder, arguments);
  answer.step = model.step();
  write_answer(to_json_object(answer));
  return 0;
}

WorkerVerbs export_verbs() {
  return {{"export", {[](const WorkerCall& call) {
             return export_verb(call.trained_run(), {call.text("to"), call.text("format"), call.text("dtype"),
                                                     call.flag("external-data")});
           }}}};
}

}  // namespace encore::worker
