// db check: whether the database and the files it speaks of are sound.
#include <algorithm>
#include <iostream>
#include <map>

#include <nlohmann/json.hpp>

#include "analysis/foreign_values.hpp"
#include "base/json_text.hpp"
#include "base/sha256.hpp"
#include "cli/access.hpp"
#include "cli/db_verb.hpp"
#include "cli/terminal.hpp"
#include "record/run_paths.hpp"
#include "report/wording.hpp"
#include "store/newest.hpp"
#include "store/record_gaps.hpp"

namespace encore {

namespace {

/// One sentence each.
struct Findings {
  std::vector<std::string> faults;
  std::vector<std::string> notes;  ///< what is damaged on disk and yet costs nothing
};

/// SHA-256 by path of those on disk. Of several attempts that came by one step the last has written the file.
std::map<std::string, std::string> checkpoints_of(Store& store, std::int64_t run) {
  std::map<std::string, std::string> last;
  std::map<std::string, int> attempt;
  for (const CheckpointRow& checkpoint : store.read_checkpoints(run)) {
    if (!checkpoint.on_disk || checkpoint.attempt < attempt[checkpoint.path]) continue;
    attempt[checkpoint.path] = checkpoint.attempt;
    last[checkpoint.path] = checkpoint.sha256;
  }
  return last;
}

/// What a complete run is scored with; nothing removes it but somebody's hand. A bundle need not bring it, so
/// that of a run from elsewhere is not missing.
void check_best(Store& store, const RunRow& run, std::vector<std::string>& faults) {
  if (run.origin || run.state != RunState::completed || !run.result.is_object()) return;
  const std::int64_t best = run.result.value("best_step", std::int64_t{-1});
  const std::vector<CheckpointRow> checkpoints = store.read_checkpoints(run.number);
  const auto found = std::ranges::find(checkpoints, best, &CheckpointRow::step);
  if (found != checkpoints.end() && !found->on_disk)
    faults.push_back("run " + run.name + ": its best checkpoint, " + found->path + ", is gone");
}

void check_files(Store& store, const RunRow& run, const std::filesystem::path& folder,
                 std::vector<std::string>& faults) {
  for (const auto& [path, sha256] : checkpoints_of(store, run.number))
    if (sha256_of_file(path_below(folder, path)) != sha256)
      faults.push_back("run " + run.name + ": " + path + " is not the file that was recorded");
  for (const ArtifactRow& artifact : store.read_artifacts(run.number))
    if (const auto file = path_below(folder, artifact.path);
        std::filesystem::exists(file) && sha256_of_file(file) != artifact.sha256)
      faults.push_back("run " + run.name + ": " + artifact.path + " is not the file that was recorded");
}

/// Damage of a spool is a fault where it costs records of a complete run.
void check_spools(Store& store, const RunRow& run, Findings& findings) {
  for (const RecordGap& gap : find_record_gaps(store, run)) {
    const bool fault = gap.lost && run.state == RunState::completed;
    const std::string rest = fault      ? ""
                             : gap.lost ? "; the run is not complete, and may record it yet"
                                        : "; nothing is missing in the database";
    (fault ? findings.faults : findings.notes).push_back("run " + run.name + ": " + gap.text + rest);
  }
}

void check_run(Store& store, const RunRow& run, bool hash, Findings& findings) {
  const std::filesystem::path folder = store.run_folder(run.id);
  if (run.attempts > 0 && !std::filesystem::exists(folder)) {
    findings.faults.push_back("run " + run.name + ": its folder " + folder.string() + " is gone");
    return;
  }
  check_spools(store, run, findings);
  if (const auto metric = wrong_newest(store.database(), run.number))
    findings.faults.push_back("run " + run.name + ": the newest value of " + *metric +
                              ", as lists show it, is not what its points say");
  check_best(store, run, findings.faults);
  if (hash) check_files(store, run, folder, findings.faults);
}

/// The folders of all runs; of a copied database there are none.
void check_runs(Store& store, bool hash, Findings& findings) {
  const std::vector<RunRow> runs = store.list_runs({.sight = Sight::any});
  const std::filesystem::path all = store.runs_folder();
  const auto trained = std::ranges::count_if(runs, [](const RunRow& run) { return run.attempts > 0; });
  if (trained > 0 && !std::filesystem::exists(all)) {
    findings.faults.push_back(all.string() + ", the folder with the files of " +
                              counted(static_cast<std::size_t>(trained), "run") +
                              ", is not there; a copy of a database needs a copy of that folder beside "
                              "it, under this name");
    return;
  }
  for (const RunRow& run : runs) {
    try {
      reading_values_of(store, [&] { check_run(store, run, hash, findings); });
    } catch (const Error& error) {
      findings.faults.push_back("run " + run.name + ": " + error.what());
    }
  }
}

/// What cannot be read is left out by everything that shows it.
void check_json(Store& store, std::vector<std::string>& faults) {
  constexpr std::pair<const char*, const char*> columns[] = {
      {"host", "description"},     {"build", "description"},      {"run", "result"},
      {"attempt", "environment"},  {"attempt", "progress"},       {"attempt", "started_event"},
      {"verification", "details"}, {"bench", "settings"},         {"bench", "noise"},
      {"bench_case", "settings"},  {"bench_case", "environment"}, {"bench_case", "facts"}};
  for (const auto& [table, column] : columns) {
    Statement& rows = store.database().cached("SELECT number, " + std::string(column) + " FROM " + table +
                                              " WHERE " + column + " IS NOT NULL");
    while (rows.step()) {
      try {
        parse_json(rows.text(1));
      } catch (const JsonError& error) {
        faults.push_back(table + (" " + std::to_string(rows.integer(0))) + ": its " + column +
                         " cannot be read: " + error.what());
      }
    }
    rows.reset();
  }
}

Findings look_through(Store& store, bool hash) {
  Findings findings;
  std::vector<std::string>& faults = findings.faults;
  Statement& integrity = store.database().cached("PRAGMA integrity_check");
  while (integrity.step())
    if (integrity.text(0) != "ok") faults.push_back("the file is damaged: " + integrity.text(0));
  integrity.reset();
  Statement& foreign = store.database().cached("PRAGMA foreign_key_check");
  while (foreign.step())
    faults.push_back("a row of table " + foreign.text(0) + " refers to one of " + foreign.text(2) +
                     " that is gone");
  foreign.reset();
  check_json(store, faults);
  check_runs(store, hash, findings);
  return findings;
}

}  // namespace

int db_check(const Arguments& arguments) {
  CommandLine line("db check",
                   {"db check [options]",
                    "Looks for damage in the database, for folders of runs that are gone, and whether "
                    "checkpoints and predictions still have the content that was recorded.",
                    {{"exp db check", "look through the database and the folders of its runs"}}});
  line.options()("quick", boost::program_options::bool_switch(),
                 "without reading checkpoints and predictions");
  if (!line.parse(arguments)) return exit_done;

  Store store(line.database(), OpenMode::read);
  const Findings findings = look_through(store, !line.flag("quick"));
  for (const std::string& fault : findings.faults) std::cerr << "exp: " << printable(fault) << '\n';
  for (const std::string& note : findings.notes) std::cout << "note: " << printable(note) << '\n';
  if (!findings.faults.empty()) return exit_failed;
  std::cout << store.path().string()
            << " is sound: " << counted(store.list_runs({.sight = Sight::any}).size(), "run") << '\n';
  return exit_done;
}

}  // namespace encore
