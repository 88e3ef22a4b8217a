// SPDX-License-Identifier: BSD-3-Clause
// AdoptsFields: an extension of Task. A task inherits it if the task takes over pretrained models
// (Task::adopt) and reads fields that only some data sets have, such as the second text of a pair. `prepare`
// learns from the training set which fields there are. A pretrained model has no training set, so adopt_model
// (train/pretrained_run.cpp) passes the fields of the reader of the run, after Task::adopt. The header is
// part of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp). Read next, in the source
// tree: plugins/tasks/text_input.hpp.
#pragma once

#include <encore/records.hpp>

namespace encore {

/// A task inherits AdoptsFields beside Task.
class AdoptsFields {
 public:
  virtual ~AdoptsFields() = default;
  /// `questions` has no examples; its fields are those that the reader of the run gives, without the truth.
  virtual void adopt_fields(const Records& questions) = 0;
};

}  // namespace encore
