// SPDX-License-Identifier: BSD-3-Clause
// The part "commands" of the section "reproduction": the commands that repeat the runs, the runs that others
// start from, and the experiment files as they were. reproduction.cpp calls command_section(), report.cpp
// brief_reproduction_section(). The commands must run as printed. Read sections.hpp first.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/retraining.hpp"
#include "base/sha256.hpp"
#include "base/shell_word.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"
#include "store/lineage.hpp"

namespace encore::report {

namespace {

/// The largest number of experiment files that are shown whole.
constexpr std::size_t most_files = 6;

// --- commands ---

/// Returns the command of a sweep: `exp run sweep.toml --backend openmp -S train.epochs=2`.
std::string run_command(const store::SweepRow& sweep, const std::string& backend) {
  std::vector<std::string> words = {"exp", "run", sweep.file, "--backend", backend};
  for (const std::string& set : sweep.overrides) words.insert(words.end(), {"-S", set});
  for (const std::string& axis : sweep.grid) words.insert(words.end(), {"--grid", axis});
  if (!sweep.seeds.empty()) words.insert(words.end(), {"--seeds", sweep.seeds});
  return shell_command(words) + "\n";
}

// --- runs that others start or learn from ---

struct NeededRun {
  store::RunRow run;       ///< the run that needs another one
  std::string table = {};  ///< names the needed run: "model.from"
  store::ParentRow parent;
};

/// Returns the runs that these runs need, each once for each way.
std::vector<NeededRun> needed_by(const ReportData& data) {
  std::vector<NeededRun> needed;
  std::set<std::string> seen;
  for (const store::RunRow& run : data.runs)
    for (auto& [table, parent] : data.store.read_parents(run))
      if (parent.run && seen.insert(table + " " + parent.run->id + parent.sha256).second)
        needed.push_back({run, table, std::move(parent)});
  std::ranges::stable_sort(needed, {}, [](const NeededRun& one) {
    return one.table == record::pretrained_role ? 0 : one.table == record::teacher_role ? 1 : 2;
  });
  return needed;
}

/// Returns the commands that train the runs named by `{ run = }`, in the order of training. Runs that are
/// named by `{ experiment = }` are trained by their own command.
std::string parent_commands(const ReportData& data) {
  std::string text;
  std::set<std::int64_t> seen;
  std::vector<store::RunRow> runs;
  for (const NeededRun& needed : needed_by(data))
    if (needed.parent.experiment.empty()) runs.push_back(*needed.parent.run);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!seen.insert(runs[i].number).second) continue;
    std::string lines;
    for (const store::SweepRow& sweep : store::RunBatch(data.store, {runs[i]}).sweeps())
      if (!sweep.file.empty()) lines += run_command(sweep, runs[i].backend);
    if (text.find(lines) == std::string::npos) text = lines + text;
    for (const auto& [table, parent] : data.store.read_parents(runs[i]))
      if (parent.run && parent.experiment.empty()) runs.push_back(*parent.run);
  }
  return text;
}

std::optional<document::Block> starts_block(const ReportData& data) {
  constexpr std::size_t most = 10;
  const std::vector<NeededRun> starts = needed_by(data);
  if (starts.empty()) return std::nullopt;
  document::ItemList list;
  for (std::size_t i = 0; i < std::min(most, starts.size()); ++i) {
    const auto& [run, table, parent] = starts[i];
    list.items.push_back(run.name +
                         (table == record::pretrained_role ? " starts from the weights of "
                          : table == record::teacher_role  ? " learns from the scores of "
                                                           : " asks the model of ") +
                         parent.run->name + " (" + parent.run->id + ")" +
                         (parent.sha256.empty() ? std::string() : ", SHA-256 " + parent.sha256) +
                         (parent.experiment.empty() ? ", which has to be trained before it under that name."
                                                    : ", which exp run trains first."));
  }
  if (starts.size() > most)
    list.items.push_back(counted(starts.size() - most, "more run") +
                         " of other weights: exp show RUN says which.");
  return list;
}

/// Returns the comparison of each run that retrains another one, and whether it replaced that run.
std::optional<document::Block> retraining_block(const ReportData& data) {
  constexpr std::size_t most = 10;
  document::ItemList list;
  for (const store::RunRow& run : data.runs) {
    if (list.items.size() == most) break;
    const nlohmann::json retrained = data.setting(run, store::retrains_key(run));
    if (retrained.is_null()) continue;
    const std::optional<store::RunRow> before = store::retrained_by(data.store, run);
    std::string text = run.name + " retrains " +
                       (before ? before->name + " (" + before->id + ")" : retrained.get<std::string>());
    const nlohmann::json recorded = store::read_retraining(data.store, run);
    if (recorded.is_null())
      text += "; it was not compared with it yet";
    else
      for (const std::string& sentence : analysis::sentences(analysis::retraining_in(recorded)))
        text += "; " + sentence;
    list.items.push_back(text + ".");
  }
  if (list.items.empty()) return std::nullopt;
  return list;
}

/// Returns the command that verifies all runs: by their names or, if these are more than `most_named`, by the
/// names of their sweeps. Every run is named if a sweep has runs that are not in the report, or if a run has
/// the name of a sweep, which would mean the run.
std::string verify_commands(const ReportData& data, std::size_t most_named) {
  std::set<std::string> sweeps, names;
  for (const store::SweepRow& sweep : data.sweeps) sweeps.insert(sweep.name);
  bool is_clear = !sweeps.empty() && data.beside == 0;
  for (const store::RunRow& run : data.runs) {
    names.insert(run.name);
    is_clear = is_clear && !sweeps.contains(run.name);
  }
  const bool by_sweep = is_clear && data.runs.size() > most_named;
  std::vector<std::string> words = {"exp", "verify"};
  words.insert(words.end(), (by_sweep ? sweeps : names).begin(), (by_sweep ? sweeps : names).end());
  return shell_command(words) + (data.runs.size() > 1 ? "  # all these runs" : "") + "\n";
}

document::Listing command_listing(const ReportData& data, std::size_t most_named) {
  std::set<std::string> commits, backends;
  for (const auto& [run, attempts] : data.attempts)
    for (const store::AttemptRow& attempt : attempts)
      if (attempt.source) commits.insert(attempt.source->commit);
  for (const store::RunRow& run : data.runs) backends.insert(run.backend);
  std::string text;
  if (commits.size() == 1 && record::is_commit_hash(*commits.begin()))
    text += shell_command({"git", "checkout", *commits.begin()}) + "  # in a clone of Encore\n";
  text += parent_commands(data);
  for (const store::SweepRow& sweep : data.sweeps) {
    if (sweep.file.empty()) continue;
    for (const std::string& backend : backends) {
      const std::string line = run_command(sweep, backend);
      if (text.find(line) == std::string::npos) text += line;
    }
  }
  return {"sh", text + verify_commands(data, most_named), "Commands"};
}

/// A file that the commands need, with its recorded content.
struct AttachedFile {
  std::string name, text, when;
  enum class Kind : std::uint8_t { own, parent, base } kind = Kind::own;
};

/// Returns each file once: experiment files, each followed by its bases.
std::vector<AttachedFile> files_of(const ReportData& data) {
  std::vector<AttachedFile> files;
  std::set<std::pair<std::string, std::string>> seen;
  using Kind = AttachedFile::Kind;
  for (const Kind kind : {Kind::own, Kind::parent, Kind::base})
    for (const store::SweepRow& sweep : data.sweeps) {
      const std::string when = utc_text(sweep.created);
      if (kind == Kind::own && !sweep.content.empty() && seen.emplace(sweep.file, sweep.content).second)
        files.push_back({sweep.file, sweep.content, when});
      if (kind == Kind::own) continue;
      for (const auto& [name, text] : kind == Kind::parent ? sweep.parents : sweep.bases)
        if (seen.emplace(name, text).second) files.push_back({name, text, when, kind});
    }
  return files;
}

/// Returns whether an experiment file has a base that was not recorded, as in earlier versions.
bool lacks_base(const ReportData& data) {
  return std::any_of(data.sweeps.begin(), data.sweeps.end(), [](const store::SweepRow& sweep) {
    const std::string text = "\n" + sweep.content;
    return sweep.bases.empty() &&
           (text.find("\nbase ") != std::string::npos || text.find("\nbase=") != std::string::npos);
  });
}

void add_file(const AttachedFile& file, std::vector<document::Block>& blocks) {
  static const std::map<AttachedFile::Kind, std::string> titles = {
      {AttachedFile::Kind::own, "The experiment file "},
      {AttachedFile::Kind::parent, "The file of a run from which others start, "},
      {AttachedFile::Kind::base, "The base file "}};
  blocks.push_back(document::Paragraph{
      document::Text({{titles.at(file.kind)}, code(file.name), {" as it was on " + file.when + ":"}})});
  blocks.push_back(document::Listing{"toml", file.text, file.name});
}

/// Appends "corpus/dev.conll (114cc5f95d1d9cfb)" to the spans, after a comma if there are any.
void add_hashed(const std::string& name, const std::string& sha256, std::vector<document::Span>& spans) {
  if (!spans.empty()) spans.push_back({", "});
  spans.push_back(code(name));
  spans.push_back({" (" + sha256.substr(0, 16) + ")"});
}

}  // namespace

document::Section command_section(const ReportData& data) {
  document::Section section{"commands", "Commands"};
  section.blocks.push_back(document::Paragraph{
      "These commands train the runs, with the files below under their names and data with the same "
      "SHA-256; the last "
      "trains them again and compares every digest:"});
  section.blocks.push_back(command_listing(data, 5));
  for (std::optional<document::Block> block : {starts_block(data), retraining_block(data)})
    if (block) section.blocks.push_back(std::move(*block));
  const std::vector<AttachedFile> files = files_of(data);
  for (std::size_t i = 0; i < std::min(most_files, files.size()); ++i) add_file(files[i], section.blocks);
  if (files.size() > most_files)
    section.blocks.push_back(document::Notice{counted(files.size() - most_files, "more experiment file") +
                                              " are in the database (table sweep)."});
  if (lacks_base(data))
    section.blocks.push_back(document::Paragraph{
        document::Text({{"A file that "},
                        code("base"),
                        {" names was not recorded with these runs: its settings stand with all others in "},
                        reference("", "settings"),
                        {"."}})});
  return section;
}

document::Section brief_reproduction_section(const ReportData& data) {
  constexpr std::ptrdiff_t most_lines = 40;
  document::Section section{"reproduction", "How to do it again"};
  section.blocks.push_back(command_listing(data, 1));
  constexpr std::size_t most_spans = 24;
  std::vector<document::Span> bases, files;
  for (const AttachedFile& file : files_of(data)) {
    const bool first = section.blocks.size() == 1;
    if (first && file.kind == AttachedFile::Kind::own &&
        std::count(file.text.begin(), file.text.end(), '\n') <= most_lines)
      add_file(file, section.blocks);
    else if (bases.size() < most_spans)
      add_hashed(file.name, sha256(file.text), bases);
  }
  std::set<std::string> seen;
  for (const store::RunRow& run : data.runs)
    if (const auto own = data.datasets.find(run.number); own != data.datasets.end())
      for (const store::DatasetRow& file : own->second)
        if (files.size() < most_spans && seen.insert(file.sha256).second)
          add_hashed(config::setting_text(file.path), file.sha256, files);
  if (!bases.empty()) {
    bases.insert(bases.begin(), {"It needs "});
    bases.push_back({", which the full report attaches."});
    section.blocks.push_back(document::Paragraph{document::Text(std::move(bases))});
  }
  if (!files.empty()) {
    files.insert(files.begin(), {"Data, with the first digits of their SHA-256: "});
    files.push_back({"."});
    section.blocks.push_back(document::Paragraph{document::Text(std::move(files))});
  }
  return section;
}

}  // namespace encore::report
