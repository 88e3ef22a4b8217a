// SPDX-License-Identifier: BSD-3-Clause
// ExperimentFile is an experiment file as written, merged with its base files, with the overrides of the
// command line beside it. It is neither expanded into runs nor checked yet. app/planned_runs.cpp loads it. A
// change of the rules of merging changes the meaning of existing files. Read next: resolve.hpp for one run,
// plan/ for a sweep.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "config/override.hpp"
#include "config/value.hpp"

namespace encore::config {

/// A file that was read, with its content.
struct SourceFile {
  std::string file;  ///< the path, as places in messages show it
  std::string text;
};

struct ExperimentFile {
  std::filesystem::path file;
  Value root;                       ///< a table; the overrides are not in it
  std::vector<Override> overrides;  ///< from the command line; they replace all values, also those of a sweep
  std::vector<Override> grid = {};  ///< options that the command line varies, instead of the file's sweep
  std::vector<SourceFile> sources = {};  ///< the file itself, then its bases, the nearest first
};

/// Reads a file and its bases. Throws ConfigErrors: file missing or unreadable, not TOML, a base that is
/// missing or inherits itself. Tables of a base and of the nearer file are merged option by option, with
/// these exceptions: a table that names another `type`, a table model.from or distil.teacher, [sweep] and
/// [search] replace those of the base; seeds replace a seed; a name is not inherited.
ExperimentFile load_experiment_file(const std::filesystem::path& file,
                                    const std::vector<std::string>& overrides = {},
                                    const SweepTexts& sweep = {});
/// Works like load_experiment_file() on a string; `name` stands for the file in messages and paths.
ExperimentFile parse_experiment_file(const std::string& text, const std::filesystem::path& name,
                                     const std::vector<std::string>& overrides = {},
                                     const SweepTexts& sweep = {});

/// Sets each override in `root`. It is a problem if its path leads through a value that is not a table.
void apply_overrides(Value& root, const std::vector<Override>& overrides, Problems& problems);

/// Returns every string value of the document, its overrides and its grid. The names of all its types are
/// among them.
std::set<std::string> strings_of(const ExperimentFile& document);

/// Returns `plugin_path` of the document, absolute. Throws ConfigErrors unless all are existing folders.
std::vector<std::filesystem::path> plugin_folders(const ExperimentFile& document);

/// Finds what the base files set and the experiment does not use, because a nearer file replaces it, which is
/// easily overlooked. `exp plan` and `exp run` show the notes; the experiment does not depend on them.
/// Returns one note each, with the places of both sides: a [sweep] or [search] beside that of a nearer file,
/// and options of Encore's own in a [data] whose type a nearer file changes, unless it sets them itself.
/// `sources` are those of an ExperimentFile. Files with invalid TOML have no notes.
std::vector<std::string> unused_tables(const std::vector<SourceFile>& sources);

}  // namespace encore::config
