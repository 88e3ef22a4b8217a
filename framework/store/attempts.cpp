// SPDX-License-Identifier: BSD-3-Clause
// The members of Store about attempts: a process takes a run (lease), merges its spool, and ends the attempt;
// attempts whose process died are settled. The runner calls them while a worker trains. At most one process
// holds the lease of a run, so every write of the holder must check the token of the lease in its
// transaction. Read store.hpp first; merge.cpp merges.
#include <system_error>

#include "base/json_text.hpp"
#include "base/sha256.hpp"
#include "record/spool.hpp"
#include "store/store.hpp"
#include "world/atomic_file.hpp"

namespace encore::store {

namespace {

/// The expiry of a lease that never expires: the last second of the year 9999. A job may wait in a queue
/// without limit; the files that it writes show whether it is alive (runner/launched_runs.hpp).
constexpr double never = 253402300799.0;

struct AttemptEnd {
  RunState state = RunState::lost;
  std::string reason = "its process ended without a word";
};

/// Returns what the spool of a dead attempt says about its end.
AttemptEnd reported_end(Database& database, std::int64_t attempt) {
  Statement& last =
      database.cached("SELECT body FROM event WHERE attempt = ? AND type = ? ORDER BY sequence DESC LIMIT 1");
  AttemptEnd end;
  if (last.with(attempt, record::Ended::type).step())
    if (const std::optional<record::Event> event = record::read_event(last.text(0)).event)
      record::handle(*event, [&](const record::Ended& ended) {
        end = {run_state_from(record::name_of(ended.ending)).value_or(RunState::lost), ended.reason};
      });
  last.reset();
  return end;
}

void write_ending(Database& database, std::int64_t run, std::int64_t attempt, const AttemptEnd& ending) {
  const double now = world::now_seconds();
  // The attempt loses its token, so that a holder that wakes up again can no longer write.
  database.cached("UPDATE attempt SET state = ?, reason = ?, finished = ?, token = '' WHERE number = ?")
      .run(name_of(ending.state), ending.reason, now, attempt);
  const std::optional<double> finished =
      ending.state == RunState::completed ? std::optional(now) : std::nullopt;
  database.cached("UPDATE run SET state = ?, reason = ?, finished = ? WHERE number = ?")
      .run(name_of(ending.state), ending.reason, finished, run);
}

}  // namespace

std::string make_lease_token(int ordinal) {
  return std::to_string(ordinal) + "-" + random_digits(16);
}

MergeReport Store::merge_spool(std::int64_t run, const std::string& run_id, std::int64_t attempt, int ordinal,
                               bool is_over, const std::function<void()>& check,
                               const std::function<void(const MergeReport&)>& conclude) {
  return store::merge_spool(
      *database_, {run_folder(run_id) / record::spool_name(ordinal), run, attempt, ordinal, run_id, is_over},
      check, conclude);
}

void Store::require_lease(const Lease& lease) {
  Statement& statement =
      database_->cached("SELECT 1 FROM attempt WHERE number = ? AND token = ? AND state = 'running'");
  const bool held = statement.with(lease.attempt, lease.token).step();
  statement.reset();
  if (!held) {
    throw LeaseLost("run " + lease.run_id +
                    " was taken over by another process because this one showed no sign of life; it "
                    "continues there, see exp show " +
                    lease.run_id);
  }
}

bool Store::lease_expired(const world::ProcessIdentity& holder, double expires, double expires_uptime) const {
  const std::string boot = world::this_process().boot_id;
  if (!boot.empty() && holder.boot_id == boot) return expires_uptime < clock_.uptime();
  return expires < clock_.now();
}

bool Store::is_stale(std::int64_t attempt) {
  Statement& statement = database_->cached(
      "SELECT host_name, pid, process_start, boot_id, expires, expires_uptime FROM attempt "
      "WHERE number = ? AND state = 'running'");
  bool stale = false;
  if (statement.with(attempt).step()) {
    const world::ProcessIdentity holder{statement.text(0), statement.integer(1), statement.integer(2),
                                        statement.text(3)};
    stale = world::liveness_of(holder) == world::Liveness::gone ||
            lease_expired(holder, statement.number(4), statement.number(5));
  }
  statement.reset();
  return stale;
}

void Store::bury(std::int64_t run, std::int64_t attempt, int ordinal) {
  const std::string run_id = read_run(run).id;
  MergeReport report = merge_spool(run, run_id, attempt, ordinal, true);
  Transaction transaction(*database_);
  if (!is_stale(attempt)) return;  // another process has settled it
  AttemptEnd ending = reported_end(*database_, attempt);
  // The spool has its last record, but some before it are lost. So the run is not complete: the next attempt
  // records the missing steps again.
  if (!report.complete && ending.state == RunState::completed) ending = AttemptEnd{};
  if (!report.problem.empty() && ending.state == RunState::lost) ending.reason += "; " + report.problem;
  write_ending(*database_, run, attempt, ending);
  transaction.commit();
}

/// Returns whether another process has begun and ended an attempt since the caller looked, so that the caller
/// need not begin one: its control program still lives, or another attempt would end the same way.
bool Store::ended_by_others(std::int64_t run, std::int64_t seen_attempts) {
  Statement& latest = database_->cached(
      "SELECT ordinal, state, host_name, pid, process_start, boot_id FROM attempt WHERE run = ? ORDER "
      "BY ordinal DESC LIMIT 1");
  bool ended = false;
  if (latest.with(run).step() && latest.integer(0) > seen_attempts) {
    const RunState state = run_state_from(latest.text(1)).value_or(RunState::lost);
    const world::ProcessIdentity holder{latest.text(2), latest.integer(3), latest.integer(4), latest.text(5)};
    const bool unfinished = state == RunState::lost || state == RunState::interrupted;
    ended = !unfinished || world::liveness_of(holder) == world::Liveness::alive;
  }
  latest.reset();
  return ended;
}

std::optional<Lease> Store::begin_attempt(std::int64_t run, const world::ProcessIdentity& holder,
                                          std::optional<std::int64_t> seen_attempts,
                                          const CodeVersion& code) {
  struct Old {
    std::int64_t number;
    int ordinal;
  };
  std::vector<Old> old;
  Statement& attempts = database_->cached("SELECT number, ordinal FROM attempt WHERE run = ?");
  attempts.with(run);
  while (attempts.step()) old.push_back({attempts.integer(0), static_cast<int>(attempts.integer(1))});
  attempts.reset();
  const std::string run_id = read_run(run).id;
  for (const Old& attempt : old) {
    if (is_stale(attempt.number)) {
      bury(run, attempt.number, attempt.ordinal);
    } else if (read_run(run).state != RunState::running) {
      merge_spool(run, run_id, attempt.number, attempt.ordinal,
                  true);  // accepts a record that the worker wrote after the record of its end
    }
  }

  Transaction transaction(*database_);
  Statement& state = database_->cached("SELECT state FROM run WHERE number = ? AND removed IS NULL");
  const std::string now = state.with(run).step() ? state.text(0) : "removed";
  state.reset();
  if (now == "running" || now == "completed" || now == "removed") return std::nullopt;
  if (seen_attempts && ended_by_others(run, *seen_attempts)) return std::nullopt;
  Lease lease{run, run_id, 0, 1, ""};
  Statement& last = database_->cached("SELECT coalesce(max(ordinal), 0) + 1 FROM attempt WHERE run = ?");
  if (last.with(run).step()) lease.ordinal = static_cast<int>(last.integer(0));
  last.reset();
  lease.token = make_lease_token(lease.ordinal);
  database_
      ->cached(
          "INSERT INTO attempt (run, ordinal, started, token, expires, expires_uptime, host_name, pid, "
          "process_start, boot_id, code) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(run, lease.ordinal, world::now_seconds(), lease.token,
           holder.is_job() ? never : clock_.now() + lease_seconds_, clock_.uptime() + lease_seconds_,
           holder.host, holder.pid, holder.start_time, holder.boot_id, number_of(code));
  lease.attempt = database_->last_row();
  database_->cached("UPDATE run SET state = 'running', reason = '', finished = NULL WHERE number = ?")
      .run(run);

  // The lease file is written before the commit, while no other process can take the run. From now on a
  // worker of an older attempt renames no checkpoint. No worker survives a power cut, so the file is not
  // synced to disk.
  const std::filesystem::path folder = run_folder(run_id);
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(world::system_message("make the folder", folder, failure.value()));
  world::replace_file(folder / lease_file_name, lease.token + "\n");
  transaction.commit();
  return lease;
}

/// Returns the row number of a version of the user's code; adds the row if it is missing. Call it inside a
/// transaction.
std::int64_t Store::number_of(const CodeVersion& code) {
  database_->cached("INSERT OR IGNORE INTO code (commit_hash, diff) VALUES (?, ?)")
      .run(code.commit, code.diff);
  Statement& find = database_->cached("SELECT number FROM code WHERE commit_hash = ? AND diff = ?");
  find.with(code.commit, code.diff).step();
  const std::int64_t number = find.integer(0);
  find.reset();
  return number;
}

MergeReport Store::merge(const Lease& lease) {
  return merge(lease, {});
}

MergeReport Store::merge(const Lease& lease, const std::function<void(const MergeReport&)>& conclude) {
  const auto check = [&] {
    require_lease(lease);
    database_->cached("UPDATE attempt SET expires = ?, expires_uptime = ? WHERE number = ? AND pid <> 0")
        .run(clock_.now() + lease_seconds_, clock_.uptime() + lease_seconds_, lease.attempt);
  };
  const bool is_over = static_cast<bool>(conclude);
  return merge_spool(lease.run, lease.run_id, lease.attempt, lease.ordinal, is_over, check, conclude);
}

std::vector<HeldByJob> Store::attempts_of_jobs() {
  std::vector<HeldByJob> held;
  Statement& rows = database_->cached(
      "SELECT attempt.run, run.id, attempt.number, ordinal, token, host_name, started FROM attempt JOIN run "
      "ON "
      "run.number = attempt.run WHERE attempt.state = 'running' AND pid = 0 ORDER BY attempt.number");
  while (rows.step())
    held.push_back({.lease = {.run = rows.integer(0),
                              .run_id = rows.text(1),
                              .attempt = rows.integer(2),
                              .ordinal = static_cast<int>(rows.integer(3)),
                              .token = rows.text(4)},
                    .holder = world::job_identity(rows.text(5)),
                    .started = rows.number(6)});
  rows.reset();
  return held;
}

nlohmann::json Store::read_note(const Lease& lease, const std::string& type) {
  Statement& note = database_->cached(
      "SELECT body FROM event WHERE attempt = ? AND sequence <= 0 AND type = ? ORDER BY sequence LIMIT 1");
  nlohmann::json body;
  if (note.with(lease.attempt, type).step()) body = json_or_null(note.text(0));
  note.reset();
  return body;
}

void Store::replace_note(const Lease& lease, const std::string& type, const nlohmann::json& body) {
  Transaction transaction(*database_);
  require_lease(lease);
  database_->cached("DELETE FROM event WHERE attempt = ? AND sequence <= 0 AND type = ?")
      .run(lease.attempt, type);
  add_own_event(*database_, lease.attempt, type, body);
  transaction.commit();
}

void Store::add_event(const Lease& lease, const std::string& type, const nlohmann::json& body) {
  Transaction transaction(*database_);
  require_lease(lease);
  add_own_event(*database_, lease.attempt, type, body);
  transaction.commit();
}

MergeReport Store::finish_attempt(const Lease& lease, RunState state, const std::string& reason) {
  ENCORE_REQUIRE(state != RunState::running && state != RunState::pending,
                 "an attempt ends in a final state");
  MergeReport report = merge(lease, [&](const MergeReport& merged) {
    if (state == RunState::completed && !merged.complete) return;
    write_ending(*database_, lease.run, lease.attempt, {state, reason});
  });
  if (state == RunState::completed && !report.complete) {
    throw Error("run " + lease.run_id + " cannot be completed: " +
                (report.problem.empty()
                     ? "its spool, " + record::spool_name(lease.ordinal) + ", is missing in its folder"
                     : report.problem) +
                "; run the same command again");
  }
  return report;
}

Lease Store::succeed_attempt(const Lease& lease, RunState state, const std::string& reason, int ordinal,
                             const std::string& token) {
  ENCORE_REQUIRE(ordinal > lease.ordinal && !token.empty(), "a successor comes behind, with a token");
  Lease next = lease;
  next.ordinal = ordinal;
  next.token = token;
  merge(lease, [&](const MergeReport&) {
    write_ending(*database_, lease.run, lease.attempt, {state, reason});
    database_
        ->cached(
            "INSERT INTO attempt (run, ordinal, started, token, expires, expires_uptime, host_name, pid, "
            "process_start, boot_id, code) SELECT run, ?, ?, ?, expires, expires_uptime, host_name, pid, "
            "process_start, boot_id, code FROM attempt WHERE number = ?")
        .run(ordinal, world::now_seconds(), token, lease.attempt);
    next.attempt = database_->last_row();
    database_->cached("UPDATE run SET state = 'running', reason = '', finished = NULL WHERE number = ?")
        .run(lease.run);
  });
  return next;
}

std::vector<RunRow> Store::settle() {
  struct Running {
    std::int64_t run, attempt;
    int ordinal;
  };
  std::vector<Running> running;
  Statement& statement =
      database_->cached("SELECT run, number, ordinal FROM attempt WHERE state = 'running'");
  while (statement.step()) {
    running.push_back({statement.integer(0), statement.integer(1), static_cast<int>(statement.integer(2))});
  }
  statement.reset();
  std::vector<RunRow> settled;
  for (const Running& attempt : running) {
    if (!is_stale(attempt.attempt)) continue;
    bury(attempt.run, attempt.attempt, attempt.ordinal);
    settled.push_back(read_run(attempt.run));
  }
  return settled;
}

}  // namespace encore::store
