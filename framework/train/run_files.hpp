// SPDX-License-Identifier: BSD-3-Clause
// Handles the files that a run reads and writes beside its checkpoints. Runs that train and runs that take
// over a model share it.
#pragma once

#include <filesystem>
#include <string>

#include "record/specification.hpp"

namespace encore {

/// Returns the specification after it has compared every file and folder with the planned content. A run that
/// resumes from a checkpoint needs neither what `[model] from` names nor its vocabulary: the run's own folder
/// has both. Throws Error that names the changed one.
const Specification& require_unchanged(const Specification& specification,
                                       const std::filesystem::path& run_folder);

/// Writes a file of the run's folder, completely or not at all: the next attempt relies on what it finds
/// there. Throws RecordError.
void keep_file(const std::filesystem::path& path, const std::string& content);

}  // namespace encore
