// SPDX-License-Identifier: BSD-3-Clause
// Replaces this process by another program: by a worker for predict and generate (predict_verb.cpp), or by a
// component of exp (components.cpp). The process keeps its id, standard streams and signals, so that Ctrl-C
// and exit codes reach the user's shell; it must not become a child process. Read next: become_worker.hpp.
#include "cli/become_worker.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include <encore/error.hpp>

#include "cli/console.hpp"
#include "runner/worker_process.hpp"
#include "world/file_descriptor.hpp"

namespace encore::cli {

void use_as_input(int descriptor) {
  if (::dup2(descriptor, STDIN_FILENO) < 0)
    throw Error(std::string("cannot redirect standard input: ") + std::strerror(errno));
}

void use_text_as_input(const std::string& text) {
  // A file without a name: unlike a pipe it takes any length.
  const world::FileDescriptor file(::memfd_create("text", MFD_CLOEXEC));
  if (!file) throw Error(std::string("cannot pass the text to the worker: ") + std::strerror(errno));
  world::write_all(file.get(), std::as_bytes(std::span(text)), "text");
  if (::lseek(file.get(), 0, SEEK_SET) != 0)
    throw Error(std::string("cannot pass the text to the worker: ") + std::strerror(errno));
  use_as_input(file.get());
}

void become_worker(const std::filesystem::path& program, std::vector<std::string> arguments,
                   ThreadWait waiting) {
  if (waiting == ThreadWait::asleep) ::setenv("OMP_WAIT_POLICY", "passive", 0);
  for (const auto& [name, value] : runner::brief_waiting()) ::setenv(name.c_str(), value.c_str(), 0);
  become_program(program, std::move(arguments));
}

void become_program(const std::filesystem::path& program, std::vector<std::string> arguments) {
  flush_standard_output();
  std::vector<char*> list;
  std::string name = program.string();
  list.push_back(name.data());
  for (std::string& argument : arguments) list.push_back(argument.data());
  list.push_back(nullptr);
  ::execv(name.c_str(), list.data());
  throw Error("cannot start " + name + ": " + std::strerror(errno));
}

}  // namespace encore::cli
