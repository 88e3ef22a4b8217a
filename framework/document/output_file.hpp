// SPDX-License-Identifier: BSD-3-Clause
// OutputFile is what a writer returns: a file, named relative to the folder of -o. A writer touches no disk
// itself, so equal documents can be compared as bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace encore {

struct OutputFile {
  std::filesystem::path path;
  std::string bytes;
};

}  // namespace encore
