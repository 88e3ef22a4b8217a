// SPDX-License-Identifier: BSD-3-Clause
// Tests the layout of the tree: data flows through the folders in one direction, and a file may only include
// headers of folders before its own. Two halves (control and worker) meet only in the shared folders. Also
// rules about SQL, JSON, sockets and the tests that pages name. A new folder needs a place in the lists
// below; a new exception needs a reason. Read next: docs/internals/architecture.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/places.hpp"

namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

// In the order of the data flow: a folder may include itself and those before it in its own half, and every
// shared one.
const Names shared_folders = {"base", "world", "config", "data", "record", "pretrained", "archive", "index"};
const Names control_folders = {"plan",     "store",  "review", "runner", "analysis", "monitor",
                               "document", "report", "bundle", "serve",  "app",      "cli"};
const Names worker_folders = {"plugin_host", "memory",      "kernels", "onnx_graph", "contract", "model",
                              "tasks",       "distributed", "infer",   "library",    "onnx",     "train",
                              "apply",       "survey",      "bench",   "worker"};

// Headers of the SDK that any file may include; all others need Kokkos and belong to the worker half and the
// plugins.
const std::set<std::string> declaring_tier = {
    "error",        "tensor",         "shape",          "options",          "layer",
    "head",         "tokenizer",      "optimizer",      "schedule",         "plugin",
    "measure",      "statistics",     "records",        "examples",         "outputs",
    "task",         "reader",         "step",           "decoding",         "base64",
    "binomial",     "sentence_ends",  "separated_rows", "target_tokenizer", "vocabulary_lines",
    "distillation", "document_index", "lines",          "token_cuts"};

// Libraries that only one folder uses, so that each of them can be replaced in one place.
const std::map<std::string, std::set<std::string>> owners = {
    {"sqlite3.h", {"store", "app", "index"}},
    {"toml++/", {"config"}},
    {"sentencepiece", {}},  // a tokenizer that is a plugin
    {"oneapi/dnnl/", {"kernels"}},
    {"KokkosBlas", {"kernels"}},
    {"mpi.h", {"distributed"}},
    {"boost/program_options", {"cli", "worker"}},
    {"boost/math/", {"analysis"}},
    {"zstd.h", {"archive"}},
    {"boost/asio/", {"serve"}},
    {"boost/beast/", {"serve"}},
};

struct Include {
  fs::path file;  // relative to the root of the tree
  int line = 0;
  std::string target;
};

fs::path root() {
  return ENCORE_SOURCE_DIR;
}

bool is_source(const fs::path& path) {
  return path.extension() == ".hpp" || path.extension() == ".cpp" || path.extension() == ".h";
}

std::vector<Include> includes_below(const fs::path& folder) {
  static const std::regex directive(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
  std::vector<Include> found;
  if (!fs::exists(root() / folder)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    std::ifstream stream(entry.path());
    std::string text;
    for (int line = 1; std::getline(stream, text); ++line) {
      std::smatch match;
      if (std::regex_search(text, match, directive)) {
        found.push_back({fs::relative(entry.path(), root()), line, match[1].str()});
      }
    }
  }
  return found;
}

std::string first_part(const std::string& path) {
  const auto slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The folders that `folder` may include, in the order of the flow.
std::set<std::string> visible_from(const std::string& folder) {
  std::set<std::string> visible;
  auto add_until_folder = [&](const Names& half) {
    for (const auto& name : half) {
      visible.insert(name);
      if (name == folder) return;
    }
  };
  add_until_folder(shared_folders);
  if (contains(control_folders, folder)) add_until_folder(control_folders);
  if (contains(worker_folders, folder)) add_until_folder(worker_folders);
  return visible;
}

// Returns what is wrong with an include in a folder of the framework, or nothing.
std::optional<std::string> broken_rule(const std::string& folder, const std::string& target) {
  const bool host_only = contains(shared_folders, folder) || contains(control_folders, folder);
  const auto part = first_part(target);
  if (part == "encore") {
    const auto name = fs::path(target).stem().string();
    if (host_only && !declaring_tier.contains(name)) return "is of the computing tier, which needs Kokkos";
    return {};
  }
  if (host_only && target.starts_with("Kokkos")) return "is Kokkos, which this half does not have";
  for (const auto& [library, folders] : owners) {
    if (target.starts_with(library) && !folders.contains(folder)) return "belongs to another folder alone";
  }
  const bool is_folder =
      contains(shared_folders, part) || contains(control_folders, part) || contains(worker_folders, part);
  if (is_folder && !visible_from(folder).contains(part)) return "lies later in the flow or in the other half";
  return {};
}

std::string place(const Include& include) {
  return include.file.string() + ":" + std::to_string(include.line) + ": \"" + include.target + "\" ";
}

/// Returns C++ without comments, with each literal as "" and each character as 0, so that brackets and names
/// can be counted.
std::string without_literals(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const char letter = text[at];
    if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.compare(at, 3, "R\"(") == 0) {
      at = std::min(text.find(")\"", at), text.size() - 2) + 2;
      plain += "\"\"";
    } else if (letter == '"' ||
               (letter == '\'' && (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0))) {
      for (++at; at < text.size() && text[at] != letter; ++at)
        if (text[at] == '\\') ++at;
      ++at;
      plain += letter == '"' ? "\"\"" : "0";
    } else {
      plain += letter;
      ++at;
    }
  }
  return plain;
}

/// Returns what joins literals to SQL in the calls of a file: "execute: + table +".
std::set<std::string> pieces_of_sql(const std::string& text) {
  static const std::regex call("\\b(execute|cached|integer|text|Statement)(\\s+\\w+)?\\(");
  std::set<std::string> pieces;
  for (std::sregex_iterator found(text.begin(), text.end(), call), end; found != end; ++found) {
    const auto begin = static_cast<std::size_t>(found->position() + found->length());
    std::size_t at = begin;
    for (int depth = 1; depth > 0 && at < text.size(); ++at) depth += (text[at] == '(') - (text[at] == ')');
    std::string argument = text.substr(begin, at - begin - 1);
    if (argument.find("\"\"") == std::string::npos || argument.find('+') == std::string::npos) continue;
    argument = std::regex_replace(argument, std::regex("\"\"|\\s+"), "");
    argument = std::regex_replace(argument, std::regex("\\++"), "+");
    pieces.insert((*found)[1].str() + ":" + argument);
  }
  return pieces;
}

/// A name or value that came out of a database, a spool or a file must not become a part of a statement:
/// values are bound, names come from schema.sql. Each part below was looked at: a constant, a number, or a
/// condition that this program wrote. Review each one that you add.
TEST(Sql, NoStatementIsMadeOfData) {
  const std::map<std::string, std::set<std::string>> known = {
      {"bundle/pack_bundle.cpp", {"cached:+std::string(table)+"}},
      {"bundle/spool_agreement.cpp", {"Statement:database_,+one+other+"}},
      {"app/database.cpp", {"cached:+std::string(column)+table+column+"}},
      {"app/ls.cpp", {"integer:+store::condition_of(selection.sight)"}},
      {"runner/recorder.cpp", {"integer:+std::to_string(milliseconds)"}},
      {"store/benches.cpp", {"cached:+table+"}},
      {"store/merge.cpp", {"cached:+what+"}},
      {"store/merged_rows.cpp",
       {"cached:+table+", "execute:+std::string(table)+", "cached:+schema+",
        "execute:+name+name+name+name+same+", "cached:+std::string(table)+", "Statement:database_,+which",
        "cached:+origin_here()+", "integer:+new_verifications+",
        "execute:+table+columns+values+table+where"}},
      {"store/merged_searches.cpp", {"execute:+std::string(table)+search"}},
      {"store/metrics.cpp", {"cached:of_runs()+"}},
      {"store/newest.cpp",
       {"cached:+rows_from(points_of(database,run),)", "cached:+computed+kept+kept+computed+"}},
      {"store/queries.cpp",
       {"cached:std::string()+attempt_columns+attempt_tables+", "cached:+points+",
        "cached:std::string()+verification_columns+verification_tables+"}},
      {"store/run_batch.cpp",
       {"cached:+condition+", "cached:+std::string(several?:)+condition+",
        "cached:+std::string(chosen)+in_sweeps()+condition_of(Sight::present)"}},
      {"store/run_columns.cpp", {"cached:+has_values", "Statement:store_.database(),+*column+"}},
      {"store/run_score.cpp", {"cached:std::string()+of_these", "cached:std::string()+of_these+"}},
      {"store/runs.cpp",
       {"cached:select(+in_sweeps()+condition_of(filter.sight)+(states.empty()?:+states+)+(filter.numbers?:)+"
        ")"}},
      {"store/searches.cpp", {"cached:+condition+"}},
      {"store/selection.cpp", {"cached:+condition", "cached:+seen_+by_age", "cached:+seen_+"}},
      {"store/served.cpp",
       {"Statement:database,std::string()+table+", "Statement:store.database(),+std::string(after>0?:)+"}},
      {"store/source_rows.cpp", {"execute:+std::string(table)+used+"}},
      {"store/upgrade.cpp", {"execute:+std::to_string(upgrade.to)"}}};
  const fs::path framework = fs::path(ENCORE_SOURCE_DIR) / "framework";
  std::size_t files = 0;
  for (const char* folder : {"store", "bundle", "app", "cli", "runner", "monitor", "review", "index"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(framework / folder)) {
      if (entry.path().extension() != ".cpp") continue;
      ++files;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string text = without_literals({std::istreambuf_iterator<char>(in), {}});
      if (text.find("Statement") == std::string::npos && text.find("atabase") == std::string::npos) continue;
      const std::string name = fs::relative(entry.path(), framework).generic_string();
      const auto listed = known.find(name);
      for (const std::string& piece : pieces_of_sql(text))
        EXPECT_TRUE(listed != known.end() && listed->second.contains(piece))
            << name << ": \"" << piece
            << "\" becomes a part of SQL; bind it, or list it here if it is not data";
    }
  EXPECT_GT(files, 50U);
  EXPECT_EQ(pieces_of_sql(without_literals("rows.execute(\"SELECT \\\"\" + name + \"\\\" FROM run\");")),
            std::set<std::string>{"execute:+name+"});
}

}  // namespace

TEST(Layout, FoldersIncludeOnlyFoldersBelowThem) {
  int seen = 0;
  for (const auto* half : {&shared_folders, &control_folders, &worker_folders}) {
    for (const auto& folder : *half) {
      for (const auto& include : includes_below(fs::path("framework") / folder)) {
        ++seen;
        const auto rule = broken_rule(folder, include.target);
        EXPECT_FALSE(rule.has_value()) << place(include) << rule.value_or("");
      }
    }
  }
  EXPECT_GT(seen, 100) << "the test looked at the wrong folder";
}

// Files of the framework that contain the text, relative to it.
std::set<std::string> files_with(const std::string& text) {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root() / "framework")) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    std::ifstream stream(entry.path());
    const std::string content{std::istreambuf_iterator<char>(stream), {}};
    if (content.find(text) != std::string::npos)
      found.insert(fs::relative(entry.path(), root() / "framework").string());
  }
  return found;
}

TEST(Layout, JsonIsParsedWhereItsDepthIsLimited) {
  // These read without a tree of values, and check the depth first; safetensors_header.cpp also refuses
  // repeated names.
  EXPECT_EQ(files_with("json::parse("), std::set<std::string>());
  EXPECT_EQ(files_with("Json::parse("), (std::set<std::string>{"base/json_text.cpp"}));
  EXPECT_EQ(files_with("json::sax_parse("),
            (std::set<std::string>{"archive/bundle_index.cpp", "record/safetensors_header.cpp"}));
  for (const char* file : {"archive/bundle_index.cpp", "record/safetensors_header.cpp"})
    EXPECT_TRUE(files_with("require_shallow_json").contains(file)) << file;
}

/// Returns what the first group of the pattern finds in a file of the framework.
std::set<std::string> words_in(const std::string& file, const std::string& pattern) {
  std::ifstream stream(root() / "framework" / file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::regex expression(pattern);
  std::set<std::string> words;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    words.insert((*at)[1]);
  return words;
}

// All other files read and write the structs of record/events.hpp. Fields of one word ("step", "name") have
// other meanings in other files and are not searched.
TEST(Layout, TypesAndFieldsOfEventsAreSpelledInOnePlace) {
  std::set<std::string> words =
      words_in("record/event_fields.hpp", R"re(field(?:\.optional)?\("(\w+_\w+)")re");
  EXPECT_TRUE(words.contains("total_steps") && words.contains("peak_bytes"));
  words.merge(words_in("record/events.hpp", R"re( type = "(\w+)")re"));
  EXPECT_TRUE(words.contains("progress") && words.contains("bench_round"));
  // The same word with another meaning: a member of a verb's answer, a table, a column of one (run.result is
  // JSON), a member of the metadata of a checkpoint or of the token cache, a metric, an option, an outcome of
  // a trial.
  const std::map<std::string, std::set<std::string>> elsewhere = {
      {"best_step",
       {"app/database.cpp", "app/dump.cpp", "cli/run_summary.cpp", "cli/show_scores.cpp",
        "record/progress.cpp", "analysis/selection_notice.cpp", "report/trials.cpp", "store/garbage.cpp",
        "store/run_rows.hpp"}},
      {"artifact", {"bundle/evidence.cpp", "store/merged_rows.cpp"}},
      {"checkpoint",
       {"bundle/evidence.cpp", "record/control_pipe.cpp", "record/control_pipe.hpp", "store/garbage.cpp",
        "store/merged_rows.cpp"}},
      {"digest",
       {"bundle/evidence.cpp", "app/plugin_check.cpp", "cli/index_verb.cpp", "library/encore_infer.cpp",
        "onnx/onnx_export.cpp", "review/item_json.cpp", "serve/answers.cpp", "serve/service.cpp",
        "store/merged_rows.cpp", "tasks/token_cache.cpp", "worker/check_plugin_verb.cpp"}},
      {"finished",
       {"bundle/evidence.cpp", "app/dump.cpp", "app/plugin_check.cpp", "cli/run_json.cpp",
        "store/run_columns.cpp", "worker/check_plugin_verb.cpp"}},
      {"learning_rate", {"base/host_measures.cpp", "contract/optimizer_checks.cpp"}},
      {"measured",
       {"cli/search_text.cpp", "plan/search/history.cpp", "plan/search/leaderboard.cpp",
        "plan/search/leaderboard.hpp"}},
      {"numeric_environment", {"cli/run_json.cpp", "worker/main.cpp"}},
      {"peak_bytes", {"runner/bench_run.cpp"}},
      {"progress",
       {"bundle/evidence.cpp", "app/database.cpp", "cli/status_verb.cpp", "infer/run_weights.cpp",
        "store/garbage.cpp", "train/snapshots.cpp"}},
      {"result",
       {"bundle/ro_crate.cpp", "bundle/evidence.cpp", "cli/bundle_text.cpp", "app/database.cpp",
        "app/dump.cpp", "cli/run_json.cpp", "cli/run_list.cpp"}},
      {"started", {"bundle/evidence.cpp", "cli/run_json.cpp"}},
      {"step_seconds", {"base/host_measures.cpp", "analysis/bench_summary_json.cpp"}},
      {"tokens_per_second", {"base/host_measures.cpp", "analysis/bench_summary_json.cpp"}}};
  for (const std::string& word : words) {
    std::set<std::string> found = files_with('"' + word + '"');
    found.erase("record/event_fields.hpp");
    found.erase("record/events.hpp");
    const auto known = elsewhere.find(word);
    EXPECT_EQ(found, known == elsewhere.end() ? std::set<std::string>() : known->second) << word;
  }
}

/// Returns the files that contain one of the strings.
std::set<std::string> files_of(const std::set<std::string>& folders, const std::vector<std::string>& texts) {
  std::set<std::string> found;
  for (const std::string& text : texts)
    for (const std::string& file : files_with(text))
      if (folders.contains(first_part(file))) found.insert(file);
  return found;
}

// Messages between processes and records in files are structs, whose fields base/json_fields.hpp reads, so no
// file looks up a member by its name.
TEST(Layout, MembersOfJsonAreNotLookedUpByHand) {
  // The result, the settings and the events of a run as the database has them, a map that is not JSON, and
  // lines of a worker that a plugin may end at any time.
  const std::set<std::string> cli = {"cli/bench_text.cpp", "cli/plan_text.cpp",   "cli/plugin_check.cpp",
                                     "cli/run_json.cpp",   "cli/show_scores.cpp", "cli/show_text.cpp"};
  EXPECT_EQ(files_of({"cli"}, {".at(\"", ".value(\""}), cli);
  // The same, configurations, and what the worker's version says.
  const std::set<std::string> app = {
      "app/bench_cases.cpp",     "app/database.cpp",     "app/doctor.cpp",
      "app/plan_comparison.cpp", "app/plugin_check.cpp", "app/retrained_experiment.cpp",
      "app/run_ranks.cpp",       "app/run_time.cpp",     "app/retraining_comparison.cpp"};
  EXPECT_EQ(files_of({"app"}, {".at(\"", ".value(\""}), app);
}

// app/ decides and cli/ prints: verbs write to the Console that they get, and one file binds the command
// line.
TEST(Layout, VerbsKnowNeitherTheStandardStreamsNorTheCommandLine) {
  const std::set<std::string> exp = {"app",     "bundle",  "report",     "analysis", "document", "cli",
                                     "serve",   "store",   "runner",     "plan",     "config",   "record",
                                     "monitor", "archive", "pretrained", "review"};
  EXPECT_EQ(files_of(exp, {"std::cout", "std::cerr"}),
            (std::set<std::string>{"cli/console.cpp", "cli/program.cpp"}));
  EXPECT_EQ(files_of(exp, {"include <boost/program_options", "variables_map"}),
            (std::set<std::string>{"cli/binder.cpp"}));
  EXPECT_EQ(files_with("CommandLine"), std::set<std::string>());
  EXPECT_EQ(files_of({"app"}, {"terminal.hpp", "terminal_filter.hpp", "printf(\"", "std::cin"}),
            std::set<std::string>());
}

TEST(Layout, FilesOfUsersAreOpenedByInputFile) {
  // Files of the system (/proc, /sys), of the installation, and those that this program writes into run
  // folders.
  const std::set<std::string> own = {"app/logs.cpp",
                                     "app/plugin_project.cpp",
                                     "bench/energy_meter.cpp",
                                     "cli/run_summary.cpp",
                                     "world/control_groups.cpp",
                                     "world/cores.cpp",
                                     "world/cpu_ticks.cpp",
                                     "world/process.cpp",
                                     "runner/attempt_end.cpp",
                                     "runner/machine_noise.cpp",
                                     "world/lock_holders.cpp",
                                     "train/machine_load.cpp",
                                     "worker/bench_verb.cpp",
                                     "worker/environment.cpp",
                                     "worker/train_verb.cpp"};
  EXPECT_EQ(files_with("std::ifstream"), own);
}

TEST(Layout, EveryFolderOfTheFrameworkHasItsPlaceInTheFlow) {
  for (const auto& entry : fs::directory_iterator(root() / "framework")) {
    if (!entry.is_directory()) continue;
    const auto name = entry.path().filename().string();
    EXPECT_TRUE(name == "sdk" || contains(shared_folders, name) || contains(control_folders, name) ||
                contains(worker_folders, name))
        << "framework/" << name << " is in neither half";
  }
}

TEST(Layout, SdkIncludesNothingOfTheFramework) {
  for (const auto& include : includes_below("framework/sdk")) {
    const auto part = first_part(include.target);
    EXPECT_FALSE(contains(shared_folders, part) || contains(control_folders, part) ||
                 contains(worker_folders, part))
        << place(include) << "is not part of the SDK";
  }
}

TEST(Layout, DeclaringTierKnowsNeitherKokkosNorTheComputingTier) {
  for (const auto& include : includes_below("framework/sdk/encore")) {
    if (!declaring_tier.contains(include.file.stem().string())) continue;
    EXPECT_FALSE(include.target.starts_with("Kokkos")) << place(include);
    if (first_part(include.target) == "encore") {
      EXPECT_TRUE(declaring_tier.contains(fs::path(include.target).stem().string())) << place(include);
    }
  }
}

TEST(Layout, PluginsIncludeOnlyTheSdkAndTheirOwnFiles) {
  for (const auto& include : includes_below("plugins")) {
    const auto part = first_part(include.target);
    EXPECT_FALSE(contains(shared_folders, part) || contains(control_folders, part) ||
                 contains(worker_folders, part))
        << place(include) << "is not part of the SDK; an outside plugin could not include it";
    EXPECT_FALSE(include.target.find("..") != std::string::npos)
        << place(include) << "reaches into another folder";
  }
}

// docs/reference/plugin_abi.md: objects of a plugin may live until the process ends, in which Kokkos exists
// once.
TEST(Layout, NothingUnloadsAPluginOrGivesItAScopeOfItsOwn) {
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root() / "framework")) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    std::ifstream stream(entry.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    ++seen;
    for (const char* word : {"dlclose", "RTLD_DEEPBIND", "RTLD_GLOBAL", "RTLD_LAZY", "dlmopen"})
      EXPECT_EQ(text.find(word), std::string::npos) << entry.path() << " has " << word;
  }
  EXPECT_GT(seen, 100) << "the test looked at the wrong folder";
}

// record/signal_stack.hpp says why. The others are files of exp, which computes no products.
TEST(Layout, HandlersOfAWorkerRunOnSignalStacks) {
  EXPECT_EQ(files_with("sigaction("),
            (std::set<std::string>{"cli/console.cpp", "cli/job_verb.cpp", "record/crash_line.cpp",
                                   "record/signal_stack.cpp"}));
  EXPECT_TRUE(files_with("SA_ONSTACK").contains("record/crash_line.cpp"));
  // signal() may only ignore a signal or restore its default.
  EXPECT_EQ(files_with("std::signal("), (std::set<std::string>{"cli/program.cpp", "worker/train_verb.cpp"}));
  EXPECT_EQ(files_with(" ::signal("), std::set<std::string>());
  for (const char* file : {"cli/program.cpp", "worker/train_verb.cpp"})
    for (const std::string& action : words_in(file, R"re(std::signal\(\w+, (\w+)\))re"))
      EXPECT_TRUE(action == "SIG_IGN" || action == "SIG_DFL") << file << " installs " << action;
}

// SECURITY.md: only exp serve uses a network. (Boost.Asio has its owner above.)
TEST(Layout, NothingButServeOpensASocket) {
  for (const char* folder : {"framework", "plugins"})
    for (const auto& include : includes_below(folder))
      EXPECT_FALSE(
          (include.target == "sys/socket.h" && !include.file.string().starts_with("framework/serve/")) ||
          include.target.starts_with("netinet/") || include.target == "netdb.h")
          << place(include);
}

/// Returns every `Suite.name` in code marks of a page.
Names tests_named_in(const std::string& page) {
  Names names;
  static const std::regex name("`([A-Z]\\w*\\.[A-Za-z]\\w*)`");
  for (std::sregex_iterator at(page.begin(), page.end(), name), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

/// Suites of tests/bounds, which are named as a whole.
Names bounds_named_in(const std::string& page) {
  Names names;
  static const std::regex name("`([A-Z]\\w*Bounds)`");
  for (std::sregex_iterator at(page.begin(), page.end(), name), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::set<std::string> tests_below(const std::string& folder) {
  std::set<std::string> tests;
  static const std::regex test("TEST(?:_F|_P)?\\(\\s*(\\w+),\\s*(\\w+)\\)");
  for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at)
      tests.insert((*at)[1].str() + "." + (*at)[2].str());
  }
  return tests;
}

// A test that no program contains always passes.
TEST(Layout, EveryTestIsPartOfAProgram) {
  for (const auto& entry : fs::recursive_directory_iterator(root() / "tests")) {
    if (!entry.path().string().ends_with("_test.cpp")) continue;
    bool is_named = false;
    for (fs::path folder = entry.path().parent_path(); folder != root() && !is_named;
         folder = folder.parent_path())
      is_named =
          text_of(folder / "CMakeLists.txt").find(entry.path().filename().string()) != std::string::npos;
    EXPECT_TRUE(is_named) << entry.path() << " is missing in CMakeLists.txt";
  }
}

// A statement about safety needs an existing test.
TEST(Layout, TheTestsThatSecurityNamesExist) {
  const std::set<std::string> tests = tests_below("tests");
  const Names named = tests_named_in(text_of(root() / "SECURITY.md"));
  EXPECT_GT(named.size(), 20u) << "the page names its tests as `Suite.name`";
  for (const std::string& name : named) EXPECT_TRUE(tests.contains(name)) << name << " does not exist";
  for (const std::string& suite : bounds_named_in(text_of(root() / "SECURITY.md"))) {
    const auto first = tests.lower_bound(suite + ".");
    EXPECT_TRUE(first != tests.end() && first->starts_with(suite + ".")) << suite << " has no test";
  }
  EXPECT_FALSE(tests.contains("Layout.SomethingElse")) << "the list can miss something";
}

// Each row of these tables is a promise, and its last cell names the tests that check it.
TEST(Layout, EachPromiseAboutTheNetworkNamesATest) {
  const std::string page = text_of(root() / "SECURITY.md");
  const std::size_t begin = page.find("\n## Requests over the network");
  ASSERT_NE(begin, std::string::npos);
  std::istringstream lines(page.substr(begin, page.find("\n## ", begin + 1) - begin));
  std::size_t promises = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.starts_with("| what |")) continue;
    ++promises;
    const std::string last = line.substr(line.rfind(" | "));
    EXPECT_FALSE(tests_named_in(last).empty()) << line;
  }
  EXPECT_GT(promises, 8u);
}

// Tests the rules themselves, on includes that must be rejected and on some that must be accepted.
TEST(Layout, RulesFindViolations) {
  EXPECT_TRUE(broken_rule("plan", "store/database.hpp"));
  EXPECT_TRUE(broken_rule("store", "train/trainer.hpp"));
  EXPECT_TRUE(broken_rule("train", "store/database.hpp"));
  EXPECT_TRUE(broken_rule("config", "data/encode.hpp"));
  EXPECT_TRUE(broken_rule("base", "config/value.hpp"));
  EXPECT_TRUE(broken_rule("record", "plan/plan.hpp"));
  EXPECT_TRUE(broken_rule("model", "train/trainer.hpp"));
  EXPECT_TRUE(broken_rule("app", "cli/console.hpp"));
  EXPECT_TRUE(broken_rule("cli", "encore/device.hpp"));
  EXPECT_TRUE(broken_rule("runner", "Kokkos_Core.hpp"));
  EXPECT_TRUE(broken_rule("plan", "sqlite3.h"));
  EXPECT_TRUE(broken_rule("cli", "boost/math/distributions/students_t.hpp"));
  EXPECT_TRUE(broken_rule("store", "analysis/statistics.hpp"));
  EXPECT_TRUE(broken_rule("analysis", "document/document.hpp"));
  EXPECT_TRUE(broken_rule("train", "KokkosBlas3_gemm.hpp"));

  EXPECT_FALSE(broken_rule("store", "plan/plan.hpp"));
  EXPECT_FALSE(broken_rule("record", "data/vocabulary.hpp"));
  EXPECT_FALSE(broken_rule("worker", "train/trainer.hpp"));
  EXPECT_FALSE(broken_rule("plan", "encore/options.hpp"));
  EXPECT_FALSE(broken_rule("kernels", "encore/device.hpp"));
  EXPECT_FALSE(broken_rule("store", "sqlite3.h"));
}
