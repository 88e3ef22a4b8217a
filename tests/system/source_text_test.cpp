// SPDX-License-Identifier: BSD-3-Clause
// Tests rules about names in the source of the whole tree: each type has a unique name, each folder has its
// namespace, and comments name only existing files. Part of the program layout_test. A rule may be added; a
// file of another project that a comment names goes into the list `foreign`.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/places.hpp"
#include "system/source_text.hpp"

namespace fs = std::filesystem;

namespace encore::testing {
namespace {

using Names = std::vector<std::string>;

std::string content_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<fs::path> sources_below(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(ENCORE_SOURCE_DIR) / folder)) {
    const auto extension = entry.path().extension();
    if (entry.is_regular_file() && (extension == ".hpp" || extension == ".cpp" || extension == ".h"))
      files.push_back(entry.path());
  }
  return files;
}

/// Returns types whose name several files define, with these files. Two such types in one program break the
/// rule of one definition, which the linker does not report.
std::map<std::string, std::set<std::string>> doubled(const std::map<std::string, std::string>& sources) {
  std::map<std::string, std::set<std::string>> places;
  for (const auto& [file, text] : sources)
    for (const std::string& type : types_defined_in(text)) places[type].insert(file);
  std::erase_if(places, [](const auto& place) { return place.second.size() < 2; });
  return places;
}

/// Maps the paths that may name each file of the tree: "encode.hpp", "data/encode.hpp" ...
struct Tree {
  std::set<std::string> ends;                            ///< of all paths, from each folder on
  std::map<std::string, std::set<std::string>> folders;  ///< of each file name

  void add(const std::string& path) {
    for (std::size_t at = 0; at != std::string::npos; at = path.find('/', at + 1))
      ends.insert(path.substr(at == 0 ? 0 : at + 1));
    const fs::path file(path);
    folders[file.filename().string()].insert(file.parent_path().string());
  }
};

Tree read_tree() {
  Tree tree;
  for (const char* folder : {"framework", "plugins", "tests", "cmake", "docs"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(ENCORE_SOURCE_DIR) / folder))
      if (entry.is_regular_file()) tree.add(fs::relative(entry.path(), ENCORE_SOURCE_DIR).string());
  for (const char* file : {"CMakeLists.txt", "CONTRIBUTING.md", "README.md", "SECURITY.md"}) tree.add(file);
  return tree;
}

/// Whether a reader of `file` finds what its comment names: a path is one in the tree; a name alone lies
/// beside the file, above it or in the SDK, or the file includes it.
bool leads_somewhere(const Tree& tree, const std::string& file, const std::string& source,
                     const std::string& named) {
  if (named.find('/') != std::string::npos) return tree.ends.contains(named);
  const auto found = tree.folders.find(named);
  if (found == tree.folders.end()) return false;
  if (found->second.contains("framework/sdk/encore")) return true;
  for (fs::path above = fs::path(file).parent_path(); !above.empty(); above = above.parent_path())
    if (found->second.contains(above.string())) return true;
  return std::ranges::any_of(std::array{'/', '"', '<'}, [&](char before) {
    return source.find(std::string(1, before) + named + '"') != std::string::npos ||
           source.find(std::string(1, before) + named + '>') != std::string::npos;
  });
}

/// Returns "12: GONE.hpp" for each missing file that a comment of the source names.
Names dead_signs(const Tree& tree, const std::string& file, const std::string& source) {
  // Files of other projects, and names that mean any file.
  static const std::set<std::string> foreign = {"linux/magic.h", "evaluate-v1.1.py", "evaluate-v2.0.py",
                                                "a.md"};
  static const std::regex name(R"([\w./-]*[\w-]\.(?:hpp|cpp|h|py|sql|cmake|md)(?![\w.]))");
  Names dead;
  std::istringstream lines(split_source(source).comments);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number)
    for (std::sregex_iterator at(line.begin(), line.end(), name), end; at != end; ++at) {
      const std::string named = at->str();
      const bool is_placeholder = std::ranges::none_of(fs::path(named).stem().string(),
                                                       [](unsigned char c) { return std::islower(c); });
      if (!is_placeholder && !foreign.contains(named) && !leads_somewhere(tree, file, source, named))
        dead.push_back(std::to_string(number) + ": " + named);
    }
  return dead;
}

}  // namespace

TEST(Names, EveryTypeOfTheFrameworkHasItsNameAlone) {
  std::map<std::string, std::string> sources;
  std::size_t types = 0;
  for (const fs::path& file : sources_below("framework")) {
    sources[fs::relative(file, ENCORE_SOURCE_DIR).string()] = content_of(file);
    types += types_defined_in(sources.at(fs::relative(file, ENCORE_SOURCE_DIR).string())).size();
  }
  EXPECT_GT(types, 500u) << "the test looked at the wrong folder";
  for (const auto& [type, files] : doubled(sources)) {
    std::string list;
    for (const std::string& file : files) list += "\n  " + file;
    ADD_FAILURE() << type << " is defined in several files; give each type a name of its own:" << list;
  }
  // A planted duplicate name is found.
  sources["framework/document/planted.hpp"] =
      "namespace encore::document { class Histogram final : public Base { }; }";
  EXPECT_EQ(doubled(sources).count("encore::document::Histogram"), 1u);
}

TEST(Names, EveryFolderOfTheFrameworkHasItsNamespace) {
  // The SDK and base are what every folder uses, so they have none of their own.
  const auto is_in_place = [](const std::string& folder, const std::string& type) {
    const bool shared = folder == "sdk" || folder == "base";
    return type.starts_with(shared ? "encore::" : "encore::" + folder + "::");
  };
  std::size_t types = 0;
  for (const fs::path& file : sources_below("framework")) {
    const fs::path path = fs::relative(file, fs::path(ENCORE_SOURCE_DIR) / "framework");
    if (path.extension() == ".h") continue;  // the C library
    for (const std::string& type : types_defined_in(content_of(file))) {
      if (type == "encore_model") continue;  // the C library's
      EXPECT_TRUE(is_in_place(path.begin()->string(), type)) << path << " defines " << type;
      ++types;
    }
  }
  EXPECT_GT(types, 500u) << "the test looked at the wrong folder";
  EXPECT_FALSE(is_in_place("store", "encore::Planted"));
  EXPECT_FALSE(is_in_place("store", "encore::report::Planted"));
}

TEST(Names, TypesAreFoundWhereOtherFilesCouldMeetThem) {
  EXPECT_EQ(
      types_defined_in(
          "namespace encore {\nnamespace { struct Hidden {}; }\nclass Declared;\n"
          "template <class T>\nstruct Kept : Base<T> { struct Inner { int x = 0; }; };\n"
          "enum class Mode : int { a };\nstruct Outer::Part { };\nstruct alignas(2 * sizeof(int)) Wide { };\n"
          "void f(struct Argument* a) { struct Local { }; }\n// struct Comment {\n"
          "const char* text = \"struct Text {\"; auto raw = R\"(struct Raw {)\";\n"
          "Kept<int> made = {};\nnamespace inner { union Both { }; } }\nstruct Global { };"),
      (Names{"encore::Kept", "encore::Mode", "encore::Wide", "encore::inner::Both", "Global"}));
}

TEST(Names, FilesThatCommentsNameAreThere) {
  const Tree tree = read_tree();
  int seen = 0;
  for (const char* folder : {"framework", "plugins", "tests"})
    for (const fs::path& file : sources_below(folder)) {
      const std::string path = fs::relative(file, ENCORE_SOURCE_DIR).string();
      for (const std::string& sign : dead_signs(tree, path, content_of(file)))
        ADD_FAILURE() << path << ":" << sign << " is neither beside the file nor a path in the tree";
      ++seen;
    }
  EXPECT_GT(seen, 1000) << "the test looked at the wrong folder";
  // Of planted comments those that name missing files are found.
  EXPECT_EQ(
      dead_signs(tree, "framework/config/value.hpp",
                 "// Read next: absent_page.hpp,\n// document.hpp and data/encode.hpp\nint resolve; // in "
                 "resolve.hpp, FILE.md\n"),
      (Names{"1: absent_page.hpp", "2: document.hpp"}));
}

}  // namespace encore::testing
