// ParentFiller: completes an experiment whose [model] has `from = { run = "NAME" }` or
// `from = { experiment = "FILE" }`: the parent's tokenizer and the shape of its model are put where the
// experiment is silent, and where the two disagree both are named. Place in the flow: as
// pretrained/folder_filler.hpp, which does this for a folder.
#pragma once

#include <string>

#include "config/error.hpp"
#include "config/value.hpp"
#include "plan/parent.hpp"

namespace encore {

/// The table model.from, or null where the experiment names no run.
const Value* named_parent(const Value& root);

/// `root` is the document of one run. What is wrong is added to `problems`. Afterwards model.from is as
/// resolved_parent_schema() has it. Null where there is no such parent, so that nothing was filled in and
/// every missing option would only repeat it. Without a source every parent is unknown.
const Parent* fill_from_parent(Value& root, ParentSource* source, Problems& problems);

/// The table distil.teacher, or null where the experiment names no run to learn from.
const Value* named_teacher(const Value& root);

/// As fill_from_parent for distil.teacher, of which nothing is filled in. Null where there is no such run.
const Parent* link_teacher(Value& root, ParentSource* source, Problems& problems);

/// Adds to `problems` where pieces or lengths of a run's resolved experiment are not those that its teacher
/// was trained with; what else must agree, the worker knows (infer/teacher.hpp).
void require_same_texts(const nlohmann::json& config, const Origins& origins, const Parent& teacher,
                        Problems& problems);

/// How the parent counts in the identity of a run that starts from it: what is there by its weights, what an
/// experiment file asks for by its question, since its weights need not exist yet.
std::string identity_of(const Parent& parent);

}  // namespace encore
