// FolderSettings: what a Hugging Face folder says beside the shape of its model, as options of an experiment.
// Everything in its files is honoured, refused by name, or named in a notice; field_rules.hpp has the table.
// Place in the flow: FolderFiller and `exp import` call it when a run is planned; runs of before, which lack
// these options, keep their meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pretrained/hugging_face_folder.hpp"

namespace encore {

struct FolderSettings {
  /// Of [tokenizer], [model.head] and [data]; which of them count depends on the experiment (see `head`).
  struct Option {
    FolderOption option;
    std::string head;  ///< only where model.head.type is this one; empty: always
  };
  std::vector<Option> options;
  std::int64_t max_length = 0;       ///< of texts, in pieces with their markers
  std::vector<std::string> notices;  ///< what is not taken over, a sentence each
};

/// Throws Error naming file and member where something is said that this program does not compute.
FolderSettings settings_of(const HuggingFaceFolder& folder);

}  // namespace encore
