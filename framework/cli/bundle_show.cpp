// SPDX-License-Identifier: BSD-3-Clause
// exp bundle show: prints what a bundle holds and what it lacks, after it is unpacked and checked
// (bundle_text.hpp). It is linked into the program exp-report, which exp becomes for this verb
// (report_main.cpp). A bundle may come from a stranger: nothing in it is executed, and its text is printed
// through a filter. JSON members keep their names.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/bundle_requests.hpp"
#include "bundle/evidence.hpp"
#include "cli/bundle_text.hpp"
#include "cli/components.hpp"
#include "cli/table.hpp"
#include "document/escape.hpp"
#include "report/wording.hpp"
#include "store/selection.hpp"

namespace encore::cli {

namespace {

void print_diffs(Console& console, const AllCode& all) {
  for (const record::SourceVersion& source : all.sources)
    console.out << "# Encore, "
                << printable(source.commit.empty() ? "folder " + source.archive : "commit " + source.commit)
                << '\n'
                << printable_lines(source.diff);
  for (const store::CodeVersion& code : all.repositories)
    console.out << "# repository of the experiment, commit " << printable(code.commit) << '\n'
                << printable_lines(code.diff);
}

/// Prints every claimed value; of a column with many values only the first ones.
void print_claims(Console& console, store::Store& store) {
  constexpr std::size_t most = 20;
  Table table({{"TABLE"}, {"COLUMN"}, {"VALUE"}});
  for (const bundle::Claim& claim : bundle::claims_of(store, most)) {
    for (const std::string& value : claim.values) table.add({claim.table, claim.column, value});
    if (claim.count > claim.values.size())
      table.add({claim.table, claim.column,
                 "and " + std::to_string(claim.count - claim.values.size()) + " more; --json has all"});
  }
  table.print(console.out, console.terminal, 2);
}

void print_files(Console& console, const archive::BundleIndex& index) {
  Table files({{"FILE"}, {"SIZE", Align::right}, {"SHA-256"}});
  for (const archive::BundleFile& file : index.files)
    files.add({file.path, bytes_text(file.bytes), file.sha256.substr(0, 16)});
  files.print(console.out, console.terminal, 2);
}

/// Writes every claimed value, or without `claims` every file with its size and SHA-256.
void print_bundle_csv(Console& console, store::Store& store, const archive::BundleIndex& index, bool claims) {
  if (claims) {
    console.out << document::csv_record({"table", "column", "value"});
    for (const bundle::Claim& claim : bundle::claims_of(store, 0))
      for (const std::string& value : claim.values)
        console.out << document::csv_record({claim.table, claim.column, value});
    return;
  }
  console.out << document::csv_record({"file", "bytes", "sha256"});
  for (const archive::BundleFile& file : index.files)
    console.out << document::csv_record({file.path, std::to_string(file.bytes), file.sha256});
}

nlohmann::ordered_json answer_of(const OpenedBundle& bundle, store::Store& store,
                                 const std::vector<store::RunRow>& runs, bool with_files) {
  nlohmann::ordered_json answer = bundle_json(bundle, store, runs);
  if (with_files)
    for (const archive::BundleFile& file : bundle.index().files)
      answer["files"].push_back({{"file", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  return answer;
}

int bundle_show(const app::BundleShowRequest& request, app::App& app, Console& console) {
  const OpenedBundle bundle(app.events, request.file, request.plugin_path);
  store::Store store(bundle.unpacked().database(), store::OpenMode::read);
  const std::vector<store::RunRow> runs = store::select_runs(store, {.sight = store::Sight::any}).runs;
  if (!request.report.empty())
    write_bundle_report(console, store, request.report, false);
  else if (request.diff)
    print_diffs(console, all_code(store, runs));
  else if (request.json)
    console.print(answer_of(bundle, store, runs, request.files));
  else if (request.csv)
    print_bundle_csv(console, store, bundle.index(), request.claims);
  else if (request.claims)
    print_claims(console, store);
  else
    print_bundle(console, bundle, store, runs, false);
  if (request.files && !request.json && !request.csv) print_files(console, bundle.index());
  return exit_done;
}

}  // namespace

Verb bundle_show_of_component() {
  return make_verb("bundle show", "", app::bundle_show_form, bundle_show);
}

}  // namespace encore::cli
