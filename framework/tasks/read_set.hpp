// SPDX-License-Identifier: BSD-3-Clause
// Reads all files of one set into Records. set_files.cpp calls it for the sets of a run, and verbs of the
// worker that get files call it (worker/predict_file_verb.cpp). The order of the files is the order of the
// records, which decides the bits of a run. Read next: file_parts.hpp, for sets that are too large.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <encore/error.hpp>
#include <encore/reader.hpp>
#include <encore/task.hpp>

namespace encore::tasks {

/// The records of the files of a set, and the hash of each file.
struct ReadSet {
  Records records;
  std::vector<std::string> sha256;
};
/// Reads the files in this order. `what` names the set in messages. Throws an Error that names file and line.
ReadSet read_set(const Reader& reader, const std::vector<std::string>& paths, const std::string& what);

/// Throws Error if the records lack a field that the task needs: options of a reader may leave out some.
void require_fields(const Records& records, const TaskFields& needs);

/// Returns what a user can change in the experiment, so that its reader gives all of these fields of the
/// files: `set data.label_type = "number"`. Without files it tries nothing, and names where the options are
/// listed.
using FieldRemedy =
    std::function<std::string(std::span<const InputText> files, const std::vector<std::string>& fields)>;
/// Throws like the function above, but ConfigError with a remedy, for the files of a set of an experiment:
/// the options of [data] decide how every set is read.
void require_fields(const Records& records, const TaskFields& needs, const std::vector<std::string>& paths,
                    const FieldRemedy& remedy);

/// Calls `work`, which reads a file, and returns its result. An Error of it is thrown again with the file's
/// name before its message.
template <class Work>
auto with_file(const std::filesystem::path& path, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

}  // namespace encore::tasks
