// SPDX-License-Identifier: BSD-3-Clause
// Writes the options of sbatch and the shell script of a submission, from the site's file and the orders.
// submitter.cpp saves and submits them. The script must forward signals to `exp job` and return its exit
// code, so that a requeue works. Read submission.hpp first.
#include "runner/slurm/submission.hpp"

#include "base/shell_word.hpp"

namespace encore::runner {

std::vector<std::string> sbatch_options(const config::SlurmSite& site, const std::string& name, int elements,
                                        int ranks, const std::filesystem::path& folder) {
  std::vector<std::string> options = {"--parsable", "--job-name=" + name};
  if (elements > 1) options.push_back("--array=0-" + std::to_string(elements - 1));
  options.push_back("--output=" + (folder / (elements > 1 ? "element-%a.out" : "element-0.out")).string());
  options.emplace_back("--open-mode=append");
  options.emplace_back(site.requeue ? "--requeue" : "--no-requeue");
  options.push_back("--signal=B:USR2@" + std::to_string(site.checkpoint_seconds));
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) options.push_back(std::string(option) + "=" + value);
  };
  add("--partition", site.partition);
  add("--account", site.account);
  add("--time", site.time);
  add("--mem", site.memory);
  add("--gpus", site.gpus);
  if (ranks > 1) options.push_back("--ntasks=" + std::to_string(ranks));
  if (site.cpus > 0) options.push_back("--cpus-per-task=" + std::to_string(site.cpus));
  options.insert(options.end(), site.options.begin(), site.options.end());
  return options;
}

std::string script_text(const config::SlurmSite& site, const std::filesystem::path& folder,
                        const std::filesystem::path& exp) {
  std::string text =
      "#!/bin/bash\n"
      "# Written by exp run --launcher slurm. Each element of the array trains the runs of its list, one "
      "after the other.\n";
  for (const std::string& module : site.modules) text += "module load " + shell_word(module) + "\n";
  for (const std::string& line : site.before) text += line + "\n";
  text += "mapfile -t orders < " + shell_word(folder.string()) +
          "/\"${SLURM_ARRAY_TASK_ID:-0}\".orders ||\n" +
          "  { echo \"exp: on $(hostname) there is no list of runs in \"" + shell_word(folder.string()) +
          "\", which the nodes must share with the machine of exp run\" >&2; exit 1; }\n";
  // Slurm sends USR2 to this shell alone and SIGTERM to every process of the job.
  text +=
      "keeper=\n"
      "trap '[ -z \"$keeper\" ] || kill -USR2 \"$keeper\"' USR2\n"
      "trap : TERM\n";
  text += (site.container.empty() ? "" : site.container + " ") + shell_word(exp.string()) +
          " job \"${orders[@]}\" &\n";
  text +=
      "keeper=$!\n"
      "while kill -0 \"$keeper\" 2>/dev/null; do wait \"$keeper\"; done\n"
      "wait \"$keeper\"\n"
      "code=$?\n";
  if (site.requeue)
    text += "if [ \"$code\" = " + std::to_string(requeue_exit_code) +
            " ]; then\n"
            "  job=$SLURM_JOB_ID\n"
            "  [ -z \"$SLURM_ARRAY_JOB_ID\" ] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\n"
            "  scontrol requeue \"$job\" && sleep 60\n"
            "fi\n";
  return text + "exit \"$code\"\n";
}

}  // namespace encore::runner
