// The binder makes parser, help and completion of a form (app/form.hpp). binder.cpp alone knows the library
// that parses.
#pragma once

#include <string>
#include <vector>

#include "app/form.hpp"
#include "cli/console.hpp"

namespace encore {

using Arguments = std::vector<std::string>;

/// The fields of the form and what every verb has: --db and --help. These two have no slot.
std::vector<FormField> fields_of(const FormFields& form);
/// The help of a verb, at most `width` columns wide but for commands, which stay on one line to be copied.
std::string help_text(const FormFields& form, int width);

/// Fills the request and checks it. False when the help was asked for and printed. --db goes to the console.
/// Throws UsageError.
bool read_request(const FormFields& form, const Arguments& arguments, void* request, Console& console);
/// --db, else $ENCORE_DB, else encore.db in the working folder. Throws UsageError.
std::filesystem::path database_of(const Console& console);

}  // namespace encore
