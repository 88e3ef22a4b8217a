// SPDX-License-Identifier: BSD-3-Clause
// JobName: draws names of submissions, and converts between a job and the holder of a lease. Names are stored
// in the database and in Slurm, so their form must not change. Read job_name.hpp first.
#include "runner/slurm/job_name.hpp"

#include "base/sha256.hpp"

namespace encore::runner {

namespace {

constexpr const char* first_part_of_name = "encore-";
constexpr std::size_t digits_of_name = 12;
constexpr const char* hexadecimal = "0123456789abcdef";

}  // namespace

std::string JobName::text() const {
  return submission + "_" + std::to_string(element);
}

std::string make_submission_name() {
  return first_part_of_name + random_digits(digits_of_name);
}

bool is_submission_name(const std::string& text) {
  const std::string first = first_part_of_name;
  return text.size() == first.size() + digits_of_name && text.starts_with(first) &&
         text.find_first_not_of(hexadecimal, first.size()) == std::string::npos;
}

std::optional<JobName> job_name_from(const std::string& text) {
  const std::size_t at = text.rfind('_');
  if (at == std::string::npos || !is_submission_name(text.substr(0, at))) return std::nullopt;
  const std::string number = text.substr(at + 1);
  if (number.empty() || number.size() > 7 || number.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return JobName{text.substr(0, at), std::stoi(number)};
}

world::ProcessIdentity holder_of(const JobName& job) {
  return world::job_identity(std::string(world::scheduler_prefix) + job.text());
}

std::optional<JobName> job_of(const world::ProcessIdentity& holder) {
  const std::string prefix(world::scheduler_prefix);
  if (!holder.is_job() || !holder.host.starts_with(prefix)) return std::nullopt;
  return job_name_from(holder.host.substr(prefix.size()));
}

}  // namespace encore::runner
