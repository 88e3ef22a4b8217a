// SPDX-License-Identifier: BSD-3-Clause
// folder_problem(): the message with which open_hugging_face_folder() (pretrained/hugging_face_folder.hpp)
// rejects a folder, or "no error". The tests of folders beside this file compare its words, which must
// therefore be those of the thrown error.
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
