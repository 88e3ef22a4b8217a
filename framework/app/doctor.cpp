// SPDX-License-Identifier: BSD-3-Clause
// The checks of `exp doctor`, one group of functions for each part of the machine. cli/doctor_verb.cpp calls
// examine(), which calls the groups; a new check is added to its group. A check must end by itself: a program
// that hangs is stopped after answer_patience. Read next: doctor.hpp.
#include "app/doctor.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "app/run_ranks.hpp"
#include "base/json_text.hpp"
#include "base/readable_text.hpp"
#include "document/quantity.hpp"
#include "record/run_paths.hpp"
#include "runner/worker_process.hpp"
#include "store/encore_database.hpp"
#include "world/atomic_file.hpp"
#include "world/control_groups.hpp"
#include "world/cores.hpp"
#include "world/lease_clock.hpp"
#include "world/process.hpp"

namespace encore::app {

namespace {

using DoctorFindings = std::vector<DoctorFinding>;

/// The time limit for a program that hangs, for example because a server of the cluster is down.
constexpr auto answer_patience = std::chrono::seconds(10);
constexpr double giga = 1024.0 * 1024.0 * 1024.0;

/// Returns the first line of the program's output. Returns "" if the program is missing or fails.
std::string answer_of(const std::string& program, const std::vector<std::string>& arguments) {
  try {
    const runner::ProgramOutput output =
        runner::run_program(program, arguments, "", {.timeout = answer_patience});
    if (!output.end.success()) return "";
    std::istringstream lines(output.output.empty() ? output.errors : output.output);
    std::string line;
    std::getline(lines, line);
    return line;
  } catch (const Error&) {
    return "";
  }
}

/// Checks that a program prints its version.
DoctorFinding program(const std::string& group, const std::string& what, const std::string& name,
                      const std::vector<std::string>& arguments, Health otherwise,
                      const std::string& advice) {
  const std::string answer = answer_of(name, arguments);
  if (answer.empty()) return {group, what, otherwise, "no working " + name + " in $PATH", advice};
  return {group, what, Health::good, answer, ""};
}

void examine_build(DoctorFindings& findings) {
  const char* compiler = std::getenv("CXX");
  findings.push_back(program("build", "C++ compiler",
                             compiler != nullptr && *compiler != '\0' ? compiler : "c++", {"--version"},
                             Health::warning,
                             "install g++ 12 or newer (Debian: apt-get install g++), or set $CXX; needed to "
                             "build Encore and plugins, not to train"));
  findings.push_back(
      program("build", "CMake", "cmake", {"--version"}, Health::warning,
              "install CMake 3.25 or newer (Debian: apt-get install cmake), or load the site's "
              "module; needed to build"));
  findings.push_back(program("build", "Ninja", "ninja", {"--version"}, Health::warning,
                             "install ninja (Debian: apt-get install ninja-build); needed to build"));
  findings.push_back(program("build", "git", "git", {"--version"}, Health::absent,
                             "install git; without it, no run records the commit of its experiment file"));
  const std::map<std::string, std::string> headers = {
      {"oneapi/dnnl/dnnl.hpp", "libdnnl-dev"},
      {"sqlite3.h", "libsqlite3-dev"},
      {"toml++/toml.h", "libtomlplusplus-dev"},
      {"utf8proc.h", "libutf8proc-dev"},
      {"openssl/evp.h", "libssl-dev"},
      {"zstd.h", "libzstd-dev"},
      {"boost/program_options.hpp", "libboost-program-options-dev"},
      {"boost/math/distributions/students_t.hpp", "libboost-dev"},
      {"nlohmann/json.hpp", "nlohmann-json3-dev"}};
  std::string missing;
  for (const auto& [header, package] : headers)
    if (!std::filesystem::exists(std::filesystem::path("/usr/include") / header) &&
        !std::filesystem::exists(std::filesystem::path("/usr/local/include") / header))
      missing += (missing.empty() ? "" : " ") + package;
  findings.push_back(
      {"build", "packages", missing.empty() ? Health::good : Health::warning,
       missing.empty() ? "all headers under /usr/include" : "not under /usr/include: " + missing,
       missing.empty()
           ? ""
           : "run ./exp setup on Debian; elsewhere load the site's modules (CMake reports what it finds)"});
}

/// Returns the finding about matrix tiles of the CPU. `version` is the worker's answer to that verb.
DoctorFinding tiles_finding(const std::string& version) {
  const nlohmann::json answer = json_or_null<nlohmann::json>(version);
  const nlohmann::json tiles =
      answer.is_object() ? answer.value("tiles", nlohmann::json::object()) : nlohmann::json();
  if (!tiles.is_object())
    return {"run", "matrix tiles", Health::warning, "the worker does not report them", "./exp build"};
  const bool bfloat16 = tiles.value("bfloat16", false), bytes = tiles.value("bytes", false);
  const std::string reason = tiles.value("reason", "");
  if (!reason.empty())
    return {"run", "matrix tiles", Health::warning, "AMX is not used: " + reason,
            "results are the same without them; products in bfloat16 and int8 are slower"};
  if (!bfloat16 && !bytes) return {"run", "matrix tiles", Health::absent, "none: this CPU has no AMX", ""};
  return {"run", "matrix tiles", Health::good,
          std::string("AMX for ") + (bfloat16 && bytes ? "bfloat16 and int8"
                                     : bfloat16        ? "bfloat16"
                                                       : "int8"),
          ""};
}

/// Returns the finding about the processor whose programs this package uses.
DoctorFinding processor_finding(const runner::Programs& programs) {
  const std::string all = listed(runner::packaged_processors(programs));
  try {
    return {"run", "processor", Health::good,
            "programs for " + runner::chosen_processor(programs) + " (this package has " + all + ")", ""};
  } catch (const Error& error) {
    return {"run", "processor", Health::problem, "none of " + all, error.what()};
  }
}

/// Returns the worker's answer to `version`, or null if no worker answers.
nlohmann::json examine_programs(const runner::Programs& programs, const std::string& backend,
                                DoctorFindings& findings) {
  nlohmann::json version;
  if (!runner::packaged_processors(programs).empty()) findings.push_back(processor_finding(programs));
  try {
    const std::filesystem::path worker = runner::worker_program(programs, backend);
    const runner::ProgramOutput answer =
        runner::run_program(worker, {"version"}, "", {.timeout = answer_patience});
    std::string first = answer.errors.substr(0, answer.errors.find('\n'));
    if (first.empty()) first = "ended with " + answer.end.text();
    findings.push_back({"run", "worker", answer.end.success() ? Health::good : Health::problem,
                        answer.end.success() ? worker.string() : worker.string() + ": " + first,
                        answer.end.success() ? "" : "build it on this machine: ./exp build"});
    if (answer.end.success()) findings.push_back(tiles_finding(answer.output));
    if (answer.end.success()) version = json_or_null<nlohmann::json>(answer.output);
  } catch (const Error& error) {
    findings.push_back({"run", "worker", Health::problem, "none for backend " + backend, error.what()});
  }
  const std::filesystem::path plugins = runner::plugin_folder(programs, backend);
  std::error_code unreadable;
  const bool there = std::filesystem::is_directory(plugins, unreadable);
  findings.push_back({"run", "plugins", there ? Health::good : Health::problem, plugins.string(),
                      there ? "" : "the folder is missing; run ./exp build"});
  const std::string nvidia = answer_of("nvidia-smi", {"-L"}),
                    amd = answer_of("rocm-smi", {"--showproductname"});
  findings.push_back({"run", "GPU", nvidia.empty() && amd.empty() ? Health::absent : Health::good,
                      !nvidia.empty() ? nvidia
                      : !amd.empty()  ? amd
                                      : "nvidia-smi and rocm-smi report no GPU",
                      nvidia.empty() && amd.empty() ? "backends openmp and serial need none; on a GPU "
                                                      "machine install its driver (docs/guides/backends.md)"
                                                    : ""});
  return version;
}

/// Returns the finding about MPI. Ranks need both mpirun and a worker that was built with MPI (`version` is
/// its answer).
DoctorFinding mpi_finding(const nlohmann::json& version) {
  DoctorFinding finding = program("cluster", "MPI", "mpirun", {"--version"}, Health::absent, build_with_mpi);
  if (!version.is_object() || !version.value("mpi", std::string()).empty()) return finding;
  finding.found += "; but the worker was built without MPI";
  finding.health = Health::absent;
  finding.advice = build_with_mpi;
  return finding;
}

void examine_cluster(const nlohmann::json& version, DoctorFindings& findings) {
  findings.push_back(mpi_finding(version));
  findings.push_back(program("cluster", "Slurm", "scontrol", {"ping"}, Health::absent,
                             "no Slurm controller answers; on a login node, load the Slurm module"));
  findings.push_back(program("cluster", "ssh", "ssh", {"-V"}, Health::absent,
                             "needed by exp run --launcher ssh (Debian: apt-get install openssh-client)"));
}

/// Returns the nearest parent folder that exists.
std::filesystem::path existing_folder(std::filesystem::path folder) {
  std::error_code unreadable;
  while (!std::filesystem::is_directory(folder, unreadable) && folder.has_parent_path() &&
         folder != folder.parent_path())
    folder = folder.parent_path();
  return folder;
}

void examine_storage(const std::filesystem::path& folder, DoctorFindings& findings) {
  struct statfs status {};
  if (::statfs(folder.c_str(), &status) != 0) {
    findings.push_back({"storage", "database's folder", Health::problem, folder.string() + " cannot be read",
                        "choose a database in another folder with --db"});
    return;
  }
  const std::string kind = file_system_name(static_cast<unsigned long>(status.f_type) & 0xFFFFFFFFu);
  const bool local = store::carries_wal(folder);
  const bool memory = kind == "tmpfs";
  findings.push_back(
      {"storage", "database's folder", memory ? Health::warning : Health::good,
       folder.string() + " on " + kind + (local ? ", write-ahead log" : ", rollback journal"),
       memory  ? "this file system is in memory and is lost at a restart; choose another folder with --db"
       : local ? "local, unless this machine exports it: --launcher needs a folder that all hosts share"
               : "shared by several machines: slower to write, but suitable for --launcher"});
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) == 0) {
    const double free = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize) / giga;
    findings.push_back(
        {"storage", "free space", free < 1.0 ? Health::warning : Health::good,
         document::number_text(free) + " GiB",
         free < 1.0 ? "checkpoints need space; exp gc removes those that are not needed" : ""});
  }
  const bool writable = ::access(folder.c_str(), W_OK) == 0;
  if (!writable)
    findings.push_back({"storage", "right to write", Health::problem, folder.string() + " is not writable",
                        "name a database in a folder of yours with --db"});
}

std::string limit_text(rlim_t limit) {
  return limit == RLIM_INFINITY ? "no limit" : std::to_string(limit);
}

void examine_limits(DoctorFindings& findings) {
  constexpr rlim_t enough_files = 1024;
  rlimit files{}, memory{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  ::getrlimit(RLIMIT_AS, &memory);
  findings.push_back(
      {"limits", "open files", files.rlim_cur < enough_files ? Health::warning : Health::good,
       limit_text(files.rlim_cur),
       files.rlim_cur < enough_files ? "raise it with ulimit -n 4096: needed for many runs at once" : ""});
  const double machine =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE)) / giga;
  const std::optional<world::GroupLimit> granted = world::memory_limit();
  const bool narrower = granted && granted->amount / giga < machine;
  const bool limited = memory.rlim_cur != RLIM_INFINITY;
  findings.push_back(
      {"limits", "memory", limited ? Health::warning : Health::good,
       document::number_text(narrower ? granted->amount / giga : machine) + " GiB" +
           (narrower ? ", which the control group " + granted->group + " grants of the machine's " +
                           document::number_text(machine) + " GiB"
                     : "") +
           (limited ? ", address space limited to " + limit_text(memory.rlim_cur) + " bytes" : ""),
       limited ? "use ulimit -v unlimited: mapped files count as address space too" : ""});
  const world::Cores cores = world::usable_cores();
  const std::optional<world::GroupLimit> time = world::cpu_limit();
  const bool less = time && time->amount < static_cast<double>(cores.numbers.size());
  findings.push_back({"limits", "cores", Health::good,
                      (less ? document::number_text(time->amount) + " CPUs, which the control group " +
                                  time->group + " grants of "
                            : "") +
                          std::to_string(cores.numbers.size()) + " CPUs, " +
                          std::to_string(cores.by_core().size()) +
                          (cores.by_core().size() == 1 ? " core" : " cores"),
                      ""});
}

/// Returns by how many seconds the clock of the folder's file server is behind this machine. Returns nothing
/// if the folder is not writable.
std::optional<double> file_clock_behind(const std::filesystem::path& folder) {
  const std::filesystem::path probe =
      folder /
      (".encore-doctor-" + std::to_string(world::this_process().pid) + std::string(world::aside_suffix));
  std::error_code ignored;
  try {
    const double before = world::now_seconds();
    const world::FileDescriptor file = world::open_file(probe, O_WRONLY | O_CREAT | O_EXCL);
    world::write_all(file.get(), std::as_bytes(std::span("clock", 5)), probe);
    struct stat status {};
    const bool known = ::fstat(file.get(), &status) == 0;
    std::filesystem::remove(probe, ignored);
    if (!known) return std::nullopt;
    return before -
           (static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec));
  } catch (const Error&) {
    std::filesystem::remove(probe, ignored);
    return std::nullopt;
  }
}

void examine_clock(const std::filesystem::path& folder, DoctorFindings& findings) {
  timex state{};
  const int answer = ::adjtimex(&state);
  const bool synchronised = answer >= 0 && answer != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
  findings.push_back({"clock", "synchronised", synchronised ? Health::good : Health::warning,
                      synchronised ? "reported by the kernel" : "not synchronised, as the kernel reports",
                      synchronised
                          ? ""
                          : "run chronyd or systemd-timesyncd (a virtual machine may take its host's time "
                            "without saying so): times in records are those of the machine that wrote them"});
  const std::optional<double> behind = file_clock_behind(folder);
  if (!behind) return;
  constexpr double tolerance = 5.0;
  const bool apart = std::abs(*behind) > tolerance;
  findings.push_back({"clock", "of the folder's file server", apart ? Health::warning : Health::good,
                      apart ? document::number_text(std::abs(*behind)) + " s " +
                                  (*behind > 0 ? "behind" : "ahead of") + " this machine's"
                            : "as this machine's",
                      apart ? "set both by NTP" : ""});
}

}  // namespace

const char* health_name(Health health) {
  switch (health) {
    case Health::good:
      return "ok";
    case Health::absent:
      return "absent";
    case Health::warning:
      return "warning";
    case Health::problem:
      return "problem";
  }
  return "problem";
}

std::string file_system_name(unsigned long magic) {
  // These numbers come from linux/magic.h and the headers of Lustre, GPFS and BeeGFS.
  static const std::map<unsigned long, std::string> names = {
      {0xEF53, "ext4"},          {0x58465342, "XFS"},    {0x9123683E, "Btrfs"}, {0x01021994, "tmpfs"},
      {0x794C7630, "overlayfs"}, {0xF2F52010, "F2FS"},   {0x2FC12FC1, "ZFS"},   {0xCA451A4E, "bcachefs"},
      {0x6969, "NFS"},           {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},  {0x19830326, "BeeGFS"},
      {0x00C36400, "CephFS"},    {0xFF534D42, "CIFS"},   {0xFE534D42, "SMB"},   {0x65735546, "FUSE"},
      {0x01021997, "9p"},        {0x7461636F, "OCFS2"},  {0x01161970, "GFS2"}};
  const auto found = names.find(magic);
  if (found != names.end()) return found->second;
  std::ostringstream text;
  text << "an unknown kind (0x" << std::hex << magic << ")";
  return text.str();
}

Form<DoctorRequest> doctor_form() {
  using R = DoctorRequest;
  return Form<R>("doctor", {"doctor [--json] [options]",
                            "Checks this machine: worker and plugins, compilers, MPI, GPU and Slurm, the "
                            "file system of the database's folder, limits and the clock, and says how to fix "
                            "each problem. Exit code 1: something is missing that every training needs.",
                            {{"exp doctor", "before the first run on a machine"},
                             {"exp doctor --json", "for a program, such as the checks of a site"}}})
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "as CSV")
      .option("backend", &R::backend, "NAME",
              "check the worker of this backend (default: that of this build)")
      .exclude("json", "csv");
}

std::vector<DoctorFinding> examine(const DoctorRequest& request, const App& app) {
  DoctorFindings findings;
  const runner::Programs programs = runner::installed_programs();
  const nlohmann::json version = examine_programs(programs, backend_of(request.backend, programs), findings);
  examine_build(findings);
  examine_cluster(version, findings);
  const std::filesystem::path folder = existing_folder(std::filesystem::absolute(app.database).parent_path());
  examine_storage(folder, findings);
  examine_limits(findings);
  examine_clock(folder, findings);
  return findings;
}

}  // namespace encore::app
