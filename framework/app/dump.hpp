// SPDX-License-Identifier: BSD-3-Clause
// dump: runs with their settings and points as CSV tables, JSON, or TensorBoard's event files, for other
// programs. cli/dump_verb.cpp calls it. Other programs read the columns, so these keep their names.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "app/run_selection.hpp"

namespace encore::app {

struct DumpRequest {
  bool csv = false;
  bool json = false;
  bool tensorboard = false;
  std::string output;
  SelectionRequest selection;
};

Form<DumpRequest> dump_form();

std::vector<store::RunRow> dumped_runs(const DumpRequest& request, store::Store& store);
/// Writes a folder with runs.csv, params.csv and points.csv.
void write_tables(store::Store& store, const std::vector<store::RunRow>& runs,
                  const std::filesystem::path& folder);
/// Writes a folder with one folder of scalars for each run.
void write_tensorboard(store::Store& store, const std::vector<store::RunRow>& runs,
                       const std::filesystem::path& folder);

}  // namespace encore::app
