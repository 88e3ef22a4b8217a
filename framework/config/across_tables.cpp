#include "config/across_tables.hpp"

#include "config/nearest.hpp"
#include "config/selection.hpp"

namespace encore {

namespace {

class AcrossTables {
 public:
  AcrossTables(const Value& root, const Catalogue& catalogue, Resolved& resolved, Problems& problems)
      : root_(root), catalogue_(catalogue), resolved_(resolved), problems_(problems) {}

  void check() {
    check_fields();
    select();
    final_norm();
    check_numbers();
  }

 private:
  /// The type of a plugin's table, null where it has none that is right.
  const ManifestOffer* offer_of(const std::string& key) const {
    const auto table = resolved_.tables.find(key);
    return table == resolved_.tables.end() ? nullptr : table->second.offer;
  }

  // What the task reads of a record must be given by the reader.
  void check_fields() {
    const ManifestOffer *task = offer_of("task"), *reader = offer_of("data");
    if (task == nullptr || reader == nullptr) return;
    const std::vector<std::string> missing = missing_fields(*task, *reader);
    if (missing.empty()) return;
    std::vector<std::string> fitting;
    for (const std::string& name : catalogue_.names(Kind::reader))
      if (missing_fields(*task, catalogue_.get(Kind::reader, name)).empty()) fitting.push_back(name);
    refuse("data.type",
           title_of(reader->kind, reader->name) + " does not give the field" +
               (missing.size() == 1 ? " " : "s ") + quoted_list(missing) + " that " +
               title_of(task->kind, task->name) + " needs; it gives " + quoted_list(reader->gives) +
               (reader->may_give.empty() ? "" : ", with its options " + quoted_list(reader->may_give)) +
               (fitting.empty() ? "; no reader that is here gives all that the task needs"
                                : "; what gives all that the task needs: " + quoted_list(fitting)));
  }

  // The task decides what may be selected by, and what is selected by where the file is silent.
  void select() {
    const auto train = resolved_.tables.find("train");
    const ManifestOffer* task = offer_of("task");
    if (train == resolved_.tables.end() || task == nullptr) return;
    ResolvedTable& table = train->second;
    table.defaults.set_default("select", task->select);
    if (root_.at({"train", "select"}) == nullptr) {
      table.options.set_default("select", task->select);
      resolved_.config["train"]["select"] = task->select;
      resolved_.origin["train.select"] = {Source::fallback, root_.at({"train"})->origin.place};
    } else if (table.options.has("select")) {
      if (const auto problem = selection_problem(table.options.text("select"), *task))
        refuse("train.select", "option \"select\" of [train] " + *problem);
    }
  }

  // A stack whose norms stand before the sub-layers ends with one, any other does not; to say so is no other
  // model.
  void final_norm() {
    const auto model = resolved_.tables.find("model");
    if (model != resolved_.tables.end() && model->second.options.has("norm_position"))
      model->second.defaults.set_default("final_norm", model->second.options.text("norm_position") == "pre");
  }

  // What needs two options to be seen wrong, and no plugin to say it.
  void check_numbers() {
    const auto model = resolved_.tables.find("model");
    if (model != resolved_.tables.end() && model->second.options.has("width") &&
        model->second.options.has("positions")) {
      const std::int64_t tables_width =
          model->second.options.has("embedding_width") ? model->second.options.integer("embedding_width") : 0;
      const std::string name = tables_width > 0 ? "embedding_width" : "width";
      const std::int64_t width = model->second.options.integer(name);
      if (width % 2 != 0 && model->second.options.text("positions") == "sinusoidal")
        refuse("model." + name, "option \"" + name + "\" of [model] is " + std::to_string(width) +
                                    "; sinusoidal positions come in pairs and need an even width");
    }
    check_positions();
    if (model != resolved_.tables.end() && model->second.options.has("layers") &&
        model->second.options.has("groups")) {
      const std::int64_t layers = model->second.options.integer("layers");
      const std::int64_t groups = model->second.options.integer("groups");
      if (groups > layers)
        refuse("model.groups",
               "option \"groups\" of [model] is " + std::to_string(groups) + ", but " +
                   std::to_string(layers) +
                   " layers cannot be cut into more groups than there are layers; 0 lets every "
                   "block have its own parameters");
    }
    const auto train = resolved_.tables.find("train");
    if (train != resolved_.tables.end() && train->second.options.has("batch_size") &&
        train->second.options.has("gradient_shards")) {
      const std::int64_t batch = train->second.options.integer("batch_size");
      const std::int64_t shards = train->second.options.integer("gradient_shards");
      if (shards > batch)
        refuse("train.gradient_shards", "option \"gradient_shards\" of [train] is " + std::to_string(shards) +
                                            ", but a batch of " + std::to_string(batch) +
                                            " sequences cannot be cut into more parts than it has sequences");
    }
  }

  // A table of positions has a row for every position of the longest sequence, and is there if it is learned.
  void check_positions() {
    const auto model = resolved_.tables.find("model"), data = resolved_.tables.find("data");
    if (model == resolved_.tables.end() || !model->second.options.has("max_positions") ||
        !model->second.options.has("positions"))
      return;
    const std::int64_t rows = model->second.options.integer("max_positions");
    if (rows == 0) return;
    const std::string given = "option \"max_positions\" of [model] is " + std::to_string(rows);
    if (model->second.options.text("positions") != "learned")
      return refuse("model.max_positions", given +
                                               ", which is for learned positions; leave it out, or set "
                                               "positions = \"learned\"");
    if (data == resolved_.tables.end() || !data->second.options.has("max_length")) return;
    const std::int64_t longest = data->second.options.integer("max_length");
    if (rows < longest)
      refuse("model.max_positions", given + ", but sequences have up to " + std::to_string(longest) +
                                        " pieces (data.max_length); shorten them, or let the table grow");
  }

  void refuse(const std::string& key, const std::string& message) {
    problems_.add(place_of(resolved_.origin, key), key, message);
  }

  const Value& root_;
  const Catalogue& catalogue_;
  Resolved& resolved_;
  Problems& problems_;
};

}  // namespace

void check_across_tables(const Value& root, const Catalogue& catalogue, Resolved& resolved,
                         Problems& problems) {
  AcrossTables(root, catalogue, resolved, problems).check();
}

}  // namespace encore
