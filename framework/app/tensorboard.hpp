// SPDX-License-Identifier: BSD-3-Clause
// TensorBoard's event files for scalars, which dump.cpp writes: records of TFRecord (length, masked CRC-32C,
// data, masked CRC-32C), each an Event in protobuf's wire format. The numbers of the fields are in
// https://www.tensorflow.org/tutorials/load_data/tfrecord and tensorflow/core/util/event.proto.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace encore::app {

/// Returns the CRC-32C (the polynomial of iSCSI) of the bytes.
std::uint32_t crc32c(std::string_view bytes);

/// Returns `data` as one record of a file.
std::string tensorboard_record(std::string_view data);

/// Returns the first event of every file.
std::string tensorboard_head(double wall_time);
/// Returns the event of a scalar, in single precision. `wall_time` is in seconds since 1970.
std::string tensorboard_scalar(std::string_view tag, std::int64_t step, double value, double wall_time);

}  // namespace encore::app
