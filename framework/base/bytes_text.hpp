// A number of bytes as people read it: one wording for messages of both programs, tables and reports.
#pragma once

#include <cstdint>
#include <string>

namespace encore {

/// "940 B", "12.3 kB", "4.2 MB", "1.20 GB"
std::string bytes_text(std::uint64_t bytes);

}  // namespace encore
