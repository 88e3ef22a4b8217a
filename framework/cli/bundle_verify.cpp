// SPDX-License-Identifier: BSD-3-Clause
// exp verify BUNDLE: lists what is missing on this machine, or verifies the runs in a separate folder like
// the user's own runs. It is linked into the program exp-report, which verify_verb.cpp starts in the place
// of exp. The flow: unpack and check -> select the runs -> find their data, plugins and code -> list what is
// missing, or verify. A bundle may come from a stranger, so its data are only read, and nothing in it is
// executed. The only exception is the recorded diff of Encore, which --build --with-diff applies and builds
// (app/recorded_build.hpp). All of this must stay so.
#include <algorithm>

#include "app/planned_search.hpp"
#include "app/recorded_build.hpp"
#include "bundle/check_bundle.hpp"
#include "bundle/found_data.hpp"
#include "cli/bundle_text.hpp"
#include "cli/components.hpp"
#include "cli/verify_screen.hpp"
#include "config/catalogue.hpp"
#include "runner/parent_weights.hpp"
#include "runner/programs.hpp"
#include "runner/worker_process.hpp"

namespace encore::cli {

namespace {

namespace fs = std::filesystem;

/// Returns the folders of --data, else the current folder and the tree of this program.
std::vector<fs::path> data_folders(const app::VerifyRequest& request) {
  std::vector<fs::path> folders;
  for (const std::string& name : request.data) {
    if (!fs::is_directory(name)) throw app::UsageError("--data " + name + " is not a folder");
    folders.push_back(fs::absolute(name));
  }
  if (!folders.empty()) return folders;
  folders.push_back(fs::current_path());
  if (const fs::path tree = app::own_source_tree(); !tree.empty()) folders.push_back(tree);
  return folders;
}

/// Lists what the runs need and this machine does not have, one item on each line.
class Missing {
 public:
  Missing(store::Store& store, bundle::FoundData& data) : store_(store), data_(data) {}

  /// Looks for everything that the runs need. Throws Error with a list if anything is missing.
  void require_nothing(const app::VerifyRequest& request, const std::vector<store::RunRow>& runs) {
    for (const store::RunRow& run : runs) {
      look_for_data(run);
      look_for_plugins(request, run);
    }
    if (!lines_.empty()) fail();
  }

  /// Returns the path of the file on this machine, or nothing.
  std::optional<fs::path> place_of(const record::DataFile& file) {
    const fs::path runs = store_.runs_folder();  // the bundle has the weights of parents in folders of runs
    const fs::path relative = fs::path(file.path).lexically_relative(runs);
    if (!relative.empty() && *relative.begin() != ".." && fs::exists(file.path)) return file.path;
    return data_.find(file);
  }

 private:
  void look_for_data(const store::RunRow& run) {
    if (run.attempts == 0) return;
    record::Specification specification = record::Specification::load(store_.run_folder(run.id));
    runner::find_parent_files(store_, run, specification);
    for (const auto& [role, file] : specification.data)
      if (!place_of(file))
        add("data: " + role + " of run " + run.name + ", SHA-256 " + file.sha256 + ", recorded at " +
            file.path);
  }

  void look_for_plugins(const app::VerifyRequest& request, const store::RunRow& run) {
    const runner::Programs programs = runner::installed_programs();
    const std::string backend = request.backend.value_or(run.backend);
    const config::Catalogue catalogue =
        config::Catalogue::load(runner::plugin_search_path({}, request.plugin_path, programs, backend),
                                runner::fingerprint_of(programs, backend));
    for (const store::PluginRow& plugin : plugins_of(store_, run))
      if (std::ranges::find(catalogue.manifests(), plugin.name, &config::Manifest::name) ==
          catalogue.manifests().end())
        add("plugin: \"" + plugin.name + "\" " + plugin.version + " of run " + run.name +
            "; build it from its sources and pass its folder with --plugin-path");
  }

  [[noreturn]] void fail() const {
    std::string text = "this machine lacks files that the bundle needs:";
    for (const std::string& one : lines_) text += "\n  " + printable(one);
    throw Error(
        text + "\nData are searched in the bundle and, by the ends of these paths, in the folders of --data");
  }

  void add(const std::string& text) {
    if (std::ranges::find(lines_, text) == lines_.end()) lines_.push_back(text);
  }

  store::Store& store_;
  bundle::FoundData& data_;
  std::vector<std::string> lines_;
};

/// Returns the runs that the words after the file select.
store::SelectedRuns meant_runs(store::Store& store, const store::RunSelection& selection) {
  store::SelectedRuns selected = store::select_runs(store, selection);
  if (selected.runs.empty()) throw store::UnknownRun(app::none_text(store, selection, selected));
  // A run that was never trained has nothing to compare with.
  const bool named = selected.named;
  std::erase_if(selected.runs,
                [&](const store::RunRow& run) { return !named && store.read_digests(run.number).empty(); });
  if (selected.runs.empty()) throw Error("no run of the bundle was trained, so there are no digests");
  return selected;
}

/// Runs the same command with the built program, which unpacks the bundle itself, and returns its exit code.
int run_again_with(const fs::path& program, const Arguments& arguments) {
  Arguments others = {"verify"};
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--build" || word == "--with-diff" || word.starts_with("--clone=")) continue;
    if (word == "--clone")
      ++at;
    else
      others.push_back(word);
  }
  const runner::ProcessEnd end = runner::run_attached(program, others);
  return end.signal == 0 ? end.exit_code : exit_failed;
}

int verify_with_recorded(const app::VerifyRequest& request, const app::App& app, store::Store& store,
                         const std::vector<store::RunRow>& runs, const Arguments& arguments) {
  const app::RecordedBuild build{.clone = request.clone.value_or(""),
                                 .backend = request.backend.value_or(runs.front().backend),
                                 .with_diff = request.with_diff};
  return run_again_with(app::build_recorded(app::recorded_code(store, runs), build, app), arguments);
}

/// Replaces the temporary folder in the text by the bundle, because the folder is removed afterwards.
std::string with_archive(std::string text, const archive::UnpackedBundle& bundle,
                         const std::string& archive) {
  for (const std::string& gone : {bundle.database().string(), bundle.folder().string()})
    for (std::size_t at = text.find(gone); at != std::string::npos; at = text.find(gone, at + archive.size()))
      text.replace(at, gone.size(), archive);
  return text;
}

int verify_opened(const app::VerifyRequest& request, const app::App& app, Console& console,
                  const Arguments& arguments, const OpenedBundle& bundle,
                  const std::vector<std::string>& words) {
  store::Store store(bundle.unpacked().database(), store::OpenMode::write);
  if (request.keep) bundle.keep();

  if (const auto search = app::named_search(store, words))
    return write_search_verdict(console, store, *search, request.json);
  const store::RunSelection selection = app::selection_from(request.selection, words);
  const store::SelectedRuns selected = meant_runs(store, selection);
  if (request.build) return verify_with_recorded(request, app, store, selected.runs, arguments);

  bundle::FoundData data(bundle.unpacked().folder(), data_folders(request));
  Missing missing(store, data);
  missing.require_nothing(request, selected.runs);
  const bool silent = request.quiet || request.json;
  if (!silent) {
    print_bundle(console, bundle, store, selected.runs, true);
    console.out << std::endl;
  }
  int exit_code = exit_done;  // the worst of the verdicts of searches
  // The decisions of a search first: nothing is trained for them.
  if (words.empty() && !selection.narrows() && !request.json)
    for (const store::SearchRow& row : store::list_searches(store))
      exit_code = std::max(exit_code, write_search_verdict(console, store, row, false));
  const bool one = app::asks_for_one(selection, selected) || selected.runs.size() == 1;
  const int verified = VerifyScreen(request, console)
                           .run(app, store, selected.runs, one,
                                [&](const store::RunRow&, record::Specification& specification) {
                                  specification.plugin_folders.clear();  // a stranger chose them
                                  for (auto& [role, file] : specification.data)
                                    if (const auto place = missing.place_of(file))
                                      file.path = place->string();
                                });
  if (request.report) write_bundle_report(console, store, *request.report, silent);
  if (verified == exit_failed) bundle.keep();  // a message names the folder of a worker that failed in it
  return verified == exit_done ? exit_code : verified;
}

int verify(const app::VerifyRequest& request, const app::App& app, Console& console,
           const Arguments& arguments) {
  std::vector<std::string> words = request.selection.runs;
  const std::string archive = words.front();
  words.erase(words.begin());
  const OpenedBundle bundle(app.events, archive, request.plugin_path);
  try {
    return verify_opened(request, app, console, arguments, bundle, words);
  } catch (const config::ConfigErrors&) {
    throw;
  } catch (const Error& error) {
    throw Error(with_archive(error.what(), bundle.unpacked(), archive));
  }
}

}  // namespace

Verb verify_of_component() {
  return {.name = "verify",
          .summary = "",  // exp lists the verb, with the summary of verify_verb.cpp
          .run =
              [](const Arguments& arguments, Console& console) {
                return run_bound(app::verify_form(), arguments, console,
                                 [&](const app::VerifyRequest& request, app::App& app, Console&) {
                                   return verify(request, app, console, arguments);
                                 });
              },
          .form = [] { return app::verify_form(); }};
}

}  // namespace encore::cli
