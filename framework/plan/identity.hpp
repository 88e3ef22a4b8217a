// SPDX-License-Identifier: BSD-3-Clause
// CanonicalText: the text of an experiment whose SHA-256 is the question that a run answers, its identity.
// Values, content of files, versions of types and the seed count; formatting, order of keys, comments,
// written defaults and the place of data do not (docs/concepts/identity.md). Place in the flow:
// point_maker.cpp makes it for each run; store/ finds runs by the hash. A changed text would train every run
// again, so it never changes without a new identity_format (identity.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "config/resolve.hpp"
#include "plan/run_point.hpp"
#include "record/specification.hpp"

namespace encore::plan {

/// The canonical text: sorted keys, no blanks, and floats in their shortest form that reads back equal.
class CanonicalText {
 public:
  /// `files` holds the content hash of every path option, by dotted key (numbered_file for the later ones of
  /// several). `parents` says how the other runs that this one needs count (parent_filler.hpp), by the table
  /// that names them (config::names_run).
  CanonicalText(const config::Resolved& resolved, const std::map<std::string, std::string>& files,
                const std::map<std::string, std::string>& parents = {});

  /// Returns the text of the run with this seed.
  std::string with_seed(std::int64_t seed) const;
  /// Returns the text of the run's group.
  std::string without_seed() const;

 private:
  std::string before_, behind_;  // around the seed; each entry has a comma in front
};

/// Returns whether a path option, by its dotted key, counts by the content of its file. [data] root does not:
/// other paths start there. A run to start or to learn from counts by its question.
bool counts_by_content(const std::string& key);

/// Returns the name in Specification::data: "data.train" -> "train", "tokenizer.vocab" -> "vocab"; others
/// keep their key.
std::string data_role(const std::string& key);

/// Returns the versions of all types, by the table that names them: {"model.layer.attention", 2}.
std::map<std::string, int> type_versions(const config::Resolved& resolved);

/// The question of a specification, computed again from its settings, the hashes of its data and its seed.
struct RecomputedIdentity {
  std::string question = {}, group = {};
  /// Says why the hashes may differ: a type is not in the catalogue, or has another version there than when
  /// the run was planned, or its version was not recorded. Empty: they must be equal.
  std::string uncertain = {};
};
/// Both hashes are empty if the settings cannot be checked with this catalogue.
RecomputedIdentity recompute_identity(const record::Specification& specification,
                                      const config::Catalogue& catalogue);

}  // namespace encore::plan
