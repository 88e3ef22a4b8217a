// How to do it again and how to see that it is the same: commands, experiment files, digests, verdicts; and
// what was not recorded.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/shell_word.hpp"
#include "data/hash.hpp"
#include "report/retraining.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"
#include "store/lineage.hpp"

namespace encore {

namespace {

/// Experiment files shown whole.
constexpr std::size_t most_files = 6;

std::string quoted(const std::string& text) {
  const bool plain =
      !text.empty() &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,+:") ==
          std::string::npos;
  return plain ? text : shell_word(text);
}

// --- commands ---

/// `exp run sweep.toml --backend openmp -S train.epochs=2`
std::string run_command(const SweepRow& sweep, const std::string& backend) {
  std::string line = "exp run " + quoted(sweep.file) + " --backend " + quoted(backend);
  for (const std::string& set : sweep.overrides) line += " -S " + quoted(set);
  for (const std::string& axis : sweep.grid) line += " --grid " + quoted(axis);
  if (!sweep.seeds.empty()) line += " --seeds " + quoted(sweep.seeds);
  return line + "\n";
}

// --- runs that others start or learn from ---

struct NeededRun {
  RunRow run;  ///< that needs it
  Need need = Need::start;
  ParentRow parent;
};

/// What these runs need of others, each once.
std::vector<NeededRun> needed_by(const Material& material) {
  std::vector<NeededRun> needed;
  std::set<std::string> seen;
  for (const auto& [need, table] : {std::pair(Need::start, std::string("model.from.")),
                                    std::pair(Need::teacher, std::string("distil.teacher."))})
    for (const RunRow& run : material.runs) {
      if (material.setting(run, table + "run").is_null() &&
          material.setting(run, table + "question").is_null())
        continue;
      std::optional<ParentRow> parent = material.store.read_parent(run, need);
      if (parent && parent->run && seen.insert(table + parent->run->id + parent->sha256).second)
        needed.push_back({run, need, std::move(*parent)});
    }
  return needed;
}

/// The commands that train what these runs name by `{ run = }`, the first to be trained first. What they name
/// by `{ experiment = }` their own command trains.
std::string parent_commands(const Material& material) {
  std::string text;
  std::set<std::int64_t> seen;
  std::vector<RunRow> runs;
  for (const NeededRun& needed : needed_by(material))
    if (needed.parent.experiment.empty()) runs.push_back(*needed.parent.run);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!seen.insert(runs[i].number).second) continue;
    std::string lines;
    for (const SweepRow& sweep : RunBatch(material.store, {runs[i]}).sweeps())
      if (!sweep.file.empty()) lines += run_command(sweep, runs[i].backend);
    if (text.find(lines) == std::string::npos) text = lines + text;
    for (const Need need : {Need::start, Need::teacher})
      if (const auto parent = material.store.read_parent(runs[i], need);
          parent && parent->run && parent->experiment.empty())
        runs.push_back(*parent->run);
  }
  return text;
}

std::optional<Block> starts_block(const Material& material) {
  constexpr std::size_t most = 10;
  const std::vector<NeededRun> starts = needed_by(material);
  if (starts.empty()) return std::nullopt;
  ItemList list;
  for (std::size_t i = 0; i < std::min(most, starts.size()); ++i) {
    const auto& [run, need, parent] = starts[i];
    list.items.push_back(
        run.name + (need == Need::teacher ? " learns from the scores of " : " starts from the weights of ") +
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

/// What each run that retrains another one was compared on, and whether it took its place.
std::optional<Block> retraining_block(const Material& material) {
  constexpr std::size_t most = 10;
  ItemList list;
  for (const RunRow& run : material.runs) {
    if (list.items.size() == most) break;
    if (material.setting(run, "train.retrains").is_null()) continue;
    const std::optional<RunRow> before = retrained_by(material.store, run);
    std::string text = run.name + " retrains " +
                       (before ? before->name + " (" + before->id + ")"
                               : material.setting(run, "train.retrains").get<std::string>());
    const nlohmann::json recorded = read_retraining(material.store, run);
    if (recorded.is_null())
      text += "; it was not compared with it yet";
    else
      for (const std::string& sentence : sentences(retraining_in(recorded))) text += "; " + sentence;
    list.items.push_back(text + ".");
  }
  if (list.items.empty()) return std::nullopt;
  return list;
}

Listing command_listing(const Material& material, std::size_t most_verified) {
  std::set<std::string> commits, backends;
  for (const auto& [run, attempts] : material.attempts)
    for (const AttemptRow& attempt : attempts)
      if (!attempt.commit_hash.empty()) commits.insert(attempt.commit_hash);
  for (const RunRow& run : material.runs) backends.insert(run.backend);
  std::string text;
  if (commits.size() == 1) text += "git checkout " + *commits.begin() + "\n";
  text += parent_commands(material);
  for (const SweepRow& sweep : material.sweeps) {
    if (sweep.file.empty()) continue;
    for (const std::string& backend : backends) {
      const std::string line = run_command(sweep, backend);
      if (text.find(line) == std::string::npos) text += line;
    }
  }
  for (std::size_t i = 0; i < std::min(most_verified, material.runs.size()); ++i)
    text += "exp verify " + quoted(material.runs[i].name) + "\n";
  if (material.runs.size() > most_verified)
    text += "# and so on, for each of " + std::to_string(material.runs.size()) + " runs\n";
  return {"sh", text, "Commands"};
}

/// A file that has to be there, as it was.
struct AttachedFile {
  std::string name, text, when;
  enum class Kind : std::uint8_t { own, parent, base } kind = Kind::own;
};

/// Each file once: experiment files, and behind them what they build on.
std::vector<AttachedFile> files_of(const Material& material) {
  std::vector<AttachedFile> files;
  std::set<std::pair<std::string, std::string>> seen;
  using Kind = AttachedFile::Kind;
  for (const Kind kind : {Kind::own, Kind::parent, Kind::base})
    for (const SweepRow& sweep : material.sweeps) {
      const std::string when = utc_text(sweep.created);
      if (kind == Kind::own && !sweep.content.empty() && seen.emplace(sweep.file, sweep.content).second)
        files.push_back({sweep.file, sweep.content, when});
      if (kind == Kind::own) continue;
      for (const auto& [name, text] : kind == Kind::parent ? sweep.parents : sweep.bases)
        if (seen.emplace(name, text).second) files.push_back({name, text, when, kind});
    }
  return files;
}

/// Whether an experiment file builds on one that was not recorded, as versions before this one did not.
bool lacks_base(const Material& material) {
  return std::any_of(material.sweeps.begin(), material.sweeps.end(), [](const SweepRow& sweep) {
    const std::string text = "\n" + sweep.content;
    return sweep.bases.empty() &&
           (text.find("\nbase ") != std::string::npos || text.find("\nbase=") != std::string::npos);
  });
}

void add_file(const AttachedFile& file, std::vector<Block>& blocks) {
  static const std::map<AttachedFile::Kind, std::string> titles = {
      {AttachedFile::Kind::own, "The experiment file "},
      {AttachedFile::Kind::parent, "The file of a run from which others start, "},
      {AttachedFile::Kind::base, "The base file "}};
  blocks.push_back(
      Paragraph{Text({{titles.at(file.kind)}, code(file.name), {" as it was on " + file.when + ":"}})});
  blocks.push_back(Listing{"toml", file.text, file.name});
}

Section command_section(const Material& material) {
  Section section{"commands", "Commands"};
  section.blocks.push_back(
      Paragraph{"What trains these runs, from the files below under their names and data with the same "
                "SHA-256; and what "
                "trains one again and compares every digest:"});
  section.blocks.push_back(command_listing(material, 5));
  for (std::optional<Block> block : {starts_block(material), retraining_block(material)})
    if (block) section.blocks.push_back(std::move(*block));
  const std::vector<AttachedFile> files = files_of(material);
  for (std::size_t i = 0; i < std::min(most_files, files.size()); ++i) add_file(files[i], section.blocks);
  if (files.size() > most_files)
    section.blocks.push_back(Notice{counted(files.size() - most_files, "more experiment file") +
                                    " are in the database (table sweep)."});
  if (lacks_base(material))
    section.blocks.push_back(Paragraph{
        Text({{"A file that "},
              code("base"),
              {" names was not recorded with these runs: what it sets stands with all other settings in "},
              reference("", "settings"),
              {"."}})});
  return section;
}

/// The digest of the parameters after the last step that has one.
const DigestRow* parameters_of(const RunBatch::ByRun<DigestRow>& digests, std::int64_t run) {
  const auto own = digests.find(run);
  if (own == digests.end()) return nullptr;
  for (const DigestRow& digest : own->second)
    if (digest.scope == "parameters") return &digest;
  return nullptr;
}

std::string verdict(const VerificationRow& verification) {
  if (verification.outcome == "equal") return "equal bits";
  std::string text = verification.outcome;
  if (verification.first_step) text += ", first at step " + std::to_string(*verification.first_step);
  return text + (verification.scope.empty() ? "" : " in " + verification.scope);
}

Section digest_section(const Material& material) {
  Section section{"digests", "Digests and verdicts"};
  RunBatch batch(material.store, material.runs);
  const auto digests = batch.last_digests();
  const auto counts = batch.digest_counts();
  TableBlock table;
  table.id = "digests-table";
  table.caption =
      "SHA-256 of all parameters after the last recorded step of each run, how many digests it has to be "
      "compared with, and the newest verdict of exp verify.";
  table.columns = {{"run", "", false},
                   {"step", "", true},
                   {"SHA-256 of the parameters", "", false},
                   {"digests", "", true}};
  // A page shows enough to compare by eye, and no columns that are empty.
  const bool whole = material.complete(), with_verdicts = whole || !material.verifications.empty();
  if (with_verdicts)
    table.columns.insert(table.columns.end(),
                         {{"verdict", "", false}, {"verified", "", false}, {"agreeing", "", true}});
  else
    table.notes.push_back("None of these runs was verified.");
  const std::size_t digits = whole ? std::string::npos : 16;
  if (!whole) table.notes.push_back("The first 16 digits; the CSV and JSON of this report have all 64.");
  const std::size_t shown = material.rows_of(material.runs.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const RunRow& run = material.runs[i];
    const DigestRow* digest = parameters_of(digests, run.number);
    const auto count = counts.find(run.number);
    const auto own = material.verifications.find(run.number);
    const VerificationRow* last = own == material.verifications.end() ? nullptr : &own->second.back();
    const nlohmann::json compared = last != nullptr && last->details.is_object()
                                        ? last->details.value("compared", nlohmann::json::object())
                                        : nlohmann::json::object();
    const nlohmann::json agreeing = compared.value("agreeing", nlohmann::json());
    table.rows.push_back(
        {run.name, digest == nullptr ? TableCell() : count_cell(digest->step),
         digest == nullptr ? TableCell("not recorded") : code_cell(digest->value.substr(0, digits)),
         count_cell(count == counts.end() ? 0 : count->second)});
    if (!with_verdicts) continue;
    std::vector<TableCell>& row = table.rows.back();
    row.push_back(last == nullptr ? TableCell("not verified") : TableCell(verdict(*last)));
    row.push_back(last == nullptr ? TableCell() : TableCell(utc_text(last->time)));
    row.push_back(agreeing.is_number_integer() ? count_cell(agreeing.get<std::int64_t>()) : TableCell());
  }
  if (shown < material.runs.size())
    table.notes.push_back(counted(material.runs.size() - shown, "more run") +
                          " are in the CSV and JSON of this report.");
  section.blocks.push_back(std::move(table));
  return section;
}

// --- what is not there ---

/// How many of the runs that were begun fulfil a condition; empty text where none does.
std::string lacking(const Material& material, const std::string& what, const auto& lacks) {
  std::size_t count = 0, begun = 0;
  for (const RunRow& run : material.runs) {
    if (run.attempts == 0) continue;
    ++begun;
    if (lacks(run)) ++count;
  }
  if (count == 0) return "";
  return what + ": of " + (count == begun ? "all " : thousands(static_cast<std::int64_t>(count)) + " of ") +
         counted(begun, "run") + " that were begun.";
}

Section missing_section(const Material& material) {
  Section section{"not-recorded", "What was not recorded"};
  const auto attempts = [&](const RunRow& run) -> const std::vector<AttemptRow>& {
    static const std::vector<AttemptRow> none;
    const auto own = material.attempts.find(run.number);
    return own == material.attempts.end() ? none : own->second;
  };
  const auto any = [&](const RunRow& run, const auto& holds) {
    return std::any_of(attempts(run).begin(), attempts(run).end(), holds);
  };
  const auto lacks = [&](const RunRow& run, auto member) {
    const Started* started = material.started(run);
    return started == nullptr || !(started->*member).has_value();
  };
  ItemList list;
  for (const std::string& text :
       {lacking(material, "The commit of the source",
                [&](const RunRow& run) {
                  return any(run, [](const AttemptRow& attempt) { return attempt.commit_hash.empty(); });
                }),
        lacking(material, "The numeric environment",
                [&](const RunRow& run) {
                  return any(run, [](const AttemptRow& attempt) { return !attempt.environment.is_object(); });
                }),
        lacking(material, "When an attempt ended",
                [&](const RunRow& run) {
                  return run.state != RunState::running &&
                         any(run, [](const AttemptRow& attempt) { return !attempt.finished; });
                }),
        lacking(material, "The number of parameters",
                [&](const RunRow& run) { return lacks(run, &Started::parameters); }),
        lacking(material, "The size of the vocabulary",
                [&](const RunRow& run) { return lacks(run, &Started::vocabulary_size); }),
        lacking(material, "Lengths and labels of the data",
                [&](const RunRow& run) {
                  const SetFacts* train = material.facts(run, "train");
                  return train == nullptr || train->lengths.counts.empty();
                }),
        lacking(material, "Predictions",
                [&](const RunRow& run) {
                  const auto own = material.artifacts.find(run.number);
                  return run.state == RunState::completed &&
                         (own == material.artifacts.end() ||
                          std::none_of(own->second.begin(), own->second.end(), [](const ArtifactRow& file) {
                            return file.name.starts_with("predictions/");
                          }));
                }),
        lacking(material, "A spool that could be read to its end", [&](const RunRow& run) {
          return any(run, [](const AttemptRow& attempt) { return !attempt.spool_problem.empty(); });
        })})
    if (!text.empty()) list.items.push_back(text);
  list.items.push_back("Licences of the data, and the energy that was used: no run records them.");
  section.blocks.push_back(std::move(list));
  return section;
}

/// "corpus/dev.conll (114cc5f95d1d9cfb)", behind what stands there already.
void add_hashed(const std::string& name, const std::string& sha256, std::vector<Span>& spans) {
  if (!spans.empty()) spans.push_back({", "});
  spans.push_back(code(name));
  spans.push_back({" (" + sha256.substr(0, 16) + ")"});
}

}  // namespace

Section brief_reproduction_section(const Material& material) {
  constexpr std::ptrdiff_t most_lines = 40;
  Section section{"reproduction", "How to do it again"};
  section.blocks.push_back(command_listing(material, 1));
  constexpr std::size_t most_spans = 24;
  std::vector<Span> bases, data;
  for (const AttachedFile& file : files_of(material)) {
    const bool first = section.blocks.size() == 1;
    if (first && file.kind == AttachedFile::Kind::own &&
        std::count(file.text.begin(), file.text.end(), '\n') <= most_lines)
      add_file(file, section.blocks);
    else if (bases.size() < most_spans)
      add_hashed(file.name, sha256(file.text), bases);
  }
  std::set<std::string> seen;
  for (const RunRow& run : material.runs)
    if (const auto own = material.datasets.find(run.number); own != material.datasets.end())
      for (const DatasetRow& file : own->second)
        if (data.size() < most_spans && seen.insert(file.sha256).second)
          add_hashed(setting_text(file.path), file.sha256, data);
  if (!bases.empty()) {
    bases.insert(bases.begin(), {"It needs "});
    bases.push_back({", which the full report attaches."});
    section.blocks.push_back(Paragraph{Text(std::move(bases))});
  }
  if (!data.empty()) {
    data.insert(data.begin(), {"Data, with the first digits of their SHA-256: "});
    data.push_back({"."});
    section.blocks.push_back(Paragraph{Text(std::move(data))});
  }
  return section;
}

Section reproduction_section(const Material& material) {
  Section section{"reproduction", "Reproduction"};
  section.sections = {command_section(material), digest_section(material), missing_section(material)};
  return section;
}

}  // namespace encore
