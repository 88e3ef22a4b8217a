// Merging: one spool into the database. Idempotent: what was merged is known by (attempt, sequence number),
// so any cut, any repetition and any order of attempts end in the same rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "store/database.hpp"

namespace encore {

struct MergeReport {
  std::uint64_t records = 0;  ///< new ones
  bool complete = true;       ///< the file is there, and every byte of it was merged
  std::string problem;        ///< where and why merging stopped; empty where there is no file yet
};

struct SpoolSource {
  std::filesystem::path path;
  std::int64_t run = 0;  ///< row numbers
  std::int64_t attempt = 0;
  int ordinal = 0;  ///< what the head of the file must say
};

/// Merges everything that is there, in transactions of bounded length. `check` is called first in each of
/// them and throws where the caller may not write (any more); `conclude` last in the last one, after
/// everything that is there.
MergeReport merge_spool(Database& database, const SpoolSource& source,
                        const std::function<void()>& check = {},
                        const std::function<void(const MergeReport&)>& conclude = {});

}  // namespace encore
