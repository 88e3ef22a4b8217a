// Identity: the canonical text of an experiment, whose SHA-256 is the question a run answers.
// Formatting, order of keys, comments, defaults written out, and where data lies do not count; values,
// content of files, versions of types and the seed do. docs/concepts/identity.md explains the choice.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "config/resolve.hpp"
#include "plan/run_point.hpp"
#include "record/specification.hpp"

namespace encore {

/// Keys sorted, no blanks, floats in their shortest form that reads back equal.
class CanonicalText {
 public:
  /// `files` holds the content hash of every path option, by dotted key (numbered_file for the later ones of
  /// several); `parents` is how other runs that this one needs count (parent_filler.hpp), by the table that
  /// names them: model.from, distil.teacher.
  CanonicalText(const Resolved& resolved, const std::map<std::string, std::string>& files,
                const std::map<std::string, std::string>& parents = {});

  /// Of the run with this seed.
  std::string with_seed(std::int64_t seed) const;
  /// Of its group.
  std::string without_seed() const;

 private:
  std::string before_, behind_;  // the place of the seed; each entry with a comma in front
};

/// Whether a path option, by its dotted key, counts by the content of what it names. [data] root is where
/// other paths start, and no file; a run to start or to learn from counts by what it asks.
bool counts_by_content(const std::string& key);

/// The name in Specification::data: "data.train" -> "train", "tokenizer.vocab" -> "vocab"; others keep their
/// key.
std::string data_role(const std::string& key);

/// The versions of the types of an experiment, by the table that names them: {"model.layer.attention", 2}.
std::map<std::string, int> type_versions(const Resolved& resolved);

/// What a specification asks, computed again from its settings, the hashes of its data and its seed.
struct RecomputedIdentity {
  std::string question = {}, group = {};
  /// Why they say nothing about the specification: a type is not in the catalogue, or has another version
  /// there than it had when the run was planned, or that version was not recorded. Empty: they must be equal.
  std::string uncertain = {};
};
/// Both are empty where the settings cannot be checked with this catalogue.
RecomputedIdentity recompute_identity(const Specification& specification, const Catalogue& catalogue);

}  // namespace encore
