// bundle show: what a bundle holds and what it does not.
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "bundle/evidence.hpp"
#include "cli/access.hpp"
#include "cli/bundle_text.hpp"
#include "cli/components.hpp"
#include "report/wording.hpp"
#include "store/selection.hpp"

namespace encore {

namespace {

void print_diffs(const AllCode& all) {
  for (const SourceVersion& source : all.sources)
    std::cout << "# Encore, "
              << printable(source.commit.empty() ? "folder " + source.archive : "commit " + source.commit)
              << '\n'
              << printable_lines(source.diff);
  for (const CodeVersion& code : all.repositories)
    std::cout << "# repository of the experiment, commit " << printable(code.commit) << '\n'
              << printable_lines(code.diff);
}

/// Every value that is claimed; of a column with many the first few.
void print_claims(Store& store) {
  constexpr std::size_t most = 20;
  Table table({{"TABLE"}, {"COLUMN"}, {"VALUE"}});
  for (const Claim& claim : claims_of(store, most)) {
    for (const std::string& value : claim.values) table.add({claim.table, claim.column, value});
    if (claim.count > claim.values.size())
      table.add({claim.table, claim.column,
                 "and " + std::to_string(claim.count - claim.values.size()) + " more; --json has all"});
  }
  table.print(std::cout, terminal_of(stdout), 2);
}

void print_files(const BundleIndex& index) {
  Table files({{"FILE"}, {"SIZE", Align::right}, {"SHA-256"}});
  for (const BundleFile& file : index.files)
    files.add({file.path, bytes_text(file.bytes), file.sha256.substr(0, 16)});
  files.print(std::cout, terminal_of(stdout), 2);
}

}  // namespace

int bundle_show_in_component(const Arguments& arguments) {
  CommandLine line = make_bundle_show_line();
  if (!line.parse(arguments)) return exit_done;
  const OpenedBundle bundle(line.required("file", "FILE" + std::string(bundle_ending)),
                            line.texts("plugin-path"));
  Store store(bundle.unpacked().database(), OpenMode::read);
  const std::vector<RunRow> runs = select_runs(store, {.sight = Sight::any}).runs;
  if (line.has("report"))
    write_bundle_report(store, line.text("report"), false);
  else if (line.flag("diff"))
    print_diffs(all_code(store, runs));
  else if (line.flag("json"))
    std::cout << bundle_json(bundle, store, runs).dump(2) << '\n';
  else if (line.flag("claims"))
    print_claims(store);
  else
    print_bundle(std::cout, bundle, store, runs, false);
  if (line.flag("files")) print_files(bundle.index());
  return exit_done;
}

}  // namespace encore
