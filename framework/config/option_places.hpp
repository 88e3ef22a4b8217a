// OptionPlaces: which tables of an experiment take an option of a given name, for messages about one that is
// written elsewhere. Place in the flow: validate.hpp asks when it meets a name that its schema lacks.
#pragma once

#include <string>
#include <vector>

namespace encore {

class Catalogue;
class Value;

class OptionPlaces {
 public:
  /// Knows Encore's own tables only.
  OptionPlaces() = default;
  /// Knows also the tables of the plugins that the document `root` names; both outlive it.
  OptionPlaces(const Value& root, const Catalogue& catalogue) : root_(&root), catalogue_(&catalogue) {}

  /// Dotted keys: {"optimizer"}, {"model.layer.attention", "model.layer.local"}; without [sweep]. None where
  /// there are so many that naming them would help nobody.
  std::vector<std::string> tables_with(const std::string& option) const;

  /// `; it is an option of [optimizer]` or `; it stands at the top of the file`; empty where no table takes
  /// it, or too many.
  std::string used(const std::string& option) const;
  /// The same of plugins that the experiment does not use: `; it is an option of optimizer "sgd"`. Or, of a
  /// table, how it is written: `; it is written [model.head]`.
  std::string other(const std::string& name) const;

 private:
  const Value* root_ = nullptr;
  const Catalogue* catalogue_ = nullptr;
};

}  // namespace encore
