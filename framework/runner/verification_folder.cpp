// SPDX-License-Identifier: BSD-3-Clause
// VerificationFolder: makes the folder of a verification, copies what the worker needs into it, and removes
// it unless it is kept. verifier.cpp owns it. The run's own folder is only read. The mark of a kept folder is
// read by store/garbage.cpp. Read verification_folder.hpp first.
#include "runner/verification_folder.hpp"

#include <stdlib.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/sha256.hpp"
#include "record/run_paths.hpp"
#include "store/garbage.hpp"
#include "world/file_descriptor.hpp"

namespace encore::runner {

namespace {

std::filesystem::path make_folder(const std::filesystem::path& original, const std::string& run_id) {
  std::string pattern = (original.parent_path() / (store::verification_prefix + run_id + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw Error(world::system_message("make the folder", pattern, errno));
  return pattern;
}

void copy_into(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code failure;
  std::filesystem::create_directories(to.parent_path(), failure);
  if (!failure) std::filesystem::copy_file(from, to, failure);
  if (failure) throw Error("cannot copy " + from.string() + " to " + to.string() + ": " + failure.message());
}

}  // namespace

VerificationFolder::VerificationFolder(std::filesystem::path original, const std::string& run_id, bool keep)
    : original_(std::move(original)), path_(make_folder(original_, run_id)) {
  if (keep) this->keep();
}

VerificationFolder::~VerificationFolder() {
  std::error_code ignored;
  if (!keep_) std::filesystem::remove_all(path_, ignored);
}

void VerificationFolder::fill(const record::Specification& specification, bool with_vocabulary,
                              const store::CheckpointRow* checkpoint) const {
  specification.save(path_);
  if (with_vocabulary && std::filesystem::exists(original_ / "vocab.txt"))
    copy_into(original_ / "vocab.txt", path_ / "vocab.txt");
  if (checkpoint == nullptr) return;
  const std::filesystem::path file = record::path_below(original_, checkpoint->path);
  if (sha256_of_file(file) != checkpoint->sha256)
    throw Error(file.string() + " is not the file that was recorded; exp db check lists all damaged files");
  copy_into(file, record::path_below(path_, checkpoint->path));
}

void VerificationFolder::keep() {
  keep_ = true;
  std::ofstream(path_ / store::kept_mark) << "exp gc leaves this folder alone; remove it by hand\n";
}

}  // namespace encore::runner
