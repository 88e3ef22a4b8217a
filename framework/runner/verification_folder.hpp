// SPDX-License-Identifier: BSD-3-Clause
// VerificationFolder: the folder in which a verification trains, beside the run's own folder. verifier.hpp
// makes and fills it, the worker trains in it, and the destructor removes it unless it is kept. The run's own
// folder is only read.
#pragma once

#include <filesystem>
#include <string>

#include "record/specification.hpp"
#include "store/store.hpp"

namespace encore::runner {

class VerificationFolder {
 public:
  /// `original` is the folder of the run. Throws Error if no folder can be made beside it.
  VerificationFolder(std::filesystem::path original, const std::string& run_id, bool keep);
  ~VerificationFolder();
  VerificationFolder(const VerificationFolder&) = delete;
  VerificationFolder& operator=(const VerificationFolder&) = delete;

  /// Copies what the worker begins with: the specification, the run's vocabulary if wanted (else the worker
  /// makes it as the run did), and the checkpoint to resume from, if there is one. Throws Error for a
  /// checkpoint that is not the recorded file.
  void fill(const record::Specification& specification, bool with_vocabulary,
            const store::CheckpointRow* checkpoint) const;
  /// Keeps the folder, with a mark for `exp gc`.
  void keep();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path original_;
  std::filesystem::path path_;
  bool keep_ = false;
};

}  // namespace encore::runner
