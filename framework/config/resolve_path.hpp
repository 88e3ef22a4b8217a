// SPDX-License-Identifier: BSD-3-Clause
// resolve_path() turns a path as experiment files write it, with environment variables and relative to the
// file, into an absolute one. validate.cpp calls it for every option that is a path, resolve.cpp for
// data.root before the others. The rules decide which file a run reads, so they must not change.
#pragma once

#include <optional>
#include <string>

#include "config/value.hpp"

namespace encore::config {

/// Expands ${NAME} from the environment. Throws Error naming a variable that is not set.
std::string expand_variables(const std::string& text);
/// Returns an absolute path without dots, relative to `root` or to the folder of the file in `origin`.
std::string resolve_path(const std::string& text, const Origin& origin,
                         const std::optional<std::string>& root);

}  // namespace encore::config
