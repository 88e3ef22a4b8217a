// bundle show: what a bundle holds and what it does not.
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "bundle/evidence.hpp"
#include "cli/access.hpp"
#include "cli/bundle_text.hpp"
#include "cli/bundle_verb.hpp"
#include "report/wording.hpp"
#include "store/selection.hpp"

namespace encore {

namespace {

CommandLine make_show_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "bundle show",
      {"bundle show FILE [options]",
       "Unpacks the bundle into a temporary folder, copies its rows into a database of this program, derives "
       "again what follows from other parts, and prints its values in three classes: recomputed now, proved "
       "by training again, claimed by the sender. Nothing of it is executed. Exit code 2: the file is "
       "damaged, contradicts itself, or is no bundle.",
       {{"exp bundle show quickstart.tar.zst", "runs, data, code and plugins"},
        {"exp bundle show quickstart.tar.zst --files", "and every file"},
        {"exp bundle show quickstart.tar.zst --claims", "every value that nothing in it proves"},
        {"exp bundle show quickstart.tar.zst --report report.html", "a report of the checked rows"},
        {"exp bundle show quickstart.tar.zst --diff", "what was changed in the recorded commit"}}});
  line.options()("claims", po::bool_switch(), "print every value that the sender claims");
  line.options()("report", po::value<std::string>()->value_name("FILE"),
                 "write a report of the checked rows, as HTML; the one in the bundle is a claim");
  line.options()("files", po::bool_switch(), "list every file");
  line.options()("diff", po::bool_switch(),
                 "print what was changed in the recorded commits, and nothing else");
  line.options()("plugin-path", po::value<std::vector<std::string>>()->value_name("DIR"),
                 "a folder with plugins whose types the runs have (may be repeated); none of them is loaded");
  line.options()("json", po::bool_switch(), "as JSON");
  line.positional("file");
  return line;
}

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

int show_bundle(const Arguments& arguments) {
  CommandLine line = make_show_line();
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
