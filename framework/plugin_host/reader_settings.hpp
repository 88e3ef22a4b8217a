// SPDX-License-Identifier: BSD-3-Clause
// Options of a reader that change which fields it gives. A reader declares the fields of its defaults and
// those that some of its options bring; which option brings which field shows by reading. Place in the flow:
// only where the records of a run or of `exp plugin check` lack a field that the task needs. infer/setup.cpp
// and contract/task_samples.cpp call it for a message. No run depends on the result.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <encore/plugin.hpp>
#include <encore/reader.hpp>

namespace encore::plugin_host {

/// An option of a table at a value, as TOML writes it: label_type = "number".
struct OptionSetting {
  std::string option;
  std::string value;
};

/// Returns each option with choices and each flag that, changed alone from `options`, has the reader give
/// these fields of the files; none without files. Reads them once for each value, so callers pass small ones.
std::vector<OptionSetting> settings_that_give(const Offer& reader, const Options& options,
                                              std::span<const InputText> files,
                                              const std::vector<std::string>& fields);

/// Returns what a user of an experiment can do: `set data.label_type = "number"`, or where no setting was
/// found `the options of reader "tsv" decide what it gives ("exp plugin info tsv" lists them)`.
std::string reader_remedy(const Offer& reader, const std::vector<OptionSetting>& settings);

}  // namespace encore::plugin_host
