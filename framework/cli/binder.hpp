// SPDX-License-Identifier: BSD-3-Clause
// The binder fills a request from a command line and prints help, by the verb's form (app/form.hpp).
// verbs.hpp calls read_request() for every verb, completion.cpp asks for the fields. Only binder.cpp uses the
// parsing library.
#pragma once

#include <string>
#include <vector>

#include "app/form.hpp"
#include "cli/console.hpp"

namespace encore::cli {

using Arguments = std::vector<std::string>;

/// Returns the fields of the form, with --db and --help, which every verb has. These two have no slot.
std::vector<app::FormField> fields_of(const app::FormFields& form);
/// Prints the help of a verb, at most `width` columns wide. Commands stay on one line, so that they can be
/// copied.
std::string help_text(const app::FormFields& form, int width);

/// Fills the request and checks it. Returns false if it printed the help. Stores --db in the console. Throws
/// UsageError.
bool read_request(const app::FormFields& form, const Arguments& arguments, void* request, Console& console);
/// Returns --db, else $ENCORE_DB, else encore.db in the working folder. Throws UsageError.
std::filesystem::path database_of(const Console& console);

}  // namespace encore::cli
