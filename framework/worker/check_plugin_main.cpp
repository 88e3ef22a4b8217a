// SPDX-License-Identifier: BSD-3-Clause
// main() of encore-worker-check-plugin, the program of the verb check-plugin. encore-worker becomes it
// (program.hpp). `exp` never starts it by its own name. The name must stay encore-worker-VERB: program.cpp
// makes it from the verb. Read next: check_plugin_verb.cpp.
#include "worker/program.hpp"

namespace {

int check_plugin(const encore::worker::WorkerCall& call) {
  const std::vector<std::string> files = call.texts("file");
  return encore::worker::check_plugin_verb({.file = files.empty() ? std::string() : files.front(),
                                            .data = call.texts("data"),
                                            .reader_plugin = call.text("reader-plugin"),
                                            .settings = call.texts("set"),
                                            .width = call.whole("width"),
                                            .length = call.whole("length"),
                                            .only_digests = call.flag("digests")});
}

}  // namespace

int main(int argc, char** argv) {
  return encore::worker::run_worker_program(argc, argv, {{"check-plugin", {check_plugin}}});
}
