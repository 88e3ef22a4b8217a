// SPDX-License-Identifier: BSD-3-Clause
// quantize(): writes weights_int8.safetensors or weights_int4.safetensors, whose matrices are rounded to
// integers of 8 or 4 bits, into the folder of each selected run, beside the trained weights, which stay
// unchanged. cli/quantize_verb.cpp calls it and prints the effect on size and scores. The worker does the
// work and answers in JSON (worker_answer.hpp, record/quantize_answer.hpp). The names of the files must stay,
// because verbs with --int8 and --int4 look for them (record/weights_file.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/run_plugins.hpp"
#include "record/quantize_answer.hpp"

namespace encore::app {

struct QuantizeRequest {
  int bits = 8;  ///< 8 or 4
  /// Largest relative growth of the development loss of the whole model (0.01: 1 %), or with `texts` the
  /// largest change of a vector (1 - cosine). If the rounded model exceeds it, the most harmful matrices are
  /// not rounded (infer/quantization.hpp).
  double tolerance = 0.01;
  int examples = 1000;            ///< number of examples by which each matrix is judged
  std::string texts;              ///< file with inputs, whose vectors decide instead of the loss; empty: none
  std::vector<std::string> keep;  ///< parameters or parts of the model ("head") that are not rounded
  bool json = false;
  bool csv = false;
  ModelRequest model;
  SelectionRequest selection;
};

Form<QuantizeRequest> quantize_form();

struct QuantizedRun {
  std::string run;  ///< name
  record::QuantizeAnswer answer;
};
struct QuantizeResult {
  std::vector<QuantizedRun> runs;
  bool one = false;  ///< the user asked for exactly one run; --json then prints an object, not a list
};
/// Quantizes the selected runs in order, and calls `written` after each. Throws at the first run that fails:
/// Error if no run has a new file yet, WorkError if runs before it have one, which they keep.
QuantizeResult quantize(const QuantizeRequest& request, const App& app,
                        const std::function<void(const QuantizedRun&)>& written);

}  // namespace encore::app
