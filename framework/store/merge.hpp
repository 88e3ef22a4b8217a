// SPDX-License-Identifier: BSD-3-Clause
// Merges one spool, the file of a worker's events, into the database. A merged record is identified by
// (attempt, sequence number), so an interruption, a repetition and any order of attempts give the same rows.
// Store::merge and bundle/spool_agreement.cpp call it. Read next: record/spool_reader.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "store/database.hpp"

namespace encore::store {

struct MergeReport {
  std::uint64_t records = 0;  ///< records that this call merged
  bool complete = true;       ///< the file is there, and every record of it was merged
  std::string problem;        ///< where it is damaged, or why merging stopped; empty without a file
};

struct SpoolSource {
  std::filesystem::path path;
  std::int64_t run = 0;  ///< row number, as is `attempt`
  std::int64_t attempt = 0;
  int ordinal = 0;          ///< ordinal of the attempt; the head of the file must have the same
  std::string run_id = {};  ///< the head must have the same id, if it has one
  bool is_over = false;     ///< the spool is finished, so valid records after damage are merged too
};

/// The type of the events in which the control program records where a finished spool was damaged, or why it
/// was refused. The name is stored and never changes. Members: text; from_step, the first step of which
/// records may be lost; records, the number of lost records (null: all that followed).
inline constexpr const char* spool_damage_event = "spool_damage";

/// Adds an event of the control program. Records of a spool are numbered from 1 upwards, these events from 0
/// downwards. Call it inside a transaction.
void add_own_event(Database& database, std::int64_t attempt, const std::string& type,
                   const nlohmann::json& body);

/// Merges all new records, in transactions of bounded length. Each transaction first calls `check`, which
/// throws if the caller may not write (any more). The last one calls `conclude` at its end.
MergeReport merge_spool(Database& database, const SpoolSource& source,
                        const std::function<void()>& check = {},
                        const std::function<void(const MergeReport&)>& conclude = {});

}  // namespace encore::store
