// SPDX-License-Identifier: BSD-3-Clause
// Returns the message of the reader of Hugging Face folders for one that it rejects.
#pragma once

#include <filesystem>
#include <string>

#include "pretrained/hugging_face_folder.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::pretrained {

inline std::string folder_problem(const std::filesystem::path& folder) {
  return testing::message_of<Error>([&] { open_hugging_face_folder(folder); });
}

}  // namespace encore::pretrained
