// SPDX-License-Identifier: BSD-3-Clause
// OutputFile is what a document writer returns (html.hpp, latex.hpp, csv.hpp and others): the name of a file,
// relative to the folder of -o, and its content. Writers touch no disk, so tests compare documents as bytes;
// cli/report_verb.cpp saves the files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace encore::document {

struct OutputFile {
  std::filesystem::path path;
  std::string bytes;
};

}  // namespace encore::document
