// SPDX-License-Identifier: BSD-3-Clause
// read_request() and help_text(): fill a verb's request from a command line and print its help, by the verb's
// form (app/form.hpp). run_bound() in verbs.hpp calls read_request() for every verb, completion_verb.cpp asks
// for the fields. Only binder.cpp may use the parsing library, so that another one could replace it.
#pragma once

#include <string>
#include <vector>

#include "app/form.hpp"
#include "cli/console.hpp"

namespace encore::cli {

/// The words of a command line after the name of the verb.
using Arguments = std::vector<std::string>;

/// Returns the fields of the form, with --db and --help, which every verb has. These two have no slot.
std::vector<app::FormField> fields_of(const app::FormFields& form);
/// Returns the help of a verb, at most `width` columns wide. Commands stay on one line, so that they can be
/// copied.
std::string help_text(const app::FormFields& form, int width);

/// Fills the request and checks it. Returns false if it printed the help. Stores --db in the console. Throws
/// UsageError.
bool read_request(const app::FormFields& form, const Arguments& arguments, void* request, Console& console);
/// Returns --db, else $ENCORE_DB, else encore.db in the working folder. Throws UsageError.
std::filesystem::path database_of(const Console& console);

}  // namespace encore::cli
