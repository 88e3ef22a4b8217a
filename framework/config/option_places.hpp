// SPDX-License-Identifier: BSD-3-Clause
// OptionPlaces finds the tables of an experiment that take an option of a given name, for messages about an
// option in the wrong table. validate.hpp asks it when it meets a name that its schema lacks. Only messages
// depend on it, so its rules may change.
#pragma once

#include <string>
#include <vector>

namespace encore::config {

class Catalogue;
class Value;

class OptionPlaces {
 public:
  /// Makes an object that has Encore's own tables only.
  OptionPlaces() = default;
  /// Adds the tables of the plugins that the document `root` names. Both arguments outlive this object.
  OptionPlaces(const Value& root, const Catalogue& catalogue) : root_(&root), catalogue_(&catalogue) {}

  /// Returns dotted keys: {"optimizer"}, {"model.layer.attention", "model.layer.local"}; without [sweep].
  /// Returns nothing if there are too many tables for a useful message.
  std::vector<std::string> tables_with(const std::string& option) const;

  /// Returns `; it is an option of [optimizer]` or `; it stands at the top of the file`. Returns an empty
  /// string if no table takes it, or too many do.
  std::string used(const std::string& option) const;
  /// Returns a hint about plugins that the experiment does not use: `; it is an option of optimizer "sgd"`.
  /// For the name of a table it returns how to write the table: `; it is written [model.head]`.
  std::string other(const std::string& name) const;

 private:
  const Value* root_ = nullptr;
  const Catalogue* catalogue_ = nullptr;
};

}  // namespace encore::config
