// SPDX-License-Identifier: BSD-3-Clause
// Implements Workshop (workshop.hpp): runs shell commands with the programs of an installation, and reads
// code blocks of pages. A command must see nothing of the build tree but the PATH that a test gives.
#include "system/outside/workshop.hpp"

#include <stdlib.h>

#include <fstream>
#include <iterator>

#include <encore/error.hpp>

namespace encore::system_test {

Workshop::Workshop(const std::filesystem::path& prefix) : prefix_(prefix) {
  std::string pattern = (std::filesystem::temp_directory_path() / "encore-outside-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw Error("cannot make " + pattern);
  folder_ = pattern;
}

Workshop::~Workshop() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Workshop::write(const std::string& name, const std::string& content) const {
  std::filesystem::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name, std::ios::binary) << content;
}

std::string Workshop::read(const std::string& name) const {
  std::ifstream in(folder_ / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

runner::ProgramOutput Workshop::shell(const std::string& lines) const {
  std::vector<std::string> arguments = {"-C", folder_.string()};
  for (const char* name :
       {"ENCORE_DB", "ENCORE_BACKEND", "ENCORE_COMMAND", "ENCORE_WORKER", "ENCORE_PLUGIN_PATH"})
    arguments.insert(arguments.end(), {"-u", name});
  arguments.push_back("XDG_STATE_HOME=" + (folder_ / "state").string());
  const char* path = ::getenv("PATH");
  arguments.push_back("PATH=" + (prefix_ / "bin").string() + ":" +
                      (path == nullptr ? "/usr/bin:/bin" : path));
  arguments.insert(arguments.end(), {"OMP_NUM_THREADS=1", "sh", "-e", "-c", lines});
  return runner::run_program("env", arguments);
}

std::vector<std::string> code_blocks(const std::string& markdown, const std::string& language) {
  const std::string opening = "```" + language + "\n", closing = "```\n";
  std::vector<std::string> blocks;
  for (std::size_t at = markdown.find(opening); at != std::string::npos; at = markdown.find(opening, at)) {
    at += opening.size();
    blocks.push_back(markdown.substr(at, markdown.find(closing, at) - at));
  }
  return blocks;
}

}  // namespace encore::system_test
