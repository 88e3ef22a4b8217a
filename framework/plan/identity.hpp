// Identity: the canonical text of an experiment, whose SHA-256 is the question a run answers.
// Formatting, order of keys, comments, defaults written out, and where data lies do not count; values,
// content of files, versions of types and the seed do. docs/reproducibility.md explains the choice.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "config/resolve.hpp"
#include "plan/run_point.hpp"

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

}  // namespace encore
