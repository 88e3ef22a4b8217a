// SPDX-License-Identifier: BSD-3-Clause
// exp db merge: copies the runs of other databases or bundles, with their folders, into the user's database
// (store/database_merge.hpp, which decides about every row). It is linked into the program exp-report, which
// exp becomes for this verb (report_main.cpp). The sources are only read. Scripts read the JSON members and
// exit code 1 (something was left out), so both must stay.
#include <fcntl.h>

#include <nlohmann/json.hpp>

#include "app/bundle_requests.hpp"
#include "archive/bundle_index.hpp"
#include "base/sha256.hpp"
#include "cli/bundle_text.hpp"
#include "cli/components.hpp"
#include "cli/table.hpp"
#include "document/escape.hpp"
#include "store/database_merge.hpp"
#include "world/file_descriptor.hpp"
#include "world/lease_clock.hpp"

namespace encore::cli {

namespace {

namespace fs = std::filesystem;

bool is_bundle(const fs::path& file) {
  return file.string().ends_with(app::bundle_ending);
}

nlohmann::ordered_json json_of(const std::string& file, const store::DatabaseMerge& merge) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const store::MergedRun& run : merge.runs)
    runs.push_back({{"id", run.id},
                    {"name", run.name},
                    {"outcome", store::name_of(run.outcome)},
                    {"conflict", run.conflict},
                    {"remark", run.remark}});
  nlohmann::ordered_json searches = nlohmann::ordered_json::array();
  for (const store::MergedSearch& search : merge.searches)
    searches.push_back(
        {{"name", search.name}, {"outcome", store::name_of(search.outcome)}, {"conflict", search.conflict}});
  return {{"database", file}, {"benches", merge.benches}, {"searches", searches}, {"runs", runs}};
}

/// Prints the changed runs; unchanged runs have no line.
void print_merge(Console& console, const store::DatabaseMerge& merge) {
  Table table({{"RUN"}, {"ID"}, {"WHAT"}, {"REMARK"}});
  for (const store::MergedRun& run : merge.runs)
    if (run.outcome != store::MergeOutcome::same || !run.remark.empty())
      table.add({run.name, run.id, store::name_of(run.outcome),
                 run.conflict ? "conflict: " + run.remark : run.remark});
  if (!table.empty()) table.print(console.out, console.terminal);
  for (const store::MergedSearch& search : merge.searches)
    if (search.outcome != store::MergeOutcome::same || search.conflict)
      console.out << "search " << search.name << ": " << store::name_of(search.outcome)
                  << (search.conflict
                          ? ", conflict: both have continued; the one with more decisions is kept\n"
                          : "\n");
}

/// Writes every run, unchanged runs included.
void print_merge_csv(std::ostream& out, const std::string& file, const store::DatabaseMerge& merge) {
  for (const store::MergedRun& run : merge.runs)
    out << document::csv_record(
        {file, run.name, run.id, store::name_of(run.outcome), run.conflict ? "yes" : "no", run.remark});
}

void print_sums(Console& console, const std::string& file, const store::DatabaseMerge& merge, bool dry_run) {
  const auto count = [&](store::MergeOutcome outcome) { return std::to_string(merge.count(outcome)); };
  console.out << file << ": " << merge.runs.size() << (merge.runs.size() == 1 ? " run, " : " runs, ")
              << count(store::MergeOutcome::added) << " added, " << count(store::MergeOutcome::updated)
              << " updated, " << count(store::MergeOutcome::same) << " the same, "
              << count(store::MergeOutcome::left_out) << " left out";
  if (merge.benches > 0) console.out << "; measurements added: " << merge.benches;
  if (merge.conflicts() > 0) console.out << "; conflicts: " << merge.conflicts();
  console.out << (dry_run ? " (dry run: nothing was written)\n" : "\n");
}

/// Opens a database, or a bundle, which is first unpacked into a temporary folder and checked.
store::DatabaseMerge merge(const app::App& app, store::Store& store, const fs::path& file, bool dry_run) {
  std::optional<OpenedBundle> bundle;
  fs::path database = file;
  store::OriginRow origin{
      .kind = "merge", .name = file.filename().string(), .sha256 = "", .time = world::now_seconds()};
  if (is_bundle(file)) {
    bundle.emplace(app.events, file.string());
    database = bundle->unpacked().database();
    origin.kind = "bundle";
    origin.sha256 = sha256_of_file(file);
  } else if (fs::exists(file.parent_path() / archive::bundle_metadata)) {  // unpacked by hand
    origin.kind = "bundle";
  }
  const app::ProgressEnd end{app.events};
  return store::merge_database(
      store, database,
      {.dry_run = dry_run, .origin = origin, .progress = [&](std::size_t done, std::size_t all) {
         app.events.progressed("merged", done, all, "runs");
       }});
}

int db_merge(const app::DbMergeRequest& request, app::App& app, Console& console) {
  for (const std::string& file : request.database) {  // before a database is made here
    if (is_bundle(file))
      world::open_file(file, O_RDONLY);
    else
      store::open_encore_database(file, store::OpenMode::read);
  }
  store::Store store(app.database, request.dry_run ? store::OpenMode::write : store::OpenMode::create);
  bool whole = true;
  nlohmann::ordered_json answers = nlohmann::ordered_json::array();
  if (request.csv)
    console.out << document::csv_record({"database", "run", "id", "outcome", "conflict", "remark"});
  for (const std::string& file : request.database) {
    const store::DatabaseMerge merged = merge(app, store, file, request.dry_run);
    whole = whole && merged.count(store::MergeOutcome::left_out) == 0;
    if (request.json) {
      answers.push_back(json_of(file, merged));
      continue;
    }
    if (request.csv) {
      print_merge_csv(console.out, file, merged);
      continue;
    }
    print_merge(console, merged);
    print_sums(console, file, merged, request.dry_run);
  }
  if (request.json) console.print({{"dry_run", request.dry_run}, {"databases", answers}});
  return whole ? exit_done : exit_failed;
}

}  // namespace

Verb db_merge_of_component() {
  return make_verb("db merge", "", app::db_merge_form, db_merge);
}

}  // namespace encore::cli
