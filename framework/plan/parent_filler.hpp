// SPDX-License-Identifier: BSD-3-Clause
// fill_from_parent(): completes an experiment whose [model] has `from = { run = "NAME" }` or `from = {
// experiment = "FILE" }`: it sets the parent's tokenizer and the shape of its model if the experiment does
// not set them, and names both places if they disagree. PointMaker calls it before resolve().
// pretrained/folder_filler.hpp does the same for a folder. What identity_of() returns is part of the identity
// of runs, so it does not change.
#pragma once

#include <map>
#include <string>

#include "config/error.hpp"
#include "config/value.hpp"
#include "plan/parent.hpp"

namespace encore::plan {

/// Returns the table model.from, or null if the experiment names no run.
const config::Value* named_parent(const config::Value& root);

/// Fills `root`, the document of one run, and adds what is wrong to `problems`. Afterwards model.from is as
/// resolved_parent_schema() has it. Returns null if there is no such parent: nothing was filled in, and every
/// missing option would only repeat the problem. Without a source every parent is unknown.
const Parent* fill_from_parent(config::Value& root, ParentSource* source, config::Problems& problems);

/// Returns the table distil.teacher, or null if the experiment names no run to learn from.
const config::Value* named_teacher(const config::Value& root);

/// Finds the run of distil.teacher and writes the table as the schema has it, without filling in options.
/// Returns null if there is no such run.
const Parent* link_teacher(config::Value& root, ParentSource* source, config::Problems& problems);

/// Finds the runs that the steps of an application ask, and writes their tables as the schema has them.
/// Returns them by the keys of these tables; null for one that there is not, whose reason is in `problems`.
std::map<std::string, const Parent*> link_step_models(config::Value& root, ParentSource* source,
                                                      config::Problems& problems);

/// Adds to `problems` if the vocabulary or lengths of a run's resolved experiment differ from its teacher's.
/// The worker checks what else must agree (infer/teacher.hpp).
void require_same_texts(const nlohmann::json& config, const config::Origins& origins, const Parent& teacher,
                        config::Problems& problems);

/// Returns how the parent counts in the identity of a run that starts from it: a run of the database by its
/// weights, the run of an experiment file by its question, since its weights need not exist yet.
std::string identity_of(const Parent& parent);

}  // namespace encore::plan
