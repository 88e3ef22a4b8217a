// SPDX-License-Identifier: BSD-3-Clause
// Turns rows of SQL statements into the structs of run_rows.hpp. Queries about one run (queries.cpp) and
// about many (run_batch.cpp) share these functions. The order of the columns in each list is the order in
// which rows.cpp reads them; change both together.
#pragma once

#include "store/store.hpp"

namespace encore::store {

/// Reads the columns key, type, value, source, at; the first of them is column `first`.
ParamRow param_row(const Statement& row, int first);

/// Returns the numbers of runs as a JSON array, which SQLite's json_each reads as a table.
std::string numbers_json(const std::vector<RunRow>& runs);

/// Returns an SQL condition on the table `run`: the run is in a sweep with one of these names (an SQL list or
/// query).
std::string in_sweeps(const std::string& names);

/// The columns and tables that attempt_row needs: SELECT attempt_columns ... attempt_tables WHERE ...
inline constexpr const char* attempt_columns =
    "attempt.number, ordinal, state, reason, started, finished, first_step, environment, host.description, "
    "build.description, started_event, code.commit_hash, code.diff, host_name, pid, process_start, boot_id, "
    "spool_problem, source.commit_hash, source.diff, source.archive, source.sha256";
inline constexpr int attempt_column_count = 22;
inline constexpr const char* attempt_tables =
    " FROM attempt LEFT JOIN host ON host.number = host LEFT JOIN build ON build.number = build "
    "LEFT JOIN source ON source.number = build.source LEFT JOIN code ON code.number = code ";
/// Returns the attempt with its stored state (a lost one may still be "running") and without plugins.
AttemptRow attempt_row(const Statement& row);

/// The columns and tables that verification_row needs: SELECT verification_columns ... verification_tables
/// WHERE ...
inline constexpr const char* verification_columns =
    "verification.time, outcome, first_step, scope, details, origin.kind, origin.name, origin.sha256, "
    "origin.time";
inline constexpr const char* verification_tables =
    " FROM verification LEFT JOIN origin ON origin.number = verification.origin ";
/// Reads the columns of verification_columns; the first of them is column `first`.
VerificationRow verification_row(const Statement& row, int first);
/// Reads the columns kind, name, sha256, time of an origin, beginning at column `first`. Returns nothing if
/// they are NULL.
std::optional<OriginRow> origin_row(const Statement& row, int first);

}  // namespace encore::store
