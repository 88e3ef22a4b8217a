// SPDX-License-Identifier: BSD-3-Clause
// bytes_text(): a number of bytes as a short text for people. Messages of both programs, tables and reports
// call it, so that a size has one form everywhere. No program reads it back.
#pragma once

#include <cstdint>
#include <string>

namespace encore {

/// Returns "940 B", "12.3 kB", "4.2 MB" or "1.20 GB": units are powers of 1000.
std::string bytes_text(std::uint64_t bytes);

}  // namespace encore
