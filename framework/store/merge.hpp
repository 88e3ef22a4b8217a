// SPDX-License-Identifier: BSD-3-Clause
// Merges one spool into the database. Merged records are known by (attempt, sequence number), so any cut, any
// repetition and any order of attempts end in the same rows. Read next: record/spool_reader.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "store/database.hpp"

namespace encore {

struct MergeReport {
  std::uint64_t records = 0;  ///< new ones
  bool complete = true;       ///< the file is there, and every record of it was merged
  std::string problem;  ///< where it is damaged, or why merging stopped; empty while there is no file yet
};

struct SpoolSource {
  std::filesystem::path path;
  std::int64_t run = 0;  ///< row numbers
  std::int64_t attempt = 0;
  int ordinal = 0;          ///< the head of the file must have it
  std::string run_id = {};  ///< the head must have this too, if it has an id
  bool is_over = false;     ///< the spool is finished, so valid records behind damage are merged too
};

/// The type of the events in which the control program records where a finished spool was damaged, or why it
/// was refused. Members: text; from_step, the first step of which records may be lost; records, how many
/// (null: all that followed).
inline constexpr const char* spool_damage_event = "spool_damage";

/// Adds an event of the control program itself. Records of a spool are numbered from 1, these count down from
/// 0. Call it inside a transaction.
void add_own_event(Database& database, std::int64_t attempt, const std::string& type,
                   const nlohmann::json& body);

/// Merges all new records, in transactions of bounded length. `check` is called first in each of them and
/// throws if the caller may not write (any more). `conclude` is called last in the last one, after everything
/// else.
MergeReport merge_spool(Database& database, const SpoolSource& source,
                        const std::function<void()>& check = {},
                        const std::function<void(const MergeReport&)>& conclude = {});

}  // namespace encore
