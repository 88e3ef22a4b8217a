// tag and note: what people write on runs, to find them again and to know later what they were about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_selection.hpp"

namespace encore {

struct TagChange {
  std::string tag;
  bool present = false;  ///< put on, or taken off
};

struct TagRequest {
  std::vector<TagChange> changes;
  SelectionRequest selection;
  bool json = false;
};

Form<TagRequest> tag_form();

struct TaggedRun {
  RunRow run;
  std::vector<std::string> tags;  ///< that it has now
};
std::vector<TaggedRun> tag(const TagRequest& request, const App& app);

struct NoteRequest {
  SelectionRequest selection;
  bool yes = false;
  bool json = false;
  std::string run;
  std::optional<std::string> text;  ///< not written: the note is only read; empty: it is removed
};

Form<NoteRequest> note_form();

struct NoteResult {
  std::vector<RunRow> runs;  ///< with their notes of now
  bool written = false;      ///< false: they were only read, or the user did not agree
  bool declined = false;
};
NoteResult note(const NoteRequest& request, const App& app);

}  // namespace encore
