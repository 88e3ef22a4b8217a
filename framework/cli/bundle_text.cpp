// See bundle_text.hpp.
#include "cli/bundle_text.hpp"

#include <algorithm>
#include <iostream>
#include <map>

#include "bundle/check_bundle.hpp"
#include "cli/exit_code.hpp"
#include "cli/progress_line.hpp"
#include "cli/recorded_build.hpp"
#include "document/quantity.hpp"
#include "report/wording.hpp"
#include "runner/code_state.hpp"

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

void print_code(std::ostream& out, Store& store, const std::vector<RunRow>& runs) {
  std::map<std::pair<std::string, std::string>, std::size_t> codes;
  for (const RunRow& run : runs)
    if (const auto attempts = store.read_attempts(run.number); !attempts.empty())
      ++codes[{attempts.back().commit_hash, attempts.back().diff}];
  const std::filesystem::path tree = own_source_tree();
  const CodeState own = tree.empty() ? CodeState() : read_code_state(tree);
  for (const auto& [code, count] : codes) {
    const auto& [commit, diff] = code;
    out << "  code     " << (commit.empty() ? "no commit was recorded" : "commit " + printable(commit));
    if (!diff.empty()) out << " with changes in " << std::ranges::count(diff, '\n') << " lines of a diff";
    if (codes.size() > 1) out << " (" << counted(count, "run") << ")";
    if (!commit.empty() && !own.commit.empty())
      out << (own.commit != commit           ? "; this program's tree is at " + own.commit.substr(0, 12)
              : own.changed || !diff.empty() ? "; so is this program's tree, but for changes"
                                             : ", as this program's tree");
    out << '\n';
  }
}

}  // namespace encore
