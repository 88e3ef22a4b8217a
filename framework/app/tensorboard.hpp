// TensorBoard's event files, as far as scalars need them: records of TFRecord (length, masked CRC-32C, data,
// masked CRC-32C), each an Event in protobuf's wire format.
// https://www.tensorflow.org/tutorials/load_data/tfrecord and tensorflow/core/util/event.proto say which
// number a field has.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace encore {

/// CRC-32C (the polynomial of iSCSI) of the bytes.
std::uint32_t crc32c(std::string_view bytes);

/// One record of a file: what `data` becomes on disk.
std::string tensorboard_record(std::string_view data);

/// The event every file begins with.
std::string tensorboard_head(double wall_time);
/// A scalar; TensorBoard keeps it in single precision. `wall_time` in seconds since 1970.
std::string tensorboard_scalar(std::string_view tag, std::int64_t step, double value, double wall_time);

}  // namespace encore
