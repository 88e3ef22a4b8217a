// SPDX-License-Identifier: BSD-3-Clause
// Stores what a job has used (time, energy, memory) as an event of each attempt that the job held, and reads
// it back with each job counted once. runner/slurm/job_accounts.cpp writes, `exp show` and reports read.
// Databases hold these events, so type and members keep their names. Read job_usage.hpp first.
#include "store/job_usage.hpp"

#include "store/merge.hpp"

namespace encore::store {

namespace {

constexpr const char* usage_event = "job_usage";

template <class Number>
std::optional<Number> number_in(const nlohmann::json& body, const char* name) {
  const auto found = body.find(name);
  return found != body.end() && found->is_number() ? std::optional(found->get<Number>()) : std::nullopt;
}

}  // namespace

int note_job_usage(Store& store, const world::ProcessIdentity& holder, JobUsage usage) {
  Database& database = store.database();
  Transaction transaction(database);
  std::vector<std::int64_t> attempts;
  Statement& rows = database.cached("SELECT number FROM attempt WHERE host_name = ?");
  rows.with(holder.host);
  while (rows.step()) attempts.push_back(rows.integer(0));
  rows.reset();
  usage.attempts = static_cast<int>(attempts.size());
  nlohmann::json body = {{"job", usage.job}, {"attempts", usage.attempts}};
  if (usage.joules) body["joules"] = *usage.joules;
  if (usage.peak_bytes) body["resident_bytes"] = *usage.peak_bytes;
  for (const std::int64_t attempt : attempts) {
    database.cached("DELETE FROM event WHERE attempt = ? AND sequence <= 0 AND type = ?")
        .run(attempt, usage_event);
    add_own_event(database, attempt, usage_event, body);
  }
  transaction.commit();
  return usage.attempts;
}

std::vector<std::pair<int, JobUsage>> read_job_usage(Store& store, std::int64_t run) {
  std::vector<std::pair<int, JobUsage>> found;
  for (const EventRow& event : store.read_events(run, usage_event)) {
    if (!event.body.is_object()) continue;
    JobUsage usage{.joules = number_in<double>(event.body, "joules"),
                   .peak_bytes = number_in<std::int64_t>(event.body, "resident_bytes"),
                   .attempts = number_in<int>(event.body, "attempts").value_or(1)};
    if (const auto job = event.body.find("job"); job != event.body.end() && job->is_string())
      usage.job = job->get<std::string>();
    found.emplace_back(event.attempt, std::move(usage));
  }
  return found;
}

}  // namespace encore::store
