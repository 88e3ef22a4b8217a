// The files of one set to records, whole: what set_files.hpp does for the sets of a run, and verbs for the
// files that they are given.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <encore/error.hpp>
#include <encore/reader.hpp>
#include <encore/task.hpp>

namespace encore {

/// The records of the files of a set, with the hash of each. `what` names the set in messages. Throws Error
/// that names file and line.
struct ReadSet {
  Records records;
  std::vector<std::string> sha256;
};
ReadSet read_set(const Reader& reader, const std::vector<std::string>& paths, const std::string& what);

/// Throws Error where the records lack a field that the task needs: a reader's options may leave some out.
void require_fields(const Records& records, const TaskFields& needs);

/// What `work` gives, which is done on the content of a file: an Error of it gets the file's name in front.
template <class Work>
auto with_file(const std::filesystem::path& path, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

}  // namespace encore
