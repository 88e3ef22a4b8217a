// SPDX-License-Identifier: BSD-3-Clause
// The options of each table of an experiment file that Encore itself has, in the order of
// docs/reference/options.md. resolve.cpp and validate.cpp check files by them. Never change a default:
// identities of runs depend on it. Read core_schema.hpp first.
#include "config/core_schema.hpp"

namespace encore::config {

namespace {

// The limits are beyond any real training, and products of them still fit in 64 bits. A model that the
// machine cannot hold is reported when memory is allocated (memory/device_memory.hpp).
constexpr double most_layers = 1000;
constexpr double most_channels = 65536;
constexpr double most_tokens = 1048576;
constexpr double most_segments = 1024;
constexpr double most_sequences = 1048576;
constexpr double most_epochs = 1000000;
constexpr double most_steps = 1e12;
constexpr double most_batch_tokens = 1e9;

Option required_integer(std::string name, OptionRule rule) {
  return {std::move(name), OptionType::integer, std::nullopt, true, {}, std::move(rule)};
}

/// Returns the options of a table that names another run: one in the database, or a file that trains it
/// first.
Schema named_run(std::string help) {
  return Schema()
      .optional("run", OptionType::text, {.help = std::move(help)})
      .optional("experiment", OptionType::path,
                {.help = "instead of `run`: an experiment file, whose run is trained first"})
      .optional("name", OptionType::text, {.help = "name of the run of `experiment`, if it has several"});
}

/// Returns the same with the folder of another program's model, for tables that need its answers, not its
/// initial weights.
Schema named_model(std::string help) {
  return named_run(std::move(help))
      .optional(
          "folder", OptionType::path,
          {.help =
               "instead of `run`: the folder of a Hugging Face model, of which a run is made first, as by "
               "`exp import`"});
}

/// Returns the table as a resolved experiment has it: `experiment` may be a folder.
Schema resolved_run(const Schema& named) {
  return Schema(named).optional("question", OptionType::text,
                                {.help = "identity of the run of `experiment`"});
}

}  // namespace

const Schema& top_schema() {
  static const Schema schema =
      Schema()
          .optional("name", OptionType::text,
                    {.help = "name of the experiment, first part of its runs' names; `{model.dropout}` is "
                             "replaced by the value of an option; default: the file's name without `.toml`"})
          .text("note", "", {.help = "a remark, stored with every run"})
          .text_list("tags", {}, {.help = "words to find the runs by"})
          .integer(
              "seed", 1,
              {.help = "seed of all random numbers: initial weights, order of the data, dropout", .min = 0})
          .optional("base", OptionType::path, {.help = "another experiment file, which this one changes"})
          .text_list("plugin_path", {}, {.help = "folders with plugins, beside the built-in ones"});
  return schema;
}

const Schema& data_schema() {
  static const Schema schema =
      Schema()
          .optional("root", OptionType::path,
                    {.help = "folder to which the other paths of this table are relative; default: the "
                             "folder of the file that names them"})
          .required("train", OptionType::path_list,
                    {.help = "training examples: a file, a folder, or a list of files in their order"})
          .optional("dev", OptionType::path_list,
                    {.help = "examples that choose the best checkpoint; required without `split`"})
          .optional("test", OptionType::path_list, {.help = "examples that are scored once, at the end"})
          .optional("split", OptionType::number_list,
                    {.help = "instead of `dev`: shares in which the examples of `train` are divided, by "
                             "their content, into training and development set; a third share is the test "
                             "set",
                     .min = 0.0,
                     .max = 1.0,
                     .exclusive_min = true,
                     .exclusive_max = true})
          .boolean("stratify", false,
                   {.help = "`split` divides the examples of each label in these shares; for tasks with one "
                            "label for each example"})
          .optional(
              "more", OptionType::path_list,
              {.help = "further training examples, which are added after those of `train`; examples that "
                       "are also in the development or test set are left out"})
          .optional("held_out", OptionType::number,
                    {.help = "share of the examples of `more`, chosen by their content, that is kept out "
                             "of training: `exp retrain` scores the models on it, and fits an application "
                             "on half of it",
                     .min = 0.0,
                     .max = 1.0,
                     .exclusive_min = true,
                     .exclusive_max = true})
          .add({.name = "max_length",
                .type = OptionType::integer_or_percentage,
                .fallback = OptionValue(std::int64_t{256}),
                .rule = {.help = "most tokens of a sequence, with its markers; longer ones are cut; "
                                 "`\"95%\"`: the length that 95 % of the training set's sequences do not "
                                 "exceed",
                         .unit = "tokens",
                         .min = 3,
                         .max = most_tokens}})
          .boolean("private", false,
                   {.help = "examples are confidential: reports leave them out; another value does not make "
                            "another run"});
  return schema;
}

const Schema& model_schema() {
  static const Schema schema =
      Schema()
          .optional(
              "from", OptionType::path,
              {.help = "source of the initial weights, and of the options of this table and of "
                       "`[tokenizer]`: the folder of a Hugging Face model, or a run, `{ run = \"NAME\" }` "
                       "or `{ experiment = \"FILE\" }`"})
          .add(required_integer("width",
                                {.help = "size of a token's state, C", .min = 1, .max = most_channels}))
          .add(required_integer("layers", {.help = "number of blocks", .min = 1, .max = most_layers}))
          .integer("groups", 0,
                   {.help = "groups of consecutive blocks that share all parameters, as in ALBERT with 1; 0: "
                            "every block has its own",
                    .min = 0,
                    .max = most_layers})
          .number(
              "dropout", 0.1,
              {.help = "share of the embeddings and of each sub-layer's output that is dropped in training",
               .min = 0.0,
               .max = 1.0,
               .exclusive_max = true})
          .choice("positions", "sinusoidal", {"sinusoidal", "learned", "none"},
                  {.help = "how a token's position is added to its vector; `none` leaves it to the attention "
                           "(rotary_attention, alibi_attention, relative_attention)"})
          .choice(
              "position_layout", "pairs", {"pairs", "halves"},
              {.help = "order of the channels of `sinusoidal` positions: sine and cosine of each frequency "
                       "side by side, as in the paper, or all sines before all cosines, as in Marian"})
          .integer("max_positions", 0,
                   {.help = "rows of the table of `learned` positions, at least `data.max_length`; 0: "
                            "`data.max_length`",
                    .unit = "tokens",
                    .min = 0,
                    .max = most_tokens})
          .integer("segments", 0,
                   {.help = "rows of the table for the text of a pair to which a token belongs, 2 in BERT; "
                            "0: no table",
                    .min = 0,
                    .max = most_segments})
          .integer("embedding_width", 0,
                   {.help = "size of the vectors in the tables of tokens, positions and segments; a matrix "
                            "projects their sum to `width`, as in ALBERT; 0: `width`, without a matrix",
                    .min = 0,
                    .max = most_channels})
          .boolean(
              "embedding_norm", false,
              {.help = "the norm over the sum of token, position and segment, before dropout, as in BERT"})
          .choice("embedding_scale", "sqrt_width", {"sqrt_width", "none"},
                  {.help = "factor on the vectors of tokens: the root of their width, or none, as in BERT; "
                           "without it all tables start with deviation 0.02"})
          .text("norm", "layer_norm",
                {.help = "the norm: a layer's type, or the name of a `[model.layer.NAME]` table"})
          .choice(
              "norm_position", "post", {"post", "pre"},
              {.help =
                   "norm after the residual sum, as in BERT, or before each sub-layer and once at the end"})
          .optional("final_norm", OptionType::boolean,
                    {.help = "whether there is a norm after the last block; default: only with "
                             "`norm_position = \"pre\"`"})
          .boolean("causal", false,
                   {.help = "a token sees only itself and earlier tokens, as in a language model"})
          .required("block", OptionType::text_list,
                    {.help = "sub-layers of a block in order; each has a table `[model.layer.NAME]`"});
  return schema;
}

const Schema& parent_schema() {
  static const Schema schema = named_run(
      "name or id of a completed run of this database, whose weights are the start of the training");
  return schema;
}

const Schema& resolved_parent_schema() {
  static const Schema schema = resolved_run(parent_schema());
  return schema;
}

const Schema& teacher_schema() {
  static const Schema schema =
      named_model("name or id of a completed run of this database, whose scores are learned");
  return schema;
}

const Schema& resolved_teacher_schema() {
  static const Schema schema = resolved_parent_schema();
  return schema;
}

const Schema& app_schema() {
  static const Schema schema =
      Schema()
          .required("steps", OptionType::text_list,
                    {.help = "the steps in their order, each with a table `[app.step.NAME]`"})
          .number("fit", 0.5,
                  {.help = "share of the development set on which steps are fitted; the rest measures them",
                   .min = 0.0,
                   .max = 1.0,
                   .exclusive_min = true})
          .optional("select", OptionType::text,
                    {.help = "measure by which applications are compared, such as `max "
                             "dev/decide.automation`; default: that of the last step that has one"})
          .optional("retrains", OptionType::text,
                    {.help = "id of the application that this one retrains, written by `exp retrain`; not a "
                             "part of a run's identity"});
  return schema;
}

const Schema& step_model_schema() {
  static const Schema schema =
      named_model("name or id of a completed run of this database, whose model the step asks");
  return schema;
}

const Schema& resolved_step_model_schema() {
  static const Schema schema = resolved_parent_schema();
  return schema;
}

std::string step_model_key(const std::string& step) {
  return "app.step." + step + ".model";
}

std::string step_in(const std::string& table) {
  const std::string_view prefix = "app.step.";
  if (!table.starts_with(prefix)) return "";
  const std::size_t end = table.find('.', prefix.size());
  const std::string step = table.substr(prefix.size(), end - prefix.size());
  return table == step_model_key(step) ? step : "";
}

bool names_run(const std::string& table) {
  return table == "model.from" || table == "distil.teacher" || !step_in(table).empty();
}

const Schema& distil_schema() {
  static const Schema schema =
      Schema()
          .number("temperature", 2.0,
                  {.help = "scores of teacher and student are divided by it before the softmax; above 1, the "
                           "teacher's scores of less likely classes count more",
                   .min = 0.0,
                   .max = 1000.0,
                   .exclusive_min = true})
          .number("hard_weight", 0.5,
                  {.help = "weight of the loss by the true targets; the loss by the teacher's scores has the "
                           "rest up to 1",
                   .min = 0.0,
                   .max = 1.0})
          .number("states", 0.0,
                  {.help = "weight of a loss by which the student learns how similar the token states of "
                           "an input are to each other in the teacher, after the last block; 0: no such "
                           "loss",
                   .min = 0.0,
                   .max = 1000.0})
          .number("attention", 0.0,
                  {.help = "weight of the same loss for the queries, keys and values of the last attention "
                           "layer; 0: no such loss",
                   .min = 0.0,
                   .max = 1000.0})
          .integer("relation_heads", 8,
                   {.help = "number of equal parts of a state that the losses of `states` and `attention` "
                            "compare separately; it must divide the number of channels in both models",
                    .min = 1,
                    .max = 65536});
  return schema;
}

const Schema& decoder_schema() {
  static const Schema schema =
      Schema()
          .add(required_integer("layers", {.help = "number of blocks", .min = 1, .max = most_layers}))
          .required("block", OptionType::text_list,
                    {.help = "sub-layers of a block in order, as in `[model]`; one of them reads the "
                             "encoder, such as a `cross_attention`"});
  return schema;
}

const Schema& train_schema() {
  static const Schema schema =
      Schema()
          .integer("batch_size", 32,
                   {.help = "examples in a step", .unit = "examples", .min = 1, .max = most_sequences})
          .optional("batch_tokens", OptionType::integer,
                    {.help = "instead of `batch_size`: at most N tokens in a step, counted with padding",
                     .unit = "tokens",
                     .min = 1,
                     .max = most_batch_tokens})
          .optional("epochs", OptionType::integer,
                    {.help = "at most N passes over the training data; 0 imports `model.from` without "
                             "training; required without `steps`",
                     .min = 0,
                     .max = most_epochs})
          .optional("steps", OptionType::integer,
                    {.help = "instead of `epochs`: training ends after N steps, also within an epoch",
                     .unit = "steps",
                     .min = 1,
                     .max = most_steps})
          .choice("precision", "float32", {"float32", "bfloat16", "float16", "float64"},
                  {.help = "type of activations and of the weights in products; with a type of 16 bits, "
                           "sums, updates and checkpoints stay float32"})
          .optional(
              "loss_scale", OptionType::number,
              {.help = "factor on the loss in backward passes, a power of two, so that small gradients do "
                       "not become 0 in 16 bits; default: 65536 with `float16`, otherwise none",
               .min = 1.0,
               .max = most_loss_scale})
          .integer("loss_scale_steps", 2000,
                   {.help = "double `loss_scale` after N steps without a change",
                    .unit = "steps",
                    .min = 1,
                    .max = most_steps})
          .choice(
              "recompute", "cheap", {"none", "cheap", "blocks"},
              {.help =
                   "what the backward pass computes again instead of keeping it: nothing, the outputs of "
                   "norms and other cheap layers, or everything in a block except its input; not a part of "
                   "a run's identity"})
          .number("clip_norm", 1.0,
                  {.help = "largest norm of the gradient of all parameters; 0: no limit", .min = 0.0})
          .optional("select", OptionType::text,
                    {.help = "rule for the best checkpoint: `max dev/MEASURE` or `min dev/MEASURE` of a "
                             "measure of the task, or `min dev/loss`; default: the task's own"})
          .integer("patience", 0,
                   {.help = "stop after N epochs without a better score; 0: train to the end",
                    .unit = "epochs",
                    .min = 0,
                    .max = most_epochs})
          .integer("evaluate_every", 0,
                   {.help = "also score dev every N steps; 0: only after each epoch",
                    .unit = "steps",
                    .min = 0,
                    .max = most_steps})
          .integer("checkpoint_every", 0,
                   {.help = "also write a checkpoint every N steps; 0: only after each epoch",
                    .unit = "steps",
                    .min = 0,
                    .max = most_steps})
          .choice("batching", "packed", {"packed", "padded"},
                  {.help = "`packed` computes no padding; `padded` exists to compare"})
          .integer("gradient_shards", 1,
                   {.help = "parts into which a batch is cut; their gradients are added in a fixed order",
                    .min = 1,
                    .max = most_sequences})
          .number("label_smoothing", 0.0,
                  {.help = "share of a target that is spread over all classes",
                   .min = 0.0,
                   .max = 1.0,
                   .exclusive_max = true})
          .text_list("freeze", {},
                     {.help = "parts of the model that are not trained: names of parameters or beginnings of "
                              "them, such as `embedding` or `encoder.0`"})
          .number("layer_decay", 1.0,
                  {.help = "factor on the learning rate from the head to the last block, from each block "
                           "to the one below it, and from the first block to the embedding; the head has "
                           "the full rate",
                   .min = 0.0,
                   .max = 1.0,
                   .exclusive_min = true})
          .text_list(
              "lora", {},
              {.help = "matrices with a low-rank adapter that is trained instead of them (LoRA, Hu et al. "
                       "2022): names of parameters or ends of them, such as `attention.qkv.weight`"})
          .integer("lora_rank", 8, {.help = "rank r of the adapters", .min = 1, .max = most_channels})
          .number("lora_alpha", 16.0,
                  {.help = "the product of the two matrices of an adapter is multiplied by lora_alpha / "
                           "lora_rank",
                   .min = 0.0,
                   .exclusive_min = true})
          .integer("digest_steps", 10,
                   {.help = "record a digest of the parameters, for `exp verify`, after each of the first N "
                            "steps; later ones are recorded after each epoch",
                    .unit = "steps",
                    .min = 0,
                    .max = most_steps})
          .integer("show_attention", 0,
                   {.help = "store the attention weights of the first N examples of the development set at "
                            "the end, for reports",
                    .unit = "examples",
                    .min = 0,
                    .max = 100})
          .optional("retrains", OptionType::text,
                    {.help = "id of the run that this one retrains, written by `exp retrain`; not a part "
                             "of a run's identity"});
  return schema;
}

const std::vector<PluginTableRule>& plugin_table_rules() {
  static const std::vector<PluginTableRule> rules = {
      {"task", Kind::task},       {"data", Kind::reader},         {"tokenizer", Kind::tokenizer},
      {"model.head", Kind::head}, {"optimizer", Kind::optimizer}, {"schedule", Kind::schedule}};
  return rules;
}

const Schema& host_options(Kind kind) {
  static const Schema none;
  return kind == Kind::reader ? data_schema() : none;
}

std::string table_of(Kind kind) {
  if (kind == Kind::step) return "app.step.NAME";
  for (const PluginTableRule& rule : plugin_table_rules())
    if (rule.kind == kind) return rule.key;
  return "model.layer.NAME";
}

bool only_describes(const std::string& key) {
  return key == "data.private" || key == "train.recompute" || key == "train.retrains" ||
         key == "app.retrains";
}

const std::vector<std::string>& top_tables() {
  static const std::vector<std::string> tables = {"task",      "data",     "tokenizer", "model",
                                                  "optimizer", "schedule", "train",     "distil",
                                                  "app",       "sweep",    "search"};
  return tables;
}

}  // namespace encore::config
