// SPDX-License-Identifier: BSD-3-Clause
// Implements ro_crate_text(), which makes the metadata of a bundle as a graph of JSON-LD: the root, each
// file, each run as an action, each data set. pack_bundle.cpp calls it; archive/bundle_index.cpp reads the
// result, so change both together. Read pack_bundle.hpp first.
#include "bundle/pack_bundle.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "record/specification.hpp"
#include "report/wording.hpp"

namespace encore::bundle {

namespace {

using Json = nlohmann::ordered_json;

std::string iso_text(double time) {
  const auto seconds = static_cast<std::time_t>(std::floor(time));
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &parts);
  return text;
}

Json reference(const std::string& id) {
  return {{"@id", id}};
}

std::string encoding_of(const std::string& path) {
  static const std::map<std::string, std::string> known = {
      {".json", "application/json"},      {".jsonl", "application/jsonl"}, {".html", "text/html"},
      {".db", "application/vnd.sqlite3"}, {".txt", "text/plain"},          {".log", "text/plain"}};
  const auto found = known.find(std::filesystem::path(path).extension().string());
  return found == known.end() ? "application/octet-stream" : found->second;
}

/// Returns the description of a file for people.
std::string description_of(const std::string& path) {
  if (path == archive::bundle_database) return "The rows of the database about these runs (SQLite)";
  if (path == archive::bundle_report) return "The report of these runs";
  if (path.starts_with(archive::bundle_data)) return "A file that the runs read";
  if (path.starts_with(archive::bundle_sources)) return "A source file of a plugin";
  const std::string name = std::filesystem::path(path).filename().string();
  if (name == "specification.json") return "The resolved settings of a run, and its data by SHA-256";
  if (name.ends_with(".spool")) return "Events that a worker reported while it trained";
  if (name.ends_with(".log")) return "Standard error of a worker";
  if (name.ends_with(".safetensors")) return "Parameters of a model";
  if (name.ends_with(".jsonl")) return "Predictions, one example per line";
  return "A file of a run's folder";
}

class Crate {
 public:
  Crate(store::Store& store, const archive::BundleIndex& index) : store_(store), index_(index) {
    runs_ = store.list_runs({.sight = store::Sight::any});
    std::ranges::sort(runs_, {}, &store::RunRow::id);
  }

  std::string text() {
    for (const archive::BundleFile& file : index_.files) add_file(file);
    for (const store::RunRow& run : runs_) add_run(run);
    Json graph = {{{"@id", archive::bundle_metadata},
                   {"@type", "CreativeWork"},
                   {"conformsTo", reference("https://w3id.org/ro/crate/1.1")},
                   {"about", reference("./")}},
                  root(),
                  program(),
                  licence(),
                  author()};
    add_sources(graph);
    for (Json& entity : entities_) graph.push_back(std::move(entity));
    // The terms that the context of RO-Crate 1.1 lacks.
    const Json more = {{"sha256", "https://schema.org/sha256"},
                       {"schemaVersion", "https://schema.org/schemaVersion"}};
    return Json{{"@context", {"https://w3id.org/ro/crate/1.1/context", more}}, {"@graph", graph}}.dump(1) +
           "\n";
  }

 private:
  Json root() const {
    double newest = 0.0;
    for (const store::RunRow& run : runs_) newest = std::max(newest, run.finished.value_or(run.created));
    Json parts = Json::array(), actions = Json::array();
    for (const archive::BundleFile& file : index_.files) parts.push_back(reference(file.path));
    for (const store::RunRow& run : runs_) actions.push_back(reference("#run-" + run.id));
    for (const std::string& sha256 : outside_) actions.push_back(reference("#data-" + sha256));
    return {{"@id", "./"},
            {"@type", "Dataset"},
            {"name", index_.subject},
            {"description",
             "Runs of Encore, with what is needed to train them again and to compare every "
             "digest: exp verify FILE.tar.zst"},
            {"datePublished", iso_text(newest)},
            {"license", reference("#licence")},
            {"author", reference("#author")},
            {"schemaVersion", archive::bundle_version},
            {"hasPart", parts},
            {"mentions", actions}};
  }

  Json program() const {
    return {
        {"@id", "#encore"}, {"@type", "SoftwareApplication"}, {"name", "Encore"}, {"version", index_.encore}};
  }

  /// Adds the source of Encore from which the runs' programs were built.
  void add_sources(Json& graph) {
    Json based = Json::array();
    for (const auto& [id, entity] : sources_) {
      based.push_back(reference(id));
      graph.push_back(entity);
    }
    if (!based.empty()) graph[2]["isBasedOn"] = based;
  }

  void note_code(const store::RunRow& run, Json& action) {
    std::set<std::string> repositories;
    for (const store::AttemptRow& attempt : store_.read_attempts(run.number)) {
      if (attempt.source) note_source(*attempt.source);
      if (attempt.commit_hash.empty()) continue;
      const std::string id = "#code-" + attempt.commit_hash;
      if (repositories.insert(id).second) action["object"].push_back(reference(id));
      if (codes_.insert(id).second)
        entities_.push_back({{"@id", id},
                             {"@type", "SoftwareSourceCode"},
                             {"name", "Repository of the experiment file"},
                             {"version", attempt.commit_hash}});
    }
  }

  void note_source(const record::SourceVersion& source) {
    const std::string version = source.commit.empty() ? source.sha256 : source.commit;
    const std::string id = "#source-" + version + (source.diff.empty() ? "" : "-changed");
    const std::string description =
        source.commit.empty() ? "Source files of the folder " + source.archive + ", by their SHA-256"
        : source.diff.empty() ? "Commit of Encore's repository"
                              : "Commit of Encore's repository; the changes to it are in the database";
    sources_[id] = {{"@id", id},
                    {"@type", "SoftwareSourceCode"},
                    {"name", "Encore"},
                    {"version", version},
                    {"description", description}};
  }

  Json licence() const {
    return {{"@id", "#licence"},
            {"@type", "CreativeWork"},
            {"name", index_.licence},
            {"description", "The terms under which the bundle may be used, as its maker states them"}};
  }

  Json author() const { return {{"@id", "#author"}, {"@type", "Person"}, {"name", index_.author}}; }

  void add_file(const archive::BundleFile& file) {
    entities_.push_back({{"@id", file.path},
                         {"@type", "File"},
                         {"name", std::filesystem::path(file.path).filename().string()},
                         {"description", description_of(file.path)},
                         {"encodingFormat", encoding_of(file.path)},
                         {"contentSize", std::to_string(file.bytes)},
                         {"sha256", file.sha256}});
  }

  void add_run(const store::RunRow& run) {
    Json inputs = Json::array(), results = Json::array();
    for (const store::DatasetRow& data : store_.read_datasets(run.number))
      inputs.push_back(reference(data_id(data)));
    for (const archive::BundleFile& file : index_.files)
      if (file.path.starts_with(archive::bundle_runs + run.id + "/")) results.push_back(reference(file.path));
    Json action = {{"@id", "#run-" + run.id},
                   {"@type", "CreateAction"},
                   {"name", run.name},
                   {"description", "Question " + run.question + ", backend " + run.backend + ", " +
                                       store::name_of(run.state)},
                   {"instrument", reference("#encore")},
                   {"object", inputs},
                   {"result", results}};
    if (run.started) action["startTime"] = iso_text(*run.started);
    if (run.finished) action["endTime"] = iso_text(*run.finished);
    note_code(run, action);
    entities_.push_back(std::move(action));
  }

  /// Returns the id of the file in the bundle, or that of an entity that describes the file.
  std::string data_id(const store::DatasetRow& data) {
    for (const archive::BundleFile& file : index_.files)
      if (file.path.starts_with(archive::bundle_data + data.sha256 + "/")) return file.path;
    const std::string id = "#data-" + data.sha256;
    if (outside_.insert(data.sha256).second)
      entities_.push_back({{"@id", id},
                           {"@type", "CreativeWork"},
                           {"name", config::setting_text(data.path)},
                           {"description", "Read by the runs (" + data.role +
                                               "), not in the bundle; its path was " + data.path},
                           {"sha256", data.sha256}});
    return id;
  }

  store::Store& store_;
  const archive::BundleIndex& index_;
  std::vector<store::RunRow> runs_;
  std::set<std::string> outside_;        ///< digests of data that are not in the bundle
  std::map<std::string, Json> sources_;  ///< by id
  std::set<std::string> codes_;          ///< ids
  std::vector<Json> entities_;
};

}  // namespace

std::string ro_crate_text(store::Store& store, const archive::BundleIndex& index) {
  return Crate(store, index).text();
}

}  // namespace encore::bundle
