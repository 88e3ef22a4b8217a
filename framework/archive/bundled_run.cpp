// SPDX-License-Identifier: BSD-3-Clause
// BundledRun: unpacks one run of a bundle for `exp serve` and encore_open. The run is found in the bundle's
// list of files alone, and nothing may be unpacked before, because the archive is untrusted. Read
// bundled_run.hpp first.
#include "archive/bundled_run.hpp"

#include <set>

#include "record/weights_file.hpp"

namespace encore::archive {
namespace {

namespace fs = std::filesystem;

/// Returns the ids of the runs whose parameters are in the bundle. Each path below bundle_runs has a second
/// slash, behind the id: list_bundle() rejects other paths (is_in_place in bundle_index.cpp).
std::set<std::string> runs_with_parameters(const BundleIndex& index) {
  std::set<std::string> ids;
  for (const BundleFile& file : index.files) {
    if (!file.path.starts_with(bundle_runs)) continue;
    const std::string rest = file.path.substr(bundle_runs.size());
    const std::string id = rest.substr(0, rest.find('/')), name = rest.substr(id.size() + 1);
    if (name == record::weights_file || name.starts_with("checkpoints/")) ids.insert(id);
  }
  return ids;
}

/// Returns the folder of the wanted run, with a slash at its end. `choice` says in the message how a user
/// chooses a run.
std::string chosen_folder(const fs::path& archive, const std::string& wanted, const std::string& choice) {
  const std::set<std::string> runs = runs_with_parameters(list_bundle(archive));
  const std::string where = archive.string();
  if (runs.empty())
    throw Error(where + " holds no run with its parameters; make the bundle without --weights none");
  std::set<std::string> meant;
  std::string all;
  for (const std::string& id : runs) {
    all += (all.empty() ? "" : ", ") + id;
    if (id.starts_with(wanted)) meant.insert(id);
  }
  if (meant.size() == 1) return bundle_runs + *meant.begin() + "/";
  if (wanted.empty())
    throw Error(where + " holds " + std::to_string(runs.size()) + " runs with parameters (" + all + "); " +
                choice + " (exp bundle show has their names)");
  throw Error(where + " holds " + (meant.empty() ? "no run" : "more than one run") +
              " whose id begins with \"" + wanted + "\"; it has " + all);
}

}  // namespace

BundledRun::BundledRun(const fs::path& archive, const std::string& wanted, const std::string& choice,
                       const UnpackedBundle::Progress& progress)
    : archive_(archive),
      below_(chosen_folder(archive, wanted, choice)),
      unpacked_(archive, progress, below_) {}

std::string BundledRun::named(std::string message) const {
  const std::string aside = unpacked_.folder().string() + "/", name = archive_.string() + "/";
  for (std::size_t at = message.find(aside); at != std::string::npos;
       at = message.find(aside, at + name.size()))
    message.replace(at, aside.size(), name);
  return message;
}

}  // namespace encore::archive
