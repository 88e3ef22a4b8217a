// One run's tables, checked and completed: the resolved experiment as JSON (the currency between the
// programs), an origin for every option, and what a plan must know beside it. Place in the flow:
// experiment_file.hpp -> (plan/ sets what the sweep varies) -> resolve -> specification.json.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/catalogue.hpp"
#include "config/error.hpp"
#include "config/value.hpp"

namespace encore {

/// One checked table of `Resolved::config`, with what it was checked against.
struct ResolvedTable {
  Options options;
  const Schema* schema = nullptr;        ///< lives as long as the catalogue
  const ManifestOffer* offer = nullptr;  ///< of a table with a plugin's `type`
  /// Of options whose default another table's type brings: train.select, which belongs to the task.
  Options defaults = {};
};

struct Resolved {
  /// task, data, tokenizer, model (with layer.<name> of the block and of the norm, and head), optimizer,
  /// schedule, train; every table complete with its defaults, every path absolute.
  nlohmann::json config;
  Origins origin;
  /// By dotted key: "train", "model", "model.head", "model.layer.attention". `type` of a plugin's table is
  /// its offer.
  std::map<std::string, ResolvedTable> tables;
  /// Layer tables that neither model.block nor model.norm names, checked but not part of `config`.
  std::map<std::string, Place> unused_layers;
};

/// Checks the tables of one run; `root` is the whole document, its [sweep] and top-level options are not
/// looked at. What was wrong is added to `problems`; the result is complete only if nothing was.
Resolved resolve(const Value& root, const Catalogue& catalogue, Problems& problems);

/// The problems of resolve() that do not depend on what a parent would have brought, for a root whose
/// model.from or distil.teacher cannot be used: those of single options that it gives.
void check_given_options(const Value& root, const Catalogue& catalogue, Problems& problems);

}  // namespace encore
