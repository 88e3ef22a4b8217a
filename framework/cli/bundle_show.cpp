// bundle show: what a bundle holds and what it does not.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/bundle_text.hpp"
#include "cli/bundle_verb.hpp"
#include "report/wording.hpp"
#include "store/selection.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

CommandLine make_show_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "bundle show",
      {"bundle show FILE [options]",
       "Unpacks the bundle into a temporary folder, checks that its parts agree, and prints what it holds "
       "and what is missing. Nothing of it is executed. Exit code 2: the file is damaged, or no bundle.",
       {{"exp bundle show quickstart.tar.zst", "runs, data, code and plugins"},
        {"exp bundle show quickstart.tar.zst --files", "and every file"},
        {"exp bundle show quickstart.tar.zst --diff", "what was changed in the recorded commit"}}});
  line.options()("files", po::bool_switch(), "list every file");
  line.options()("diff", po::bool_switch(),
                 "print what was changed in the recorded commits, and nothing else");
  line.options()("json", po::bool_switch(), "as JSON");
  line.positional("file");
  return line;
}

/// A content that runs read, with all that reads it.
struct ShownData {
  std::string sha256, path;
  std::set<std::string> roles;
  bool packed = false;
};

std::vector<ShownData> data_of(Store& store, const std::vector<RunRow>& runs, const BundleIndex& index) {
  std::vector<ShownData> all;
  for (const RunRow& run : runs)
    for (const DatasetRow& row : store.read_datasets(run.number)) {
      auto found = std::ranges::find(all, row.sha256, &ShownData::sha256);
      if (found == all.end()) {
        const std::string folder = bundle_data + row.sha256 + "/";
        const bool packed = std::ranges::any_of(
            index.files, [&](const BundleFile& file) { return file.path.starts_with(folder); });
        all.push_back({row.sha256, row.path, {}, packed});
        found = std::prev(all.end());
      }
      found->roles.insert(row.role);
    }
  return all;
}

/// Each plugin once.
std::vector<PluginRow> all_plugins(Store& store, const std::vector<RunRow>& runs) {
  std::map<std::pair<std::string, std::string>, PluginRow> plugins;
  for (const RunRow& run : runs)
    for (const PluginRow& plugin : plugins_of(store, run)) plugins[{plugin.name, plugin.sha256}] = plugin;
  std::vector<PluginRow> list;
  for (const auto& [key, plugin] : plugins) list.push_back(plugin);
  return list;
}

/// Every state that was recorded, each once: of Encore, and of the repositories of experiment files.
struct AllCode {
  std::vector<SourceVersion> sources;
  std::vector<CodeVersion> repositories;
};

AllCode all_code(Store& store, const std::vector<RunRow>& runs) {
  AllCode all;
  for (const RunRow& run : runs)
    for (const AttemptRow& attempt : store.read_attempts(run.number)) {
      if (attempt.source && std::ranges::find(all.sources, *attempt.source) == all.sources.end())
        all.sources.push_back(*attempt.source);
      if (std::ranges::none_of(all.repositories, [&](const CodeVersion& code) {
            return code.commit == attempt.commit_hash && code.diff == attempt.diff;
          }))
        all.repositories.push_back({attempt.commit_hash, attempt.diff});
    }
  return all;
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

Json show_json(const std::string& archive, const OpenedBundle& bundle, Store& store,
               const std::vector<RunRow>& runs) {
  const BundleIndex& index = bundle.unpacked().index();
  Json rows = Json::array(), data = Json::array(), plugins = Json::array(), code = Json::array(),
       sources = Json::array(), files = Json::array();
  for (const RunRow& run : runs)
    rows.push_back({{"id", run.id},
                    {"name", run.name},
                    {"state", name_of(run.state)},
                    {"backend", run.backend},
                    {"question", run.question},
                    {"digests", store.read_digests(run.number).size()},
                    {"result", run.result}});
  for (const ShownData& one : data_of(store, runs, index))
    data.push_back(
        {{"sha256", one.sha256}, {"path", one.path}, {"roles", one.roles}, {"packed", one.packed}});
  for (const PluginRow& plugin : all_plugins(store, runs))
    plugins.push_back({{"name", plugin.name}, {"version", plugin.version}, {"sha256", plugin.sha256}});
  const AllCode all = all_code(store, runs);
  for (const SourceVersion& one : all.sources)
    sources.push_back({{"commit", one.commit},
                       {"archive", one.archive},
                       {"sha256", one.sha256},
                       {"diff_bytes", one.diff.size()}});
  for (const CodeVersion& one : all.repositories)
    code.push_back({{"commit", one.commit}, {"diff_bytes", one.diff.size()}});
  for (const BundleFile& file : index.files)
    files.push_back({{"path", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  return {{"file", archive},        {"subject", index.subject},
          {"encore", index.encore}, {"licence", index.licence},
          {"author", index.author}, {"bytes", index.bytes()},
          {"runs", rows},           {"data", data},
          {"source", sources},      {"code", code},
          {"plugins", plugins},     {"unproved", bundle.unproved()},
          {"files", files}};
}

void print_runs(Store& store, const std::vector<RunRow>& runs) {
  Table table({{"RUN"}, {"ID"}, {"STATE"}, {"BACKEND"}, {"DIGESTS", Align::right}});
  for (const RunRow& run : runs)
    table.add({run.name, run.id, state_cell(run.state), run.backend,
               std::to_string(store.read_digests(run.number).size())});
  table.print(std::cout, terminal_of(stdout), 2);
}

void print_shown(const std::string& archive, const OpenedBundle& bundle, Store& store,
                 const std::vector<RunRow>& runs) {
  const BundleIndex& index = bundle.unpacked().index();
  print_bundle(std::cout, archive, bundle);
  std::cout << "  made by  Encore " << printable(index.encore) << "; licence: " << printable(index.licence)
            << (index.author.empty() ? "" : "; author: " + printable(index.author)) << '\n';
  print_code(std::cout, store, runs);
  print_runs(store, runs);
  Table data({{"DATA"}, {"SHA-256"}, {"WHERE"}, {"PATH"}});
  for (const ShownData& one : data_of(store, runs, index)) {
    std::vector<std::string> roles(one.roles.begin(), one.roles.end());
    data.add({listed(roles), one.sha256.substr(0, 16), one.packed ? "packed" : "not in it",
              setting_text(one.path)});
  }
  data.print(std::cout, terminal_of(stdout), 2);
  Table plugins({{"PLUGIN"}, {"VERSION"}, {"SHA-256"}});
  for (const PluginRow& plugin : all_plugins(store, runs))
    plugins.add({plugin.name, plugin.version, plugin.sha256.substr(0, 16)});
  plugins.print(std::cout, terminal_of(stdout), 2);
}

}  // namespace

int show_bundle(const Arguments& arguments) {
  CommandLine line = make_show_line();
  if (!line.parse(arguments)) return exit_done;
  const std::string archive = line.required("file", "FILE" + std::string(bundle_ending));
  const OpenedBundle bundle(archive);
  const BundleIndex& index = bundle.unpacked().index();
  Store store(bundle.unpacked().database(), OpenMode::read);
  const std::vector<RunRow> runs = select_runs(store, {.sight = Sight::any}).runs;
  if (line.flag("diff")) {
    print_diffs(all_code(store, runs));
    return exit_done;
  }
  if (line.flag("json")) {
    std::cout << show_json(archive, bundle, store, runs).dump(2) << '\n';
    return exit_done;
  }
  print_shown(archive, bundle, store, runs);
  if (!line.flag("files")) return exit_done;
  Table files({{"FILE"}, {"SIZE", Align::right}, {"SHA-256"}});
  for (const BundleFile& file : index.files)
    files.add({file.path, bytes_text(file.bytes), file.sha256.substr(0, 16)});
  files.print(std::cout, terminal_of(stdout), 2);
  return exit_done;
}

}  // namespace encore
