// What a run finds and leaves on disk beside its checkpoints, shared by those that train and those that take
// a model over.
#pragma once

#include <filesystem>
#include <string>

#include "record/specification.hpp"

namespace encore {

/// The specification, after every file and folder of it was compared with the content that was planned with.
/// Who goes on from a checkpoint needs neither what `[model] from` names nor the vocabulary from there: the
/// run's own folder has both. Throws Error naming the one that is another.
const Specification& require_unchanged(const Specification& specification,
                                       const std::filesystem::path& run_folder);

/// Writes a file of the run's folder, whole or not at all: the next attempt takes what it finds for what this
/// one had. Throws RecordError.
void keep_file(const std::filesystem::path& path, const std::string& content);

}  // namespace encore
