// SPDX-License-Identifier: BSD-3-Clause
// The stream to which a worker writes its answers for exp or a user. It is the standard output that the
// worker was started with (a pipe of exp, a shell, ssh, mpirun), under a new descriptor. What libraries and
// plugins print to the standard output (DNNL_VERBOSE, KOKKOS_PRINT_CONFIGURATION) goes to the standard error.
// So answers must be written here, never to std::cout. main.cpp calls keep_answers_apart() first.
//
//   answer_stream() << line << '\n';
//   require_answers_written();  // when the reader waits for the line; program.cpp calls it at the end
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>

#include <nlohmann/json_fwd.hpp>

namespace encore::worker {

/// Call it first in main, before any library prints. Child processes write to the standard error, too.
void keep_answers_apart();

/// Returns the stream for answers; one thread at a time may use it. Before keep_answers_apart() it is
/// std::cout. require_answers_written() flushes it.
std::ostream& answer_stream();

/// Writes the JSON as one line, which `exp` parses. Bytes that are not UTF-8 are replaced.
void write_answer(const nlohmann::json& answer);

/// Flushes the stream. Throws Error if answers could not be written: the reader is gone, or the disk is full.
void require_answers_written();

/// While it exists, answers go to a file, which appears whole with commit(), or not at all.
class AnswerFile {
 public:
  /// Throws Error if the file cannot be written there. An empty path leaves the stream as it is.
  explicit AnswerFile(const std::filesystem::path& path);
  ~AnswerFile();
  AnswerFile(const AnswerFile&) = delete;
  AnswerFile& operator=(const AnswerFile&) = delete;

  void commit();

 private:
  struct Output;
  std::unique_ptr<Output> output_;
};

}  // namespace encore::worker
