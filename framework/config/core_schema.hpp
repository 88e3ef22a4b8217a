// SPDX-License-Identifier: BSD-3-Clause
// The schemas of the tables that belong to Encore itself. The catalogue gives those of tables with a plugin's
// `type`. docs/reference/options.md is written from these. Add new options, but never change a default: a
// value that equals its default does not count in a run's identity. The options of [sweep] and [search]
// (search_schema.cpp) decide which points of a space are trained; no run has these tables, because plan/
// reads them and makes runs.
#pragma once

#include <string>
#include <vector>

#include <encore/options.hpp>
#include <encore/plugin.hpp>

namespace encore::config {

const Schema& top_schema();      ///< name, note, tags, seed, seeds, base, plugin_path
const Schema& data_schema();     ///< [data], to which the reader adds its own
const Schema& model_schema();    ///< [model]
const Schema& parent_schema();   ///< the table model.from, if a run starts from another run
const Schema& teacher_schema();  ///< the table distil.teacher, which names a run in the same way
/// The schemas of these two tables in a resolved experiment: `run` is an id, and beside `experiment` there is
/// `question`, the SHA-256 of the settings of the run that it names.
const Schema& resolved_parent_schema();
const Schema& resolved_teacher_schema();
const Schema& distil_schema();   ///< [distil]
const Schema& decoder_schema();  ///< [model.decoder]
const Schema& train_schema();    ///< [train]
const Schema& app_schema();      ///< [app], without its tables [app.step.NAME]
/// The table `model` of a step, which names the run that the step asks, as written and as resolved.
const Schema& step_model_schema();
const Schema& resolved_step_model_schema();

/// The default of train.loss_scale if precision is float16, and the largest value, which is beyond all that
/// float32 holds.
inline constexpr double float16_loss_scale = 65536.0, most_loss_scale = 0x1p200;

/// Describes a table whose options depend on its `type`, which a plugin of that kind offers.
struct PluginTableRule {
  std::string key;  ///< "model.head"
  Kind kind;
};
/// Returns the rules for task, data, tokenizer, model.head, optimizer and schedule. model.block names the
/// layers (model.layer.*).
const std::vector<PluginTableRule>& plugin_table_rules();

/// The table of the tokenizer of targets, if sources and targets have vocabularies of their own.
inline constexpr const char* target_tokenizer_key = "tokenizer.target";

/// Returns the options that Encore itself has in the tables of a kind, such as data_schema() beside those of
/// a reader. An option of a plugin must have another name.
const Schema& host_options(Kind kind);

/// Returns the table that names a type of this kind: "optimizer", "data", "model.layer.NAME".
std::string table_of(Kind kind);

/// Returns the key of the table that names the run which a step asks: "app.step.NAME.model".
std::string step_model_key(const std::string& step);
/// Returns whether the table with this dotted key names another run: "model.from", "distil.teacher", or that
/// of a step. The weights of this run have the same key as their role in Specification::data.
bool names_run(const std::string& table);
/// Returns NAME for the key "app.step.NAME.model", and "" for any other.
std::string step_in(const std::string& table);

/// Returns true for options that describe a run and do not change its training. Identities ignore them.
bool only_describes(const std::string& key);  ///< "data.private", "train.retrains"

/// Returns the names of the tables at the top level.
const std::vector<std::string>& top_tables();

const Schema& sweep_schema();   ///< [sweep], without its tables
const Schema& search_schema();  ///< [search], without its tables

}  // namespace encore::config
