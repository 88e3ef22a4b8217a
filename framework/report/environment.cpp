// SPDX-License-Identifier: BSD-3-Clause
// The section "environment": the origin of the numbers: code, build, machines, numeric environments, plugins,
// and the cost. report.cpp calls environment_section(). Fields are shown as workers reported them, also
// unknown ones, so that a new field needs no change here. CSV and JSON have the ids and columns of its
// tables, so they stay. Read sections.hpp first.
#include <algorithm>

#include "base/readable_text.hpp"
#include "document/quantity.hpp"
#include "report/compute.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// The largest number of characters of a diff; the rest is in the database only.
constexpr std::size_t most_diff = 60000;

/// A value that attempts reported, with the number of these attempts. Lists of them are in the order of the
/// runs.
struct Told {
  nlohmann::json value;
  std::size_t attempts = 0;
};

template <class Take>
std::vector<Told> distinct(const ReportData& data, const Take& take) {
  std::vector<Told> found;
  for (const store::RunRow& run : data.runs) {
    const auto attempts = data.attempts.find(run.number);
    if (attempts == data.attempts.end()) continue;
    for (const store::AttemptRow& attempt : attempts->second) {
      const nlohmann::json value = take(attempt);
      if (value.is_null()) continue;
      const auto known =
          std::find_if(found.begin(), found.end(), [&](const Told& told) { return told.value == value; });
      if (known == found.end())
        found.push_back({value, 1});
      else
        ++known->attempts;
    }
  }
  return found;
}

/// Returns the text of a field; an object, such as the plugins with their hashes, as "adam 299e08f6,
/// linear_head ab483091".
std::string field_text(const nlohmann::json& value) {
  if (!value.is_object()) return config::setting_text(value);
  std::string text;
  for (const auto& [name, part] : value.items())
    text += (text.empty() ? "" : ", ") + name + " " + config::setting_text(part).substr(0, 8);
  return text;
}

/// Returns the names of the fields of all values, in their order.
std::vector<std::string> fields_of(const std::vector<Told>& shown) {
  std::vector<std::string> fields;
  for (const Told& told : shown)
    for (const auto& [name, value] : told.value.items())
      if (!value.is_array() && std::find(fields.begin(), fields.end(), name) == fields.end())
        fields.push_back(name);
  return fields;
}

/// Returns a field's name and value as people write them.
std::pair<std::string, std::string> field_of(const std::string& name, const nlohmann::json& value) {
  if (name == "memory_bytes" && value.is_number_unsigned())
    return {"memory", fixed_text(value.get<double>() / (1 << 30), 1) + " GiB"};
  return {name, field_text(value)};
}

/// Adds a row for each field that is equal in all values, and then the fields that differ, with a column for
/// each value.
void add_fields(std::vector<document::Block>& blocks, const std::string& id, const std::string& caption,
                const std::string& what, const std::vector<Told>& all) {
  if (all.empty()) {
    blocks.push_back(document::Notice{"No attempt reported its " + what + "."});
    return;
  }
  constexpr std::size_t most = 4;
  const std::vector<Told> shown(all.begin(),
                                all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size())));
  document::TableBlock common, table;
  common.id = id + "-common";
  common.caption = "What all " + counted(all.size(), what) + " have in common.";
  common.columns = {{"field", "", false}, {"value", "", false}};
  table.id = id;
  table.caption = caption;
  table.columns = {{"field", "", false}};
  for (std::size_t i = 0; i < shown.size(); ++i)
    table.columns.push_back({what + (all.size() > 1 ? " " + std::to_string(i + 1) : ""), "", false});
  for (const std::string& field : fields_of(shown)) {
    const auto value_of = [&](const Told& told) { return told.value.value(field, nlohmann::json()); };
    const bool alike = std::all_of(all.begin(), all.end(),
                                   [&](const Told& told) { return value_of(told) == value_of(all.front()); });
    std::vector<document::TableCell> row = {field_of(field, value_of(shown.front())).first};
    for (const Told& told : shown) row.emplace_back(field_of(field, value_of(told)).second);
    if (alike && all.size() > 1) {
      row.resize(2);
      common.rows.push_back(std::move(row));
    } else {
      table.rows.push_back(std::move(row));
    }
  }
  std::vector<document::TableCell> row = {document::Text("attempts")};
  for (const Told& told : shown) row.push_back(count_cell(static_cast<std::int64_t>(told.attempts)));
  table.rows.push_back(std::move(row));
  if (shown.size() < all.size())
    table.notes.push_back(counted(all.size() - shown.size(), "more") +
                          " are in the database (table attempt).");
  blocks.push_back(std::move(table));
  if (!common.rows.empty()) blocks.push_back(std::move(common));
}

nlohmann::json object_or_null(const nlohmann::json& value) {
  return value.is_object() ? value : nlohmann::json();
}

// --- code ---

/// Adds a table of states, followed by their diffs, with the id `what`.
void add_states(const std::vector<Told>& states, const std::string& what, const std::string& caption,
                const std::string& table_name, std::vector<document::Block>& blocks) {
  if (states.empty()) return;
  document::TableBlock table;
  table.id = what;
  table.caption = caption;
  table.columns = {{"state", "", false}, {"uncommitted changes", "lines", true}, {"attempts", "", true}};
  for (const Told& state : states) {
    const std::string diff = state.value["diff"];
    table.rows.push_back(
        {code_cell(state.value["state"]),
         diff.empty() ? document::TableCell("none") : count_cell(std::count(diff.begin(), diff.end(), '\n')),
         count_cell(static_cast<std::int64_t>(state.attempts))});
  }
  blocks.push_back(std::move(table));
  for (const Told& state : states) {
    const std::string diff = state.value["diff"];
    if (diff.empty()) continue;
    blocks.push_back(document::Notice{
        "Changes on top of " + state.value["state"].get<std::string>() + " that were not committed" +
        (diff.size() > most_diff ? "; the first " + thousands(most_diff) + " of " +
                                       thousands(static_cast<std::int64_t>(diff.size())) +
                                       " characters, the database (table " + table_name + ") has all:"
                                 : ":")});
    blocks.push_back(document::Listing{"diff", diff.substr(0, most_diff), "Uncommitted changes"});
  }
}

document::Section code_section(const ReportData& data) {
  document::Section section{"code", "Code"};
  const auto sources = distinct(data, [](const store::AttemptRow& attempt) {
    if (!attempt.source) return nlohmann::json();
    const record::SourceVersion& source = *attempt.source;
    return nlohmann::json{
        {"state",
         source.commit.empty() ? "folder " + source.archive + ", SHA-256 " + source.sha256 : source.commit},
        {"diff", source.diff}};
  });
  const auto repositories = distinct(data, [](const store::AttemptRow& attempt) {
    return attempt.commit_hash.empty()
               ? nlohmann::json()
               : nlohmann::json{{"state", attempt.commit_hash}, {"diff", attempt.diff}};
  });
  if (sources.empty())
    section.blocks.push_back(document::Notice{
        "The source of Encore was not recorded: by an earlier version, or by a build that has no record "
        "of it."});
  add_states(sources, "encore-sources", "The source of Encore that the programs were built from.", "source",
             section.blocks);
  if (repositories.empty())
    section.blocks.push_back(document::Notice{"The experiment file does not lie in a git repository."});
  add_states(repositories, "code-states", "The repository in which the experiment file lies.", "code",
             section.blocks);
  return section;
}

// --- plugins ---

document::TableBlock plugin_table(const ReportData& data) {
  document::TableBlock table;
  table.id = "plugins";
  table.caption = "Plugin files that were loaded.";
  table.columns = {
      {"plugin", "", false}, {"version", "", false}, {"SHA-256", "", false}, {"attempts", "", true}};
  std::map<std::vector<std::string>, std::int64_t> used;
  for (const auto& [run, attempts] : data.attempts)
    for (const store::AttemptRow& attempt : attempts)
      for (const store::PluginRow& plugin : attempt.plugins)
        ++used[{plugin.name, plugin.version, plugin.sha256}];
  for (const auto& [plugin, count] : used)
    table.rows.push_back({plugin[0], plugin[1], code_cell(plugin[2]), count_cell(count)});
  return table;
}

// --- compute ---

document::Section compute_section(const ReportData& data) {
  document::Section section{"compute", "Compute"};
  document::TableBlock table;
  table.id = "compute-table";
  table.caption =
      "Time between the beginning and the end of attempts, failed ones too. Thread time: the same times "
      "the threads of the worker.";
  table.columns = {
      {"attempts ended", "", false}, {"attempts", "", true},         {"time", "s", true},
      {"thread time", "s", true},    {"end not recorded", "", true}, {"threads not recorded", "", true}};
  const auto row = [&](const document::Text& name, const Compute& sum) {
    table.rows.push_back({name, count_cell(static_cast<std::int64_t>(sum.attempts)),
                          seconds_cell(sum.seconds), seconds_cell(sum.thread_seconds),
                          count_cell(static_cast<std::int64_t>(sum.untimed)),
                          count_cell(static_cast<std::int64_t>(sum.unthreaded))});
  };
  for (const auto& [state, sum] : compute_by_state(data)) row(state, sum);
  row(document::Text({strong("all")}), compute_of(data));
  const JobsUsed used = jobs_used(data);
  if (used.joules > 0.0)
    table.notes.push_back("Energy by the accounting of the scheduler, for " + counted(used.jobs, "job") +
                          ": " + document::energy_text(used.joules) +
                          ", with all that these jobs have worked on.");
  else
    table.notes.push_back("Energy is not recorded.");
  if (used.peak_bytes > 0)
    table.notes.push_back(
        "Most memory of a task of a job: " + bytes_text(static_cast<std::uint64_t>(used.peak_bytes)) + ".");
  section.blocks.push_back(std::move(table));
  return section;
}

}  // namespace

document::Section environment_section(const ReportData& data) {
  document::Section section{"environment", "Environment"};
  section.sections.push_back(code_section(data));
  document::Section machines{"machines", "Machines and builds"};
  const auto environments = distinct(data, [](const store::AttemptRow& attempt) {
    nlohmann::json environment = object_or_null(attempt.environment);
    if (environment.is_object() && attempt.started_event && attempt.started_event->threads)
      environment["threads"] = *attempt.started_event->threads;
    return environment;
  });
  add_fields(
      machines.blocks, "numeric-environments",
      "Numeric environments: equal ones promise equal bits (threads do not belong to that promise, and "
      "are listed for information).",
      "numeric environment", environments);
  add_fields(machines.blocks, "hosts", "Machines.", "host",
             distinct(data, [](const store::AttemptRow& attempt) { return object_or_null(attempt.host); }));
  add_fields(machines.blocks, "builds", "Builds of the worker.", "build",
             distinct(data, [](const store::AttemptRow& attempt) { return object_or_null(attempt.build); }));
  document::TableBlock plugins = plugin_table(data);
  if (!plugins.rows.empty()) machines.blocks.push_back(std::move(plugins));
  section.sections.push_back(std::move(machines));
  section.sections.push_back(compute_section(data));
  return section;
}

}  // namespace encore::report
