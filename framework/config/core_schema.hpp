// The schemas of the tables that belong to Encore itself; tables with a plugin's `type` get theirs from the
// catalogue. docs/reference/options.md is written from these. A default is never changed, only a new
// option added: a value that equals its default does not count in a run's identity. Read next:
// search_schema.hpp for [sweep] and [search].
#pragma once

#include <string>
#include <vector>

#include <encore/options.hpp>
#include <encore/plugin.hpp>

namespace encore {

const Schema& top_schema();      ///< name, note, tags, seed, seeds, base, plugin_path
const Schema& data_schema();     ///< [data], to which the reader adds its own
const Schema& model_schema();    ///< [model]
const Schema& parent_schema();   ///< the table that model.from is, where a run starts from another one
const Schema& teacher_schema();  ///< the table distil.teacher: the same, of the run that is learned from
/// Both in a resolved experiment: `run` is an id, and with `experiment` stands its `question`.
const Schema& resolved_parent_schema();
const Schema& resolved_teacher_schema();
const Schema& distil_schema();   ///< [distil]
const Schema& decoder_schema();  ///< [model.decoder]
const Schema& train_schema();    ///< [train]

/// train.loss_scale where precision is float16 and none is given, and the largest: beyond all that float32
/// holds.
inline constexpr double float16_loss_scale = 65536.0, most_loss_scale = 0x1p200;

/// A table whose options depend on its `type`, which a plugin of that kind offers.
struct PluginTableRule {
  std::string key;  ///< "model.head"
  Kind kind;
};
/// task, data, tokenizer, model.head, optimizer, schedule; the layers (model.layer.*) are named by
/// model.block.
const std::vector<PluginTableRule>& plugin_table_rules();

/// Options that Encore itself has in the tables of a kind: data_schema() beside those of a reader. A plugin's
/// own must not bear their names.
const Schema& host_options(Kind kind);

/// The table of an experiment file that names a type of this kind: "optimizer", "data", "model.layer.NAME".
std::string table_of(Kind kind);

/// Options that say how a run may be shown and change none of its numbers: no part of its identity.
bool only_describes(const std::string& key);  ///< "data.private", "train.retrains"

/// Names of the tables at the top level.
const std::vector<std::string>& top_tables();

}  // namespace encore
