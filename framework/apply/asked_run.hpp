// SPDX-License-Identifier: BSD-3-Clause
// AskedRun: the model of a trained run behind the interface of the SDK (StepModel), for the steps of an
// application. application.cpp makes one for each step that names a run. An answer has the same bits alone
// and among others, so nothing here may depend on the batch.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <encore/device.hpp>
#include <encore/generates_text.hpp>
#include <encore/step.hpp>

#include "infer/engine.hpp"
#include "record/specification.hpp"
#include "tasks/input_use.hpp"

namespace encore::apply {

class AskedRun final : public StepModel, public GeneratesText {
 public:
  /// Loads the run whose weights are `weights`; `role` is the key of its table, which messages name. Throws
  /// Error if the weights are not the planned ones, or if the run cannot be loaded.
  AskedRun(const record::DataFile& weights, const std::string& role,
           const std::vector<std::string>& plugin_folders, const Device& device);

  const TaskFields& fields() const override { return engine_.fields(); }
  std::vector<std::string> labels() const override { return engine_.task().labels(); }
  std::string no_scores() const override { return engine_.no_scores(); }
  std::string no_vectors() const override { return engine_.no_vectors(); }
  Records answer(const Records& records) override;
  Records::NumberLists vectors(const Records::Texts& texts) override;
  std::string no_writing() const override;
  std::vector<std::vector<WrittenText>> write(const Records& questions,
                                              const std::vector<WriteRequest>& requests) override;
  std::vector<TextAlignment> align(const Records::Texts& sources, const Records::Texts& targets) override;

  /// Returns for each record how the model reads it if it is long. The list is empty for records that lack a
  /// field of the task, such as one that another step gives.
  std::vector<tasks::InputUse> uses(const Records& records) const;

  const infer::Engine& engine() const { return engine_; }
  /// Returns the run's own specification: its name, and the hashes of its data.
  const record::Specification& specification() const { return specification_; }

 private:
  Records questions_in(const Records& records) const;

  record::Specification specification_;
  infer::Engine engine_;
};

}  // namespace encore::apply
