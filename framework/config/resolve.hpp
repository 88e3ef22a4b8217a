// SPDX-License-Identifier: BSD-3-Clause
// Checks and completes the tables of one run. The result is the resolved experiment as JSON, which both
// programs exchange, an origin for every option, and what a plan needs beside it. The flow is:
// experiment_file.hpp -> (plan/ sets what the sweep varies) -> resolve -> specification.json. Identities of
// runs depend on the result, so an existing file must always resolve to equal values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/catalogue.hpp"
#include "config/error.hpp"
#include "config/value.hpp"

namespace encore::config {

/// One checked table of `Resolved::config`, with the schema and the type that it was checked against.
struct ResolvedTable {
  Options options;
  const Schema* schema = nullptr;        ///< lives as long as the catalogue
  const ManifestOffer* offer = nullptr;  ///< of a table with a plugin's `type`
  /// Holds defaults that the type of another table decides: train.select, which belongs to the task.
  Options defaults = {};
};

struct Resolved {
  /// Holds task, data, tokenizer, model (with layer.<name> of the block and of the norm, and head),
  /// optimizer, schedule and train. Every table is complete with its defaults, every path is absolute.
  nlohmann::json config;
  Origins origin;
  /// The tables by dotted key: "train", "model", "model.head", "model.layer.attention". The `type` of a
  /// plugin's table is in its offer.
  std::map<std::string, ResolvedTable> tables;
  /// Layer tables that neither model.block nor model.norm names. They are checked but not part of `config`.
  std::map<std::string, Place> unused_layers;
};

/// Checks the tables of one run. `root` is the whole document; its [sweep] and top-level options are ignored.
/// Adds what is wrong to `problems`. The result is complete only if nothing was added.
Resolved resolve(const Value& root, const Catalogue& catalogue, Problems& problems);

/// Adds the problems of single options that do not depend on a parent, for a root whose model.from or
/// distil.teacher cannot be used. They are a part of those that resolve() finds.
void check_given_options(const Value& root, const Catalogue& catalogue, Problems& problems);

/// Checks what two tables decide together (across_tables.cpp): whether reader and task fit, by which measure
/// a run may select, and numbers that exclude each other. resolve() calls it after it has checked each table.
/// Adds what is wrong to `problems`. If the file does not set train.select, the task's default goes into
/// `resolved`. Skips tables that are missing or wrong, because they have been reported already.
void check_across_tables(const Value& root, const Catalogue& catalogue, Resolved& resolved,
                         Problems& problems);

}  // namespace encore::config
