// SPDX-License-Identifier: BSD-3-Clause
// Opens bundles (archives of runs that another person has made) for bundle show, verify and db merge, and
// prints their contents with the evidence of each value. Values of a bundle are untrusted: Table makes the
// text of its cells harmless, and every other value must pass through printable(). Programs read the JSON:
// members may be added, none renamed. Read next: bundle_text.hpp.
#include "cli/bundle_text.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "analysis/comparison.hpp"
#include "base/shell_word.hpp"
#include "bundle/evidence.hpp"
#include "cli/report_formats.hpp"
#include "cli/run_list.hpp"
#include "cli/table.hpp"
#include "document/quantity.hpp"
#include "record/source_record.hpp"
#include "report/report.hpp"
#include "report/wording.hpp"
#include "runner/programs.hpp"
#include "world/atomic_file.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Digits of a SHA-256 in a table.
constexpr std::size_t shown_digits = 16;

/// A file that runs read, by its content, with everything that reads it.
struct ShownData {
  std::string sha256, path;
  std::set<std::string> roles;
  bool packed = false;
};

std::vector<ShownData> data_of(store::Store& store, const std::vector<store::RunRow>& runs,
                               const archive::BundleIndex& index) {
  std::vector<ShownData> all;
  for (const store::RunRow& run : runs)
    for (const store::DatasetRow& row : store.read_datasets(run.number)) {
      auto found = std::ranges::find(all, row.sha256, &ShownData::sha256);
      if (found == all.end()) {
        const std::string folder = archive::bundle_data + row.sha256 + "/";
        const bool packed = std::ranges::any_of(index.files, [&](const archive::BundleFile& file) {
          return file.path.starts_with(folder) || file.sha256 == row.sha256;
        });
        all.push_back({row.sha256, row.path, {}, packed});
        found = std::prev(all.end());
      }
      found->roles.insert(row.role);
    }
  return all;
}

/// Returns the plugins of all runs, each once.
std::vector<store::PluginRow> all_plugins(store::Store& store, const std::vector<store::RunRow>& runs) {
  std::map<std::pair<std::string, std::string>, store::PluginRow> plugins;
  for (const store::RunRow& run : runs)
    for (const store::PluginRow& plugin : plugins_of(store, run))
      plugins[{plugin.name, plugin.sha256}] = plugin;
  std::vector<store::PluginRow> list;
  for (const auto& [key, plugin] : plugins) list.push_back(plugin);
  return list;
}

/// Returns the folders in which the specifications say that plugins were searched. They are only printed,
/// never opened.
std::set<std::string> plugin_folders_of(store::Store& store, const std::vector<store::RunRow>& runs) {
  std::set<std::string> folders;
  for (const store::RunRow& run : runs)
    if (run.attempts > 0)
      for (const std::string& folder : record::Specification::load(store.run_folder(run.id)).plugin_folders)
        folders.insert(folder);
  return folders;
}

/// Returns for each run the settings by which the runs differ: "model.layer.attention.type = performer". For
/// a single run it returns the types of its layers: "self_attention, feed_forward".
std::map<std::int64_t, std::string> telling_settings(store::Store& store,
                                                     const std::vector<store::RunRow>& runs) {
  std::map<std::int64_t, std::string> texts;
  const auto add = [&](std::int64_t run, const std::string& text) {
    texts[run] += (texts[run].empty() ? "" : ", ") + text;
  };
  if (runs.size() == 1) {
    for (const store::ParamRow& row : store.read_params(runs.front().number))
      if (row.key.starts_with("model.layer.") && row.key.ends_with(".type"))
        add(runs.front().number, config::setting_text(row.value));
    return texts;
  }
  for (const app::ListColumn& column : app::varied_columns(store, runs))
    for (const auto& [run, value] : column.values)
      if (!value.is_null() && column.name != "seed")
        add(run, column.name + " = " + config::setting_text(value));
  return texts;
}

std::string changes_text(const std::string& diff) {
  return diff.empty()
             ? ""
             : " with changes in " +
                   counted(static_cast<std::size_t>(std::ranges::count(diff, '\n')), "line") + " of a diff";
}

/// Compares the source of the runs with that of this program.
std::string own_source_text(const record::SourceVersion& source) {
  const auto own = record::read_source_record(runner::installed_programs().folder.parent_path());
  if (!own) return "";
  if (own->source == source) return ", as this program";
  if (own->source.commit == source.commit && !source.commit.empty())
    return ", as this program except for changes";
  return "; this program is from " + record::source_text(own->source);
}

/// Prints a line for each different text, with its number of runs if there are several lines.
void print_states(std::ostream& out, const char* title, const std::map<std::string, std::size_t>& states) {
  for (const auto& [state, count] : states)
    out << "  " << title << printable(state) << (states.size() > 1 ? " (" + counted(count, "run") + ")" : "")
        << '\n';
}

void print_code(std::ostream& out, store::Store& store, const std::vector<store::RunRow>& runs) {
  std::map<std::string, std::size_t> sources, repositories, machines;
  for (const store::RunRow& run : runs) {
    const auto attempts = store.read_attempts(run.number);
    if (attempts.empty()) continue;
    const store::AttemptRow& last = attempts.back();
    const record::SourceVersion source = last.source.value_or(record::SourceVersion{});
    ++sources[!last.source            ? "the source of Encore was not recorded"
              : source.commit.empty() ? "Encore from folder " + source.archive + ", SHA-256 " +
                                            source.sha256 + own_source_text(source)
                                      : "Encore at commit " + source.commit + changes_text(source.diff) +
                                            own_source_text(source)];
    ++repositories[last.commit_hash.empty() ? "the experiment file is in no repository"
                                            : "the experiment's repository at commit " + last.commit_hash +
                                                  changes_text(last.diff)];
    ++machines["on " + last.holder.host + " from " + report::utc_text(attempts.front().started) +
               (last.finished ? " to " + report::utc_text(*last.finished) : "")];
  }
  print_states(out, "source   ", sources);
  print_states(out, "code     ", repositories);
  print_states(out, "trained  ", machines);
}

void print_recomputed(Console& console, const OpenedBundle& bundle, const std::vector<store::RunRow>& runs) {
  std::ostream& out = console.out;
  out << "\nrecomputed now: each of these follows from other parts of the bundle\n";
  Table table({{"RUN"}, {"QUESTION"}, {"GROUP"}});
  const auto& claimed = bundle.checked().claimed_questions;
  for (const store::RunRow& run : runs) {
    const bool is_recomputed = run.attempts > 0 && !claimed.contains(run.id);
    table.add({run.id, is_recomputed ? run.question.substr(0, shown_digits) : "claimed",
               is_recomputed ? run.group.substr(0, shown_digits) : "claimed"});
  }
  table.print(out, console.terminal, 2);
  for (const store::RunRow& run : runs)
    if (const auto why = claimed.find(run.id); why != claimed.end())
      out << "  the question of " << run.id << " is a claim: " << printable(why->second) << '\n';
}

void print_trained(Console& console, const OpenedBundle& bundle, store::Store& store,
                   const std::vector<store::RunRow>& runs, bool is_verified) {
  std::ostream& out = console.out;
  out << "\nproved by training again: "
      << (is_verified ? "see below" : command_name() + ' ' + shell_command({"verify", bundle.archive()}))
      << '\n';
  const std::map<std::int64_t, std::string> settings = telling_settings(store, runs);
  const Metric metric = store::leading_metric(store, runs);
  Table table({{"RUN"},
               {"BACKEND"},
               {"SEED", Align::right},
               {"STATE"},
               {"DIGESTS", Align::right},
               {heading_text(metric.name), Align::right},
               {runs.size() == 1 ? "LAYERS" : "SETTINGS"}});
  for (const store::RunRow& run : runs) {
    const auto own = settings.find(run.number);
    const std::optional<double> value = store::judged_measure(store, run, metric.name);
    table.add({run.id, run.backend, std::to_string(run.seed),
               run.state == store::RunState::completed ? store::name_of(run.state) : "not completed",
               std::to_string(store.read_digests(run.number).size()),
               value ? analysis::metric_text(metric, *value) : "-",
               own == settings.end() ? "-" : own->second});
  }
  table.print(out, console.terminal, 2);
  Table data({{"DATA"}, {"SHA-256"}, {"WHERE"}});
  for (const ShownData& one : data_of(store, runs, bundle.index())) {
    const std::vector<std::string> roles(one.roles.begin(), one.roles.end());
    data.add({listed(roles), one.sha256.substr(0, shown_digits), one.packed ? "packed" : "not in it"});
  }
  data.print(out, console.terminal, 2);
}

void print_verifications(std::ostream& out, store::Store& store, const std::vector<store::RunRow>& runs) {
  std::map<std::string, std::size_t> outcomes;
  for (const store::RunRow& run : runs)
    for (const store::VerificationRow& row : store.read_verifications(run.number)) ++outcomes[row.outcome];
  for (const auto& [outcome, count] : outcomes)
    out << "  verified " << counted(count, "time") << ": " << printable(outcome) << '\n';
}

void print_claimed(Console& console, const OpenedBundle& bundle, store::Store& store,
                   const std::vector<store::RunRow>& runs) {
  std::ostream& out = console.out;
  const archive::BundleIndex& index = bundle.index();
  out << "\nclaimed by the sender, without proof in the bundle; all claims: " << command_name() << ' '
      << shell_command({"bundle", "show", bundle.archive(), "--claims"}) << '\n';
  out << "  subject  " << printable(index.subject) << '\n';
  out << "  made by  Encore " << printable(index.encore) << "; licence: " << printable(index.licence)
      << (index.author.empty() ? "" : "; author: " + printable(index.author)) << '\n';
  print_code(out, store, runs);
  print_verifications(out, store, runs);
  Table names({{"RUN"}, {"NAME"}, {"STATE"}, {"NOTE"}});
  for (const store::RunRow& run : runs) names.add({run.id, run.name, state_cell(run.state), run.note});
  names.print(out, console.terminal, 2);
  Table data({{"DATA"}, {"PATH THERE"}});
  for (const ShownData& one : data_of(store, runs, index)) {
    const std::vector<std::string> roles(one.roles.begin(), one.roles.end());
    data.add({listed(roles), one.path});
  }
  data.print(out, console.terminal, 2);
  Table plugins({{"PLUGIN"}, {"VERSION"}, {"SHA-256"}});
  for (const store::PluginRow& plugin : all_plugins(store, runs))
    plugins.add({plugin.name, plugin.version, plugin.sha256.substr(0, shown_digits)});
  plugins.print(out, console.terminal, 2);
  for (const std::string& folder : plugin_folders_of(store, runs))
    out << "  plugin folder (ignored): " << printable(folder) << '\n';
  if (std::ranges::find(index.files, archive::bundle_report, &archive::BundleFile::path) != index.files.end())
    out << "  " << archive::bundle_report
        << " is the sender's report; --report FILE writes one from the checked rows\n";
}

}  // namespace

config::Catalogue catalogue_here(const std::vector<std::string>& plugin_path) {
  const runner::Programs programs = runner::installed_programs();
  return config::Catalogue::survey(runner::plugin_search_path({}, plugin_path, programs, programs.backend),
                                   runner::fingerprint_of(programs, programs.backend));
}

OpenedBundle::OpenedBundle(app::Events& events, const std::string& archive,
                           const std::vector<std::string>& plugin_path)
    : archive_(archive) {
  std::error_code missing;
  if (!std::filesystem::exists(archive, missing)) throw app::UsageError("there is no bundle " + archive);
  const app::ProgressEnd end{events};
  unpacked_ = std::make_unique<archive::UnpackedBundle>(
      archive, [&](std::size_t done, std::size_t all) { events.progressed("unpacked", done, all, "files"); });
  checked_ = bundle::check_bundle(*unpacked_, archive, catalogue_here(plugin_path));
}

std::vector<store::PluginRow> plugins_of(store::Store& store, const store::RunRow& run) {
  std::vector<store::PluginRow> plugins;
  for (store::AttemptRow& attempt : store.read_attempts(run.number))
    if (!attempt.plugins.empty()) plugins = std::move(attempt.plugins);
  return plugins;
}

AllCode all_code(store::Store& store, const std::vector<store::RunRow>& runs) {
  AllCode all;
  for (const store::RunRow& run : runs)
    for (const store::AttemptRow& attempt : store.read_attempts(run.number)) {
      if (attempt.source && std::ranges::find(all.sources, *attempt.source) == all.sources.end())
        all.sources.push_back(*attempt.source);
      if (std::ranges::none_of(all.repositories, [&](const store::CodeVersion& code) {
            return code.commit == attempt.commit_hash && code.diff == attempt.diff;
          }))
        all.repositories.push_back({attempt.commit_hash, attempt.diff});
    }
  return all;
}

std::string bundle_line(const archive::BundleIndex& index) {
  return printable(index.subject) + ", " + counted(index.files.size(), "file") + ", " +
         bytes_text(index.bytes());
}

void print_bundle(Console& console, const OpenedBundle& bundle, store::Store& store,
                  const std::vector<store::RunRow>& runs, bool is_verified) {
  std::ostream& out = console.out;
  const archive::BundleIndex& index = bundle.index();
  out << bundle.archive() << "  " << counted(runs.size(), "run") << ", "
      << counted(index.files.size(), "file") << ", " << bytes_text(index.bytes()) << "; its parts agree\n";
  if (const auto& unproved = bundle.checked().unproved; !unproved.empty())
    out << "  but the rows of " << printable(listed(unproved)) << " are not proved: a spool is damaged\n";
  print_recomputed(console, bundle, runs);
  print_trained(console, bundle, store, runs, is_verified);
  print_claimed(console, bundle, store, runs);
}

nlohmann::ordered_json bundle_json(const OpenedBundle& bundle, store::Store& store,
                                   const std::vector<store::RunRow>& runs) {
  const archive::BundleIndex& index = bundle.index();
  const auto& claimed_questions = bundle.checked().claimed_questions;
  Json recomputed = Json::array(), trained = Json::array(), data = Json::array(), names = Json::array(),
       values = Json::array(), files = Json::array();
  for (const store::RunRow& run : runs) {
    const auto why = claimed_questions.find(run.id);
    const bool is_recomputed = run.attempts > 0 && why == claimed_questions.end();
    recomputed.push_back({{"id", run.id},
                          {"question", is_recomputed ? Json(run.question) : Json()},
                          {"group", is_recomputed ? Json(run.group) : Json()},
                          {"kind", run.kind}});
    Json settings = Json::object();
    for (const store::ParamRow& row : store.read_params(run.number)) settings[row.key] = row.value;
    trained.push_back({{"id", run.id},
                       {"backend", run.backend},
                       {"seed", run.seed},
                       {"completed", run.state == store::RunState::completed},
                       {"digests", store.read_digests(run.number).size()},
                       {"result", run.result},
                       {"settings", settings}});
    names.push_back({{"id", run.id},
                     {"name", run.name},
                     {"state", store::name_of(run.state)},
                     {"attempts", run.attempts},
                     {"question", is_recomputed ? Json() : Json(run.question)},
                     {"why", why == claimed_questions.end() ? Json() : Json(why->second)}});
  }
  for (const ShownData& one : data_of(store, runs, index))
    data.push_back({{"sha256", one.sha256}, {"roles", one.roles}, {"packed", one.packed}});
  const AllCode all = all_code(store, runs);
  Json sources = Json::array(), code = Json::array(), plugins = Json::array();
  for (const record::SourceVersion& one : all.sources)
    sources.push_back({{"commit", one.commit},
                       {"archive", one.archive},
                       {"sha256", one.sha256},
                       {"diff_bytes", one.diff.size()}});
  for (const store::CodeVersion& one : all.repositories)
    code.push_back({{"commit", one.commit}, {"diff_bytes", one.diff.size()}});
  for (const store::PluginRow& plugin : all_plugins(store, runs))
    plugins.push_back({{"name", plugin.name}, {"version", plugin.version}, {"sha256", plugin.sha256}});
  for (const bundle::Claim& claim : bundle::claims_of(store, 0))
    values.push_back({{"table", claim.table}, {"column", claim.column}, {"values", claim.values}});
  for (const archive::BundleFile& file : index.files)
    files.push_back({{"path", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  return {{"file", bundle.archive()},
          {"bytes", index.bytes()},
          {"unproved", bundle.checked().unproved},
          {"recomputed", {{"runs", recomputed}, {"files", files}}},
          {"trained", {{"runs", trained}, {"data", data}}},
          {"claimed",
           {{"subject", index.subject},
            {"encore", index.encore},
            {"licence", index.licence},
            {"author", index.author},
            {"runs", names},
            {"source", sources},
            {"code", code},
            {"plugins", plugins},
            {"plugin_folders", plugin_folders_of(store, runs)},
            {"values", values}}}};
}

void write_bundle_report(Console& console, store::Store& store, const std::string& file, bool quiet) {
  const document::Document document = report::make_report(store, {.runs = {.sight = store::Sight::any}});
  const std::vector<document::OutputFile> files =
      find_report_format("html", {}).write(document, ReportShape{.name = file});
  world::save_file(file, files.front().bytes);
  if (!quiet) console.out << "report of the checked rows written to " << file << '\n';
}

}  // namespace encore::cli
