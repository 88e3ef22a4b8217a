// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "toml": mutated experiment files are parsed, resolved and expanded into runs, as by `exp
// plan` and `exp run` (plan/plan.hpp). Data files are not read: their names are hashed instead. fuzz.cpp
// calls the target; read target.hpp first.
#include <stdexcept>

#include "fuzz/target.hpp"
#include "unit/plan/planning.hpp"

namespace encore::fuzz {

namespace {

const std::string grid = R"(
[sweep]
exclude = ["model.layers == 12 && model.dropout >= 0.3", "!(optimizer.type == 'adamw') || train.epochs > 20"]
[sweep.grid]
"model.layer.attention" = [{ type = "self_attention" }, { type = "sliding_window_attention" }]
"model.layer.attention.window" = [16, 64]
"optimizer.type" = ["adamw", "sgd"]
[sweep.when]
"model.layer.attention.window" = "model.layer.attention.type == 'sliding_window_attention'"
)";

const std::string zip_and_draws = R"(
[sweep]
draws = 3
seed = 5
[[sweep.zip]]
"model.layers" = [4, 12]
"model.dropout" = [0.1, 0.3]
[sweep.random]
"optimizer.weight_decay" = { log_uniform = [1e-4, 1e-1] }
"model.layer.attention.heads" = { choice = [2, 4, 8] }
"optimizer.learning_rate" = { uniform = [1e-4, 1e-3] }
"schedule.warmup_steps" = { int = [0, 500] }
)";

class TomlTarget final : public Target {
 public:
  std::string name() const override { return "toml"; }

  std::vector<std::string> corpus() override {
    return {sample::experiment, sample::experiment + grid, sample::experiment + zip_and_draws,
            "seeds = [1, 2, 3]\ntags = ['a', \"b\"]\nnote = \"\"\"two\nlines\"\"\"\n" +
                sample::experiment.substr(sample::experiment.find("[task]"))};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    static const Words words = {"[",
                                "]",
                                "[[",
                                "]]",
                                "{",
                                "}",
                                "=",
                                ".",
                                "\"",
                                "'''",
                                "\"\"\"",
                                "#",
                                ",",
                                "\n",
                                "(",
                                ")",
                                "!",
                                "-",
                                "true",
                                "false",
                                "nan",
                                "-inf",
                                "\\u0000",
                                "\\U00110000",
                                "seeds = [1, 2]\n",
                                "exclude = [\"",
                                "when = ",
                                "draws = 5\n",
                                "[sweep.grid]\n",
                                "[sweep.random]\n",
                                "type = ",
                                "name = \"\"\n",
                                "tags = []\n",
                                "\xff",
                                "\xc0\x80",
                                "\xef\xbb\xbf",
                                "1979-05-27T07:32:00Z",
                                "a.b.c.d = 1\n",
                                " && ",
                                " || ",
                                " == ",
                                " >= ",
                                "model.layer.",
                                "\"model.dropout\" = "};
    mutate_bytes(input, words, others, random);
  }

  void take(const std::string& input) override {
    const plan::Plan plan = planning::plan(input, {"train.epochs=2"});
    for (const plan::RunPoint& point : plan.points)
      if (point.name.empty() || point.question.size() != 64)
        throw std::logic_error("a run without name or question");
  }
};

}  // namespace

std::unique_ptr<Target> make_toml_target() {
  return std::make_unique<TomlTarget>();
}

}  // namespace encore::fuzz
