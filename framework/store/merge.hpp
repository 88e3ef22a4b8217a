// Merging: one spool into the database. Idempotent: what was merged is known by (attempt, sequence number),
// so any cut, any repetition and any order of attempts end in the same rows.
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
  std::string problem;  ///< where it is damaged, or why merging stopped; empty where there is no file yet
};

struct SpoolSource {
  std::filesystem::path path;
  std::int64_t run = 0;  ///< row numbers
  std::int64_t attempt = 0;
  int ordinal = 0;          ///< what the head of the file must say
  std::string run_id = {};  ///< this too, where it says anything
  bool is_over = false;     ///< nobody writes it any more: what is whole behind damage is merged too
};

/// Type of the events by which the control program remembers where a spool that is over was damaged, or why
/// it was refused. Members: text; from_step, the first step of which records may be lost; records, how many
/// (null: all that followed).
inline constexpr const char* spool_damage_event = "spool_damage";

/// An event of the control program itself: records of a spool are numbered from 1, these count down from 0.
/// Inside a transaction.
void add_own_event(Database& database, std::int64_t attempt, const std::string& type,
                   const nlohmann::json& body);

/// Merges everything that is there, in transactions of bounded length. `check` is called first in each of
/// them and throws where the caller may not write (any more); `conclude` last in the last one, after
/// everything that is there.
MergeReport merge_spool(Database& database, const SpoolSource& source,
                        const std::function<void()>& check = {},
                        const std::function<void(const MergeReport&)>& conclude = {});

}  // namespace encore
