// SPDX-License-Identifier: BSD-3-Clause
// write_tables() and write_tensorboard(): write runs with their settings and points as CSV tables or
// TensorBoard's event files, for other programs. cli/dump_verb.cpp calls them and writes the JSON
// (cli/run_json.hpp). Other programs read the columns, so these keep their names; the bytes of event files
// are TensorBoard's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run_selection.hpp"

namespace encore::app {

struct DumpRequest {
  bool csv = false;  ///< exactly one of these three
  bool json = false;
  bool tensorboard = false;
  std::string output;  ///< folder to write; for JSON a file, or empty: standard output
  SelectionRequest selection;
};

Form<DumpRequest> dump_form();

/// Returns the selected runs; without a selection, all runs. Throws UnknownRun if no run fits.
std::vector<store::RunRow> dumped_runs(const DumpRequest& request, store::Store& store);
/// Writes a folder with runs.csv, params.csv and points.csv.
void write_tables(store::Store& store, const std::vector<store::RunRow>& runs,
                  const std::filesystem::path& folder);
/// Writes a folder with one folder of scalars for each run.
void write_tensorboard(store::Store& store, const std::vector<store::RunRow>& runs,
                       const std::filesystem::path& folder);

// --- TensorBoard's event files (tensorboard.cpp) ---
// Records of TFRecord (length, masked CRC-32C, data, masked CRC-32C), each an Event in protobuf's wire
// format. https://www.tensorflow.org/tutorials/load_data/tfrecord describes the record,
// tensorflow/core/util/event.proto has the numbers of the fields.

/// Returns the CRC-32C (the polynomial of iSCSI) of the bytes.
std::uint32_t crc32c(std::string_view bytes);

/// Returns `data` as one record of a file.
std::string tensorboard_record(std::string_view data);

/// Returns the first event of every file.
std::string tensorboard_head(double wall_time);
/// Returns the event of a scalar, in single precision. `wall_time` is in seconds since 1970.
std::string tensorboard_scalar(std::string_view tag, std::int64_t step, double value, double wall_time);

}  // namespace encore::app
