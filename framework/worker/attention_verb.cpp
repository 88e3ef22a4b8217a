// SPDX-License-Identifier: BSD-3-Clause
// The verb attention: computes the attention weights of a run's model for an input, for `exp attention`. It
// reads one request from standard input (record/attention.hpp) and answers with one AttentionTexts as JSON;
// both forms are a contract with `exp`.
#include <iostream>
#include <iterator>

#include <encore/device.hpp>

#include "infer/attention.hpp"
#include "worker/answers.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {

int attention_verb(const TrainedRunArguments& run) {
  std::ios::sync_with_stdio(false);
  const record::AttentionRequest request =
      record::AttentionRequest::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  const Device device;
  infer::Engine engine(run.folder, run.plugin_folders, device, run.weights);
  for (const std::string& note : engine.notes()) std::cerr << "encore-worker: " << note << '\n';
  answer_stream() << infer::attended(engine, request).json() << '\n';
  return 0;
}

}  // namespace encore::worker
