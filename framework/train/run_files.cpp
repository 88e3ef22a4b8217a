// SPDX-License-Identifier: BSD-3-Clause
// Compares the files that a run reads with the plan, and writes files into its folder. Session and
// PretrainedRun call it. Read run_files.hpp first.
#include "train/run_files.hpp"

#include "infer/setup.hpp"
#include "pretrained/content_hash.hpp"
#include "record/checkpoint.hpp"
#include "train/observer.hpp"
#include "world/atomic_file.hpp"

namespace encore::train {

const record::Specification& require_unchanged(const record::Specification& specification,
                                               const std::filesystem::path& run_folder) {
  const bool goes_on =
      specification.data.contains(record::pretrained_role) && !record::list_checkpoints(run_folder).empty();
  for (const auto& [role, file] : specification.data)
    if (!goes_on || (role != record::pretrained_role && role != "vocab"))
      record::require_planned(file, role, pretrained::sha256_of_content(file.path));
  return specification;
}

void keep_file(const std::filesystem::path& path, const std::string& content) {
  try {
    world::save_file(path, content);
  } catch (const Error& error) {
    throw RecordError(error.what());
  }
}

}  // namespace encore::train
