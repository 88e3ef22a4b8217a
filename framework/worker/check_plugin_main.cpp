// SPDX-License-Identifier: BSD-3-Clause
// encore-worker-check-plugin: the contract suite for exp plugin check (program.hpp).
#include "worker/program.hpp"

namespace {

int check_plugin(const encore::WorkerCall& call) {
  const std::vector<std::string> files = call.texts("file");
  return encore::check_plugin_verb({.file = files.empty() ? std::string() : files.front(),
                                    .data = call.texts("data"),
                                    .reader_plugin = call.text("reader-plugin"),
                                    .settings = call.texts("set"),
                                    .width = call.whole("width"),
                                    .length = call.whole("length"),
                                    .only_digests = call.flag("digests")});
}

}  // namespace

int main(int argc, char** argv) {
  return encore::run_worker_program(argc, argv, {{"check-plugin", {check_plugin}}});
}
