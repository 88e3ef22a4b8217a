// SPDX-License-Identifier: BSD-3-Clause
// The files of a run beside its checkpoints: checks that the planned files are unchanged, and writes
// vocabulary and labels. Session (runs that train) and PretrainedRun (runs that take over a model) call it
// before anything else.
#pragma once

#include <filesystem>
#include <string>

#include "record/specification.hpp"

namespace encore::train {

/// Compares every file and folder of the specification with the planned content, and returns the
/// specification. A run that resumes from a checkpoint needs neither what `[model] from` names nor its
/// vocabulary, because its own folder has both. Throws an Error that names the changed file.
const record::Specification& require_unchanged(const record::Specification& specification,
                                               const std::filesystem::path& run_folder);

/// Writes a file of the run's folder, completely or not at all, because the next attempt relies on the files
/// that it finds. Throws RecordError.
void keep_file(const std::filesystem::path& path, const std::string& content);

}  // namespace encore::train
