// See bundle_text.hpp.
#include "cli/bundle_text.hpp"

#include <algorithm>
#include <iostream>
#include <map>

#include "bundle/check_bundle.hpp"
#include "cli/exit_code.hpp"
#include "cli/progress_line.hpp"
#include "document/quantity.hpp"
#include "record/source_record.hpp"
#include "report/wording.hpp"
#include "runner/programs.hpp"

namespace encore {

OpenedBundle::OpenedBundle(const std::string& archive) {
  std::error_code missing;
  if (!std::filesystem::exists(archive, missing)) throw UsageError("there is no bundle " + archive);
  ProgressLine progress;
  unpacked_ = std::make_unique<UnpackedBundle>(
      archive, [&](std::size_t done, std::size_t all) { progress.show("unpacked", done, all, "files"); });
  unproved_ = check_bundle(*unpacked_, archive);
}

std::vector<PluginRow> plugins_of(Store& store, const RunRow& run) {
  std::vector<PluginRow> plugins;
  for (AttemptRow& attempt : store.read_attempts(run.number))
    if (!attempt.plugins.empty()) plugins = std::move(attempt.plugins);
  return plugins;
}

std::string bundle_line(const BundleIndex& index) {
  return printable(index.subject) + ", " + counted(index.files.size(), "file") + ", " +
         bytes_text(index.bytes());
}

void print_bundle(std::ostream& out, const std::string& archive, const OpenedBundle& bundle) {
  out << archive << "  " << bundle_line(bundle.unpacked().index()) << "; its parts agree\n";
  if (!bundle.unproved().empty())
    out << "  but the rows of " << printable(listed(bundle.unproved()))
        << " are not proved: a spool is damaged\n";
}

namespace {

std::string changes_text(const std::string& diff) {
  return diff.empty()
             ? ""
             : " with changes in " +
                   counted(static_cast<std::size_t>(std::ranges::count(diff, '\n')), "line") + " of a diff";
}

/// How the source of the runs stands to that of this program.
std::string own_source_text(const SourceVersion& source) {
  const auto own = read_source_record(installed_programs().folder.parent_path());
  if (!own) return "";
  if (own->source == source) return ", as this program";
  if (own->source.commit == source.commit && !source.commit.empty())
    return ", as this program but for changes";
  return "; this program is of " + source_text(own->source);
}

/// The lines of what is there, each with the number of its runs where they differ.
void print_states(std::ostream& out, const char* title, const std::map<std::string, std::size_t>& states) {
  for (const auto& [state, count] : states)
    out << "  " << title << printable(state) << (states.size() > 1 ? " (" + counted(count, "run") + ")" : "")
        << '\n';
}

}  // namespace

void print_code(std::ostream& out, Store& store, const std::vector<RunRow>& runs) {
  std::map<std::string, std::size_t> sources, repositories;
  for (const RunRow& run : runs) {
    const auto attempts = store.read_attempts(run.number);
    if (attempts.empty()) continue;
    const AttemptRow& last = attempts.back();
    const SourceVersion source = last.source.value_or(SourceVersion{});
    ++sources[!last.source            ? "the source of Encore was not recorded"
              : source.commit.empty() ? "Encore from folder " + source.archive + ", SHA-256 " +
                                            source.sha256 + own_source_text(source)
                                      : "Encore at commit " + source.commit + changes_text(source.diff) +
                                            own_source_text(source)];
    ++repositories[last.commit_hash.empty() ? "the experiment file lies in no repository"
                                            : "the experiment's repository at commit " + last.commit_hash +
                                                  changes_text(last.diff)];
  }
  print_states(out, "source   ", sources);
  print_states(out, "code     ", repositories);
}

}  // namespace encore
