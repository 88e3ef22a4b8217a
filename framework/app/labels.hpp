// tag and note: the labels and comments of users on runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_selection.hpp"

namespace encore {

struct TagChange {
  std::string tag;
  bool present = false;  ///< true: added; false: removed
};

struct TagRequest {
  std::vector<TagChange> changes;
  SelectionRequest selection;
  bool json = false;
};

Form<TagRequest> tag_form();

struct TaggedRun {
  RunRow run;
  std::vector<std::string> tags;  ///< current tags
};
std::vector<TaggedRun> tag(const TagRequest& request, const App& app);

struct NoteRequest {
  SelectionRequest selection;
  bool yes = false;
  bool json = false;
  std::string run;
  std::optional<std::string> text;  ///< not given: the note is only read; empty: it is removed
};

Form<NoteRequest> note_form();

struct NoteResult {
  std::vector<RunRow> runs;  ///< with their current notes
  bool written = false;      ///< false: they were only read, or the user did not agree
  bool declined = false;
};
NoteResult note(const NoteRequest& request, const App& app);

}  // namespace encore
