// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes submission.json and names the files of a submission's folder. submitter.cpp writes;
// queue_view.cpp and finished_submissions.cpp read, also in other versions of `exp`, so members keep their
// names. Read submission.hpp first.
#include "runner/slurm/submission.hpp"

#include <array>
#include <system_error>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "base/json_text.hpp"
#include "runner/slurm/job_name.hpp"
#include "world/atomic_file.hpp"

namespace encore::runner {

namespace {

constexpr std::size_t most_submission_bytes = std::size_t{1} << 20;
constexpr std::array stage_names = {"packing", "submitted", "refused"};

}  // namespace

std::filesystem::path jobs_folder(const std::filesystem::path& runs_folder) {
  return runs_folder / "jobs";
}

std::filesystem::path submission_folder(const std::filesystem::path& runs_folder, const std::string& name) {
  ENCORE_REQUIRE(is_submission_name(name), "\"" + name + "\" is not the name of a submission");
  return jobs_folder(runs_folder) / name;
}

std::filesystem::path orders_file(const std::filesystem::path& runs_folder, const std::string& name,
                                  int element) {
  return submission_folder(runs_folder, name) / (std::to_string(element) + ".orders");
}

std::filesystem::path output_file(const std::filesystem::path& runs_folder, const std::string& name,
                                  int element) {
  return submission_folder(runs_folder, name) / ("element-" + std::to_string(element) + ".out");
}

void save_submission(const std::filesystem::path& runs_folder, Submission& submission) {
  ++submission.beats;
  const world::ProcessIdentity& by = submission.submitter;
  const nlohmann::json json = {
      {"name", submission.name},
      {"submitter",
       {{"host", by.host}, {"pid", by.pid}, {"start_time", by.start_time}, {"boot_id", by.boot_id}}},
      {"stage", stage_names[static_cast<std::size_t>(submission.stage)]},
      {"job", submission.job},
      {"beats", submission.beats},
      {"tries", submission.tries},
      {"queue_seconds", submission.queue_seconds},
      {"waits_for", submission.waits_for},
      {"cluster", submission.cluster}};
  const std::filesystem::path folder = submission_folder(runs_folder, submission.name);
  world::make_folder(folder);
  world::save_file(folder / submission_file,
                   json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::optional<Submission> load_submission(const std::filesystem::path& runs_folder, const std::string& name) {
  std::error_code unreadable;
  const std::filesystem::path file = submission_folder(runs_folder, name) / submission_file;
  if (!std::filesystem::is_regular_file(file, unreadable)) return std::nullopt;
  try {
    const nlohmann::json json = json_or_null(read_file(file, most_submission_bytes));
    if (!json.is_object()) return std::nullopt;
    Submission submission{.name = name};
    const nlohmann::json& by = json.at("submitter");
    submission.submitter = {by.at("host"), by.at("pid"), by.at("start_time"), by.at("boot_id")};
    for (std::size_t stage = 0; stage < stage_names.size(); ++stage)
      if (json.at("stage") == stage_names[stage]) submission.stage = static_cast<SubmissionStage>(stage);
    submission.job = json.at("job");
    submission.beats = json.at("beats");
    submission.tries = json.at("tries").get<std::vector<double>>();
    submission.queue_seconds = json.at("queue_seconds");
    submission.waits_for = json.at("waits_for");
    submission.cluster = json.value("cluster", std::string());
    return submission;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  } catch (const UnreadableFile&) {
    return std::nullopt;
  }
}

std::vector<Submission> list_submissions(const std::filesystem::path& runs_folder) {
  std::vector<Submission> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(jobs_folder(runs_folder), none)) {
    const std::string name = entry.path().filename().string();
    if (!is_submission_name(name)) continue;
    if (std::optional<Submission> submission = load_submission(runs_folder, name))
      found.push_back(std::move(*submission));
  }
  return found;
}

}  // namespace encore::runner
