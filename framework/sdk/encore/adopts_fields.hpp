// SPDX-License-Identifier: BSD-3-Clause
// AdoptsFields: an extension of Task for one that takes over models from elsewhere (Task::adopt) and reads
// fields that only some data sets have, such as the second text of a pair. `prepare` learns from the training
// set which fields there are; without a training set, the host asks the reader of the run and calls this.
// Place in the flow: adopt_model (train/pretrained_run.cpp) calls it after Task::adopt. It is part of the ABI
// of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp). Read next, in the source tree:
// plugins/tasks/text_input.hpp.
#pragma once

#include <encore/records.hpp>

namespace encore {

/// To be inherited beside Task.
class AdoptsFields {
 public:
  virtual ~AdoptsFields() = default;
  /// `questions` has no examples; its fields are those that the reader of the run gives, without the truth.
  virtual void adopt_fields(const Records& questions) = 0;
};

}  // namespace encore
