#include "train/run_files.hpp"

#include "infer/setup.hpp"
#include "pretrained/content_hash.hpp"
#include "record/atomic_file.hpp"
#include "train/observer.hpp"

namespace encore {

const Specification& require_unchanged(const Specification& specification) {
  for (const auto& [role, file] : specification.data)
    require_planned(file, role, sha256_of_content(file.path));
  return specification;
}

void keep_file(const std::filesystem::path& path, const std::string& content) {
  try {
    save_file(path, content);
  } catch (const Error& error) {
    throw RecordError(error.what());
  }
}

}  // namespace encore
