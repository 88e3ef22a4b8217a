// The options of each table of an experiment file, in the order of docs/reference/options.md. Read
// core_schema.hpp first: it says what may be changed.
#include "config/core_schema.hpp"

namespace encore {

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

/// The options of a table that names another run: one in the database, or a file that trains it first.
Schema named_run(std::string help) {
  return Schema()
      .optional("run", OptionType::text, {.help = std::move(help)})
      .optional("experiment", OptionType::path,
                {.help = "instead of `run`: an experiment file, whose run is trained first"})
      .optional("name", OptionType::text, {.help = "which run of `experiment`, where it asks for several"});
}

Schema resolved_run(const Schema& named) {
  return Schema(named).optional("question", OptionType::text,
                                {.help = "what the run of `experiment` answers: its identity"});
}

}  // namespace

const Schema& top_schema() {
  static const Schema schema =
      Schema()
          .optional(
              "name", OptionType::text,
              {.help = "name of the experiment, first part of its runs' names, in which `{model.dropout}` "
                       "stands for an option; default: the file's name without `.toml`"})
          .text("note", "", {.help = "a remark, stored with every run"})
          .text_list("tags", {}, {.help = "words to find the runs by"})
          .integer("seed", 1,
                   {.help = "where all random numbers start: initial weights, order of the data, dropout",
                    .min = 0})
          .optional("base", OptionType::path, {.help = "another experiment file, which this one changes"})
          .text_list("plugin_path", {}, {.help = "folders with plugins, beside the built-in ones"});
  return schema;
}

const Schema& data_schema() {
  static const Schema schema =
      Schema()
          .optional("root", OptionType::path,
                    {.help = "folder that the other paths of this table start from; default: "
                             "the folder of the file that names them"})
          .required("train", OptionType::path_list,
                    {.help = "examples to learn from: a file, or a list of files in their order"})
          .optional("dev", OptionType::path_list,
                    {.help = "examples to choose the best checkpoint by; required unless `split` is there"})
          .optional("test", OptionType::path_list, {.help = "examples that are scored once, at the end"})
          .optional(
              "split", OptionType::number_list,
              {.help = "shares of the training, development and (third, if any) test set, which the "
                       "examples of `train` are cut into by their content; in place of `dev`, and with a "
                       "third share of `test`",
               .min = 0.0,
               .max = 1.0,
               .exclusive_min = true,
               .exclusive_max = true})
          .boolean("stratify", false,
                   {.help = "`split` divides the examples of each label in these shares; for tasks with one "
                            "label for each example"})
          .optional("more", OptionType::path_list,
                    {.help = "further examples to learn from, behind those of `train`; none of them comes "
                             "into another set, and none that the development or test set holds is learned "
                             "from"})
          .optional("held_out", OptionType::number,
                    {.help = "share of the examples of `more`, chosen by their content, that is not learned "
                             "from (`exp retrain` scores them)",
                     .min = 0.0,
                     .max = 1.0,
                     .exclusive_min = true,
                     .exclusive_max = true})
          .add({.name = "max_length",
                .type = OptionType::integer_or_percentage,
                .fallback = OptionValue(std::int64_t{256}),
                .rule = {.help = "longest sequence with its markers; what is longer is cut. `\"95%\"`: the "
                                 "length that so many of the training set's sequences do not exceed",
                         .unit = "pieces",
                         .min = 3,
                         .max = most_tokens}})
          .boolean("private", false,
                   {.help = "examples must not be shown to others: reports leave examples out; no part of "
                            "a run's identity"});
  return schema;
}

const Schema& model_schema() {
  static const Schema schema =
      Schema()
          .optional(
              "from", OptionType::path,
              {.help =
                   "what training starts from, and what fills this table and `[tokenizer]`: the folder of "
                   "a Hugging Face model (docs/guides/pretrained.md says which), or a run, "
                   "`{ run = \"NAME\" }` or `{ experiment = \"FILE\" }`"})
          .add(required_integer("width",
                                {.help = "size of a token's state, C", .min = 1, .max = most_channels}))
          .add(required_integer("layers",
                                {.help = "how often the block is repeated", .min = 1, .max = most_layers}))
          .integer("groups", 0,
                   {.help = "groups of consecutive blocks that share all parameters, as in ALBERT with 1; "
                            "0: every block has its own",
                    .min = 0,
                    .max = most_layers})
          .number("dropout", 0.1,
                  {.help = "share of the embeddings and of each sub-layer's output that is dropped in "
                           "training",
                   .min = 0.0,
                   .max = 1.0,
                   .exclusive_max = true})
          .choice("positions", "sinusoidal", {"sinusoidal", "learned", "none"},
                  {.help = "how a token's position is added to its vector; `none` leaves it to the attention "
                           "(rotary_attention, alibi_attention, relative_attention)"})
          .choice("position_layout", "pairs", {"pairs", "halves"},
                  {.help = "how the channels of `sinusoidal` positions lie: sine and cosine of each "
                           "frequency side by side, as in the paper, or all sines before all cosines, as in "
                           "Marian"})
          .integer(
              "max_positions", 0,
              {.help = "rows of the table of `learned` positions, at least `data.max_length`; 0: as many",
               .unit = "pieces",
               .min = 0,
               .max = most_tokens})
          .integer("segments", 0,
                   {.help = "rows of a table that says to which text of a pair a token belongs, 2 in BERT; "
                            "0: there is none",
                    .min = 0,
                    .max = most_segments})
          .integer(
              "embedding_width", 0,
              {.help = "size of the vectors in the tables of tokens, positions and segments, and of their "
                       "norm, which a matrix brings to `width`, as in ALBERT; 0: `width`, without a matrix",
               .min = 0,
               .max = most_channels})
          .boolean(
              "embedding_norm", false,
              {.help = "the norm over the sum of token, position and segment, before dropout, as in BERT"})
          .choice(
              "embedding_scale", "sqrt_width", {"sqrt_width", "none"},
              {.help =
                   "what the vectors of tokens are multiplied by: the root of their width, or nothing, as "
                   "in BERT; then all tables start with deviation 0.02"})
          .text("norm", "layer_norm",
                {.help = "the norm: a layer's type, or the name of a `[model.layer.NAME]` table"})
          .choice(
              "norm_position", "post", {"post", "pre"},
              {.help =
                   "norm after the residual sum, as in BERT, or before each sub-layer and once at the end"})
          .optional("final_norm", OptionType::boolean,
                    {.help = "whether the norm stands behind the last block too; default: only with "
                             "`norm_position = \"pre\"`"})
          .boolean("causal", false,
                   {.help = "a token sees itself and those before it only, as a model of language does"})
          .required("block", OptionType::text_list,
                    {.help = "sub-layers of a block in their order; each has a table "
                             "`[model.layer.NAME]`"});
  return schema;
}

const Schema& parent_schema() {
  static const Schema schema =
      named_run("name or id of a completed run of this database, whose weights training starts from");
  return schema;
}

const Schema& resolved_parent_schema() {
  static const Schema schema = resolved_run(parent_schema());
  return schema;
}

const Schema& teacher_schema() {
  static const Schema schema =
      named_run("name or id of a completed run of this database, from whose scores is learned");
  return schema;
}

const Schema& resolved_teacher_schema() {
  static const Schema schema = resolved_run(teacher_schema());
  return schema;
}

const Schema& distil_schema() {
  static const Schema schema =
      Schema()
          .number("temperature", 2.0,
                  {.help = "scores of teacher and student are divided by it before the softmax; above 1 what "
                           "the teacher says of the less likely classes counts more",
                   .min = 0.0,
                   .max = 1000.0,
                   .exclusive_min = true})
          .number("hard_weight", 0.5,
                  {.help = "weight of the loss by the true targets; that of the teacher's scores is what is "
                           "left to 1",
                   .min = 0.0,
                   .max = 1.0})
          .number("states", 0.0,
                  {.help = "weight of the loss by how alike the rows are that leave the last block of each; "
                           "0: nothing is learned of them",
                   .min = 0.0,
                   .max = 1000.0})
          .number("attention", 0.0,
                  {.help = "weight of the same loss of the queries, keys and values of the last attention",
                   .min = 0.0,
                   .max = 1000.0})
          .integer("relation_heads", 8,
                   {.help = "so many equal parts of a row are compared on their own; divides the "
                            "channels of these rows in both models, whatever heads they have",
                    .min = 1,
                    .max = 65536});
  return schema;
}

const Schema& decoder_schema() {
  static const Schema schema =
      Schema()
          .add(required_integer("layers",
                                {.help = "how often the block is repeated", .min = 1, .max = most_layers}))
          .required(
              "block", OptionType::text_list,
              {.help =
                   "sub-layers of a block in their order, as in `[model]`; one of them reads the encoder, "
                   "such as a `cross_attention`"});
  return schema;
}

const Schema& train_schema() {
  static const Schema schema =
      Schema()
          .integer("batch_size", 32,
                   {.help = "examples in a step", .unit = "examples", .min = 1, .max = most_sequences})
          .optional("batch_tokens", OptionType::integer,
                    {.help = "instead of `batch_size`: a step takes examples as long as the longest target "
                             "(where there is one text, the longest example) times their number does not "
                             "exceed it; at least one",
                     .unit = "pieces",
                     .min = 1,
                     .max = most_batch_tokens})
          .optional(
              "epochs", OptionType::integer,
              {.help = "passes over the training data, at most; 0 takes `model.from` as it is; required "
                       "unless `steps` is there",
               .min = 0,
               .max = most_epochs})
          .optional("steps", OptionType::integer,
                    {.help = "instead of `epochs`: training ends after so many steps, where need be within "
                             "an epoch",
                     .unit = "steps",
                     .min = 1,
                     .max = most_steps})
          .choice("precision", "float32", {"float32", "bfloat16", "float16", "float64"},
                  {.help = "type of activations and of the weights in products; sums, updates and "
                           "checkpoints stay float32 with types of 16 bits; `float16` is for GPUs, with a "
                           "`loss_scale`; `float64` is for checks"})
          .optional("loss_scale", OptionType::number,
                    {.help = "factor on the loss in backward passes, a power of two, so that small gradients "
                             "are not 0 in 16 bits; a step whose gradients are not finite halves it and "
                             "makes no update; default: 65536 with `float16`, else none",
                     .min = 1.0,
                     .max = most_loss_scale})
          .integer("loss_scale_steps", 2000,
                   {.help = "`loss_scale` is doubled after so many steps since it last changed",
                    .unit = "steps",
                    .min = 1,
                    .max = most_steps})
          .choice("recompute", "cheap", {"none", "cheap", "blocks"},
                  {.help = "what a forward pass does not keep for the backward pass, which computes it "
                           "again, to the same bits: nothing; outputs of norms and other layers that cost "
                           "little; or all of a block but what enters it, for far less memory and about a "
                           "third more time; no part of a run's identity"})
          .number("clip_norm", 1.0,
                  {.help = "longest gradient, over all parameters; 0 leaves it as it is", .min = 0.0})
          .optional(
              "select", OptionType::text,
              {.help = "what makes a checkpoint the best one: `max dev/MEASURE` or `min dev/MEASURE` of a "
                       "measure of the task, or `min dev/loss`; default: the task's own"})
          .integer("patience", 0,
                   {.help = "stop after so many epochs without a better score; 0 trains to the end",
                    .unit = "epochs",
                    .min = 0,
                    .max = most_epochs})
          .integer("evaluate_every", 0,
                   {.help = "score dev also every so many steps; 0 only after each epoch",
                    .unit = "steps",
                    .min = 0,
                    .max = most_steps})
          .integer("checkpoint_every", 0,
                   {.help = "write a checkpoint also every so many steps; 0 only after each epoch",
                    .unit = "steps",
                    .min = 0,
                    .max = most_steps})
          .choice("batching", "packed", {"packed", "padded"},
                  {.help = "`packed` computes no padding; `padded` exists to "
                           "compare"})
          .integer("gradient_shards", 1,
                   {.help = "parts into which a batch is cut; their gradients are added in a fixed "
                            "order",
                    .min = 1,
                    .max = most_sequences})
          .number("label_smoothing", 0.0,
                  {.help = "share of a target that is spread over all classes",
                   .min = 0.0,
                   .max = 1.0,
                   .exclusive_max = true})
          .text_list(
              "freeze", {},
              {.help = "parts of the model that stay as they are: names of parameters or beginnings of "
                       "them, such as `embedding` or `encoder.0`"})
          .number(
              "layer_decay", 1.0,
              {.help = "factor on the learning rate from each level of a stack to the one below: the head "
                       "learns at the full rate, the last block at this share of it, the embedding slowest",
               .min = 0.0,
               .max = 1.0,
               .exclusive_min = true})
          .text_list(
              "lora", {},
              {.help = "matrices that get a low-rank adapter, which is trained in their place (LoRA, Hu et "
                       "al. 2022): names of parameters or ends of them, such as `attention.qkv.weight`"})
          .integer("lora_rank", 8, {.help = "rank r of the adapters", .min = 1, .max = most_channels})
          .number("lora_alpha", 16.0,
                  {.help = "size of the adapters' change, which is multiplied by lora_alpha / lora_rank",
                   .min = 0.0,
                   .exclusive_min = true})
          .integer("digest_steps", 10,
                   {.help = "first steps whose weights are digested for `exp verify`; after them, "
                            "every epoch",
                    .unit = "steps",
                    .min = 0,
                    .max = most_steps})
          .integer("show_attention", 0,
                   {.help = "examples of the development set, its first ones, whose attention weights are "
                            "kept when the run is complete, as a file of the run that a report draws",
                    .unit = "examples",
                    .min = 0,
                    .max = 100})
          .optional("retrains", OptionType::text,
                    {.help = "id of the run that this one is to replace, as `exp retrain` writes it; where "
                             "training starts from the weights of a run, the classes must be those of that "
                             "run; no part of a run's identity"});
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
  for (const PluginTableRule& rule : plugin_table_rules())
    if (rule.kind == kind) return rule.key;
  return "model.layer.NAME";
}

bool only_describes(const std::string& key) {
  return key == "data.private" || key == "train.recompute" || key == "train.retrains";
}

const std::vector<std::string>& top_tables() {
  static const std::vector<std::string> tables = {"task",     "data",  "tokenizer", "model", "optimizer",
                                                  "schedule", "train", "distil",    "sweep", "search"};
  return tables;
}

}  // namespace encore
