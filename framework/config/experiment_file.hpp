// ExperimentFile: an experiment file as written, its base files merged below it, and the overrides of the
// command line beside it; not yet expanded into runs and not yet checked. Read next: resolve.hpp for one run,
// plan/ for a sweep.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "config/override.hpp"
#include "config/value.hpp"

namespace encore {

/// A file that was read, as it was.
struct SourceFile {
  std::string file;  ///< as places name it
  std::string text;
};

struct ExperimentFile {
  std::filesystem::path file;
  Value root;                       ///< a table; the overrides are not in it
  std::vector<Override> overrides;  ///< the command line wins over all, over what a sweep sets too
  std::vector<Override> grid = {};  ///< options that the command line varies, instead of the file's sweep
  std::vector<SourceFile> sources = {};  ///< the file itself, then its bases, the nearest first
};

/// Throws ConfigErrors: file missing or unreadable, not TOML, a base that is missing or inherits itself.
/// Tables of a base and of the nearer file are merged option by option, with these exceptions: a table that
/// names another `type`, a table model.from or distil.teacher, the [sweep] and the [search] replace those of
/// the base, seeds replace a seed, and a name is not inherited.
ExperimentFile load_experiment_file(const std::filesystem::path& file,
                                    const std::vector<std::string>& overrides = {},
                                    const SweepTexts& sweep = {});
/// As load_experiment_file, from text; `name` stands for the file in messages and paths.
ExperimentFile parse_experiment_file(const std::string& text, const std::filesystem::path& name,
                                     const std::vector<std::string>& overrides = {},
                                     const SweepTexts& sweep = {});

/// Sets each override in `root`. An override that runs through something that is no table is a problem.
void apply_overrides(Value& root, const std::vector<Override>& overrides, Problems& problems);

/// Every string that stands as a value in the document, its overrides and its grid: the names of its types
/// are among them, wherever they stand.
std::set<std::string> strings_of(const ExperimentFile& document);

/// `plugin_path` of the document, absolute. Throws ConfigErrors where it is no list of folders that exist.
std::vector<std::filesystem::path> plugin_folders(const ExperimentFile& document);

}  // namespace encore
