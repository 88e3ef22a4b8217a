// export: a run's best model as a folder that `transformers` opens.
#include <iostream>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "infer/hugging_face_export.hpp"
#include "worker/verbs.hpp"

namespace encore {

int export_verb(const TrainedRunArguments& run, const std::filesystem::path& folder,
                const std::string& dtype) {
  if (folder.empty()) throw Error("export needs --to FOLDER");
  const Device device;
  const Engine model(run.folder, run.plugin_folders, device);
  for (const std::string& note : model.notes()) std::cerr << "encore-worker: " << note << '\n';
  const ExportedModel exported = export_to_hugging_face(model, folder, dtype);
  std::cout << nlohmann::json{{"step", model.step()},
                              {"architecture", exported.architecture},
                              {"pipeline", exported.pipeline},
                              {"tensors", exported.tensors},
                              {"parameters", exported.parameters},
                              {"dtype", name_of(exported.dtype)},
                              {"rounded_from", name_of(exported.rounded_from)},
                              {"weights_sha256", exported.weights_sha256}}
                   .dump()
            << '\n';
  return 0;
}

}  // namespace encore
