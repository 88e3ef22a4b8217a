// SPDX-License-Identifier: BSD-3-Clause
// OptionPlaces finds the tables of an experiment that take an option of a given name, for messages about an
// option in the wrong table. validate.cpp calls it for each name that its schema lacks. Only messages depend
// on the result, so the rules may change. Read next: core_schema.hpp.
#pragma once

#include <string>
#include <vector>

namespace encore::config {

class Catalogue;
class Value;

class OptionPlaces {
 public:
  /// Makes an object that knows only the tables of Encore itself, none of plugins.
  OptionPlaces() = default;
  /// Adds the tables of the plugins that the document `root` names. Both arguments outlive this object.
  OptionPlaces(const Value& root, const Catalogue& catalogue) : root_(&root), catalogue_(&catalogue) {}

  /// Returns the dotted keys of the tables that take the option, such as {"model.layer.attention",
  /// "model.layer.local"}. The tables [sweep] and [search] are left out. Returns an empty list if there are
  /// too many tables for a useful message.
  std::vector<std::string> tables_with(const std::string& option) const;

  /// Returns the end of a message that names the tables in which the experiment can set the option, such as
  /// `; it is an option of [optimizer]` or `; it stands at the top of the file`. Returns an empty string if
  /// no table takes the option, or too many do.
  std::string used(const std::string& option) const;
  /// Returns the end of a message for a name that no table of the experiment takes. If plugins that the
  /// experiment does not use have the option, it names them: `; it is an option of optimizer "sgd"`. If
  /// `name` is a table, it returns how to write the table: `; it is written [model.head]`.
  std::string other(const std::string& name) const;

 private:
  const Value* root_ = nullptr;
  const Catalogue* catalogue_ = nullptr;
};

}  // namespace encore::config
