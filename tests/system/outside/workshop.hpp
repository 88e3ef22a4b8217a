// SPDX-License-Identifier: BSD-3-Clause
// Workshop: a folder of its own where tests work as a user does who has Encore on PATH and nothing else; keep
// it so, or a missing file of an installation is not found. The tests beside it and library/library_test.cpp
// use it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/worker_process.hpp"
#include "support/places.hpp"

namespace encore::system_test {

class Workshop {
 public:
  /// Uses the programs of this prefix: the build tree, or an installation.
  explicit Workshop(const std::filesystem::path& prefix = ENCORE_BUILD_DIR);
  ~Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  void set_prefix(const std::filesystem::path& prefix) { prefix_ = prefix; }
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;
  /// Runs lines of a shell in the folder, up to the first that fails.
  runner::ProgramOutput shell(const std::string& lines) const;

 private:
  std::filesystem::path folder_;
  std::filesystem::path prefix_;
};

/// Returns the content of every block of that language in a Markdown page.
std::vector<std::string> code_blocks(const std::string& markdown, const std::string& language);

}  // namespace encore::system_test
