// SPDX-License-Identifier: BSD-3-Clause
// quantize: writes the weights of runs as integers. The worker does the work and answers in JSON
// (worker_answer.hpp); cli/quantize_verb.cpp prints the effect on size and scores.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/run_plugins.hpp"
#include "record/quantize_answer.hpp"

namespace encore::app {

struct QuantizeRequest {
  int bits = 8;
  double tolerance = 0.01;
  int examples = 1000;
  std::string texts;
  std::vector<std::string> keep;
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
  bool one = false;  ///< exactly one was asked for
};
/// Quantizes the selected runs, and calls `written` after each.
QuantizeResult quantize(const QuantizeRequest& request, const App& app,
                        const std::function<void(const QuantizedRun&)>& written);

}  // namespace encore::app
