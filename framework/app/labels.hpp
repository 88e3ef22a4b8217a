// SPDX-License-Identifier: BSD-3-Clause
// tag() and note(): change and list the tags and notes of runs. cli/label_verbs.cpp calls them and prints the
// result. Tags and notes are not part of a run's identity, so they may change at any time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_selection.hpp"

namespace encore::app {

struct TagChange {
  std::string tag;
  bool present = true;  ///< true: the tag is added; false: it is removed
};

struct TagRequest {
  std::vector<TagChange> changes;  ///< empty: only list the tags
  SelectionRequest selection;
  bool json = false;
};

Form<TagRequest> tag_form();

struct TaggedRun {
  store::RunRow run;
  std::vector<std::string> tags;  ///< current tags
};
std::vector<TaggedRun> tag(const TagRequest& request, const App& app);

struct NoteRequest {
  SelectionRequest selection;
  bool yes = false;  ///< do not ask before notes are replaced
  bool json = false;
  /// The first argument: the word that selects runs (a name, a pattern, "all"). The options of `selection`
  /// narrow the choice; its list of words stays empty.
  std::string run;
  std::optional<std::string> text;  ///< not given: the note is only read; empty: it is removed
};

Form<NoteRequest> note_form();

struct NoteResult {
  std::vector<store::RunRow> runs;  ///< with their current notes
  bool written = false;             ///< false: they were only read, or the user did not agree
  bool declined = false;            ///< the user answered no
};
NoteResult note(const NoteRequest& request, const App& app);

}  // namespace encore::app
