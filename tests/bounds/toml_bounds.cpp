// SPDX-License-Identifier: BSD-3-Clause
// Bounds the work for TOML that users pass on: any TOML (config/toml.hpp), experiment files up to the plan
// (plan/plan.hpp), site files (config/site_file.hpp), and conditions of sweeps (plan/expression.hpp). It
// calls expect_linear() of linear.hpp.
#include <nlohmann/json.hpp>

#include "bounds/inputs.hpp"
#include "bounds/linear.hpp"
#include "config/site_file.hpp"
#include "config/toml.hpp"
#include "plan/expression.hpp"
#include "unit/plan/planning.hpp"

namespace encore::bounds {
namespace {

/// toml++ keeps the place and the name of the file with each value, so that "0," becomes some 200 bytes, as
/// does Value after it.
constexpr double toml_memory = 400.0, toml_steps = 3000.0;

void read_toml(const std::string& text) {
  config::parse_toml(text, "a.toml");
}

TEST(TomlBounds, ManyKeys) {
  expect_linear(
      {2000, toml_steps, toml_memory},
      [](std::size_t n) { return repeated(n, [](std::size_t i) { return numbered("k", i) + "=1\n"; }); },
      read_toml);
}

TEST(TomlBounds, KeysOfManyParts) {
  expect_linear(
      {200, toml_steps, toml_memory},
      [](std::size_t n) {
        return repeated(n, [](std::size_t i) { return repeated(98, "a.") + numbered("k", i) + "=1\n"; });
      },
      read_toml);
}

TEST(TomlBounds, HeadersOfManyParts) {
  expect_linear(
      {200, toml_steps, toml_memory},
      [](std::size_t n) {
        return repeated(n, [](std::size_t i) { return "[" + repeated(98, "a.") + numbered("k", i) + "]\n"; });
      },
      read_toml);
}

TEST(TomlBounds, ManyTablesInAnArray) {
  expect_linear(
      {2000, toml_steps, toml_memory}, [](std::size_t n) { return repeated(n, "[[a]]\nb=1\n"); }, read_toml);
}

TEST(TomlBounds, ALongList) {
  expect_linear(
      {10000, toml_steps, toml_memory}, [](std::size_t n) { return "a=[" + repeated(n, "0,") + "]"; },
      read_toml);
}

TEST(TomlBounds, DeepLists) {
  expect_linear(
      {100, toml_steps, toml_memory},
      [](std::size_t n) {
        return repeated(n, [](std::size_t i) {
          return numbered("a", i) + "=" + repeated(98, "[") + repeated(98, "]") + "\n";
        });
      },
      read_toml);
}

TEST(TomlBounds, ALongText) {
  expect_linear(
      {100000, toml_steps, toml_memory}, [](std::size_t n) { return "a='''" + repeated(n, "\n'") + "'''\n"; },
      read_toml);
}

TEST(TomlBounds, ALongTextWithoutAnEnd) {
  expect_linear(
      {100000, toml_steps, toml_memory, Outcome::refused},
      [](std::size_t n) { return "a=\"\"\"" + repeated(n, "\\\\\""); }, read_toml);
}

TEST(TomlBounds, ALongDuplicateKey) {
  expect_linear(
      {10000, toml_steps, toml_memory, Outcome::refused},
      [](std::size_t n) { return repeated(2, repeated(n, "k") + "=1\n"); }, read_toml);
}

// --- experiments ---

void read_experiment(const std::string& text) {
  planning::plan(text);
}

/// The limits are high because an experiment of 400 bytes takes as much as one of 100 kB: its run has the
/// same parts.
constexpr double experiment_memory = 1000.0, experiment_steps = 60000.0;

std::string with_keys(const std::string& table, const std::string& keys) {
  return sample::changed(sample::experiment, table + "\n", table + "\n" + keys);
}

TEST(ExperimentBounds, ManyUnknownOptions) {
  expect_linear(
      {2000, experiment_steps, experiment_memory, Outcome::refused},
      [](std::size_t n) {
        return with_keys("[train]", repeated(n, [](std::size_t i) { return numbered("epoch", i) + "=1\n"; }));
      },
      read_experiment);
}

TEST(ExperimentBounds, ManyUnknownTables) {
  expect_linear(
      {2000, experiment_steps, experiment_memory, Outcome::refused},
      [](std::size_t n) {
        return sample::experiment +
               repeated(n, [](std::size_t i) { return "[" + numbered("model.layer.a", i) + "]\n"; });
      },
      read_experiment);
}

TEST(ExperimentBounds, ManyWrongTables) {
  expect_linear(
      {2000, experiment_steps, experiment_memory, Outcome::refused},
      [](std::size_t n) {
        return sample::experiment +
               repeated(n, [](std::size_t i) { return "[" + numbered("trained", i) + "]\n"; });
      },
      read_experiment);
}

TEST(ExperimentBounds, ALongUnknownOption) {
  expect_linear(
      {20000, experiment_steps, experiment_memory, Outcome::refused},
      [](std::size_t n) { return with_keys("[train]", repeated(n, "epoch") + "=1\n"); }, read_experiment);
}

TEST(ExperimentBounds, ManyTags) {
  expect_linear(
      {4000, experiment_steps, experiment_memory, Outcome::refused},
      [](std::size_t n) {
        return "tags=[" + joined(n, [](std::size_t i) { return numbered("\"a", i) + "\""; }) + "]\n" +
               sample::experiment;
      },
      read_experiment);
}

TEST(ExperimentBounds, ManyLayersInABlock) {
  expect_linear(
      {1000, experiment_steps, experiment_memory, Outcome::refused},
      [](std::size_t n) {
        return sample::changed(sample::experiment, "block = [\"attention\"",
                               "block = [" + repeated(n, "\"attention\",") + "\"attention\"");
      },
      read_experiment);
}

TEST(ExperimentBounds, ALongTextOfASweep) {
  expect_linear(
      {1000, experiment_steps, experiment_memory, Outcome::refused},
      [](std::size_t n) {
        return sample::experiment + "[sweep.grid]\n\"model.dropout\"=[" +
               joined(n, [](std::size_t i) { return numbered("0.", i + 1); }) + "]\n[sweep]\nexclude=[" +
               joined(n, [](std::size_t i) { return numbered("\"model.layers == ", i) + "\""; }) + "]\n";
      },
      read_experiment);
}

/// Each value becomes a run with all its settings, up to most_points.
TEST(ExperimentBounds, ManyValuesOfOneVariable) {
  expect_linear(
      {500, experiment_steps, 3000.0},
      [](std::size_t n) {
        return sample::experiment + "[sweep.grid]\n\"optimizer.weight_decay\"=[" +
               joined(n, [](std::size_t i) { return numbered("0.", 1000000 + i); }) + "]\n";
      },
      read_experiment);
}

TEST(ExperimentBounds, ManyExclusionsOfOneRun) {
  expect_linear(
      {2000, experiment_steps, experiment_memory},
      [](std::size_t n) {
        return sample::experiment + "[sweep]\nexclude=[" +
               joined(n, [](std::size_t i) { return numbered("\"train.epochs == ", i + 10) + "\""; }) +
               "]\n[sweep.grid]\n\"optimizer.weight_decay\"=[0.1,0.2]\n";
      },
      read_experiment);
}

// --- site files ---

void read_site(const std::string& text) {
  config::parse_site(text, "site.toml");
}

constexpr double site_memory = 800.0, site_steps = 20000.0;

TEST(SiteBounds, ManyUnknownOptions) {
  expect_linear(
      {2000, site_steps, site_memory, Outcome::refused},
      [](std::size_t n) {
        return "[slurm]\n" + repeated(n, [](std::size_t i) { return numbered("partitio", i) + "=1\n"; });
      },
      read_site);
}

TEST(SiteBounds, ManyUnknownTables) {
  expect_linear(
      {2000, site_steps, site_memory, Outcome::refused},
      [](std::size_t n) {
        return repeated(n, [](std::size_t i) { return "[" + numbered("slurm", i) + "]\n"; });
      },
      read_site);
}

TEST(SiteBounds, ManyOptionsOfSbatch) {
  expect_linear(
      {4000, site_steps, site_memory},
      [](std::size_t n) { return "[slurm]\noptions=[" + repeated(n, "\"--qos=a\",") + "]\n"; }, read_site);
}

TEST(SiteBounds, ManyWrongOptionsOfSbatch) {
  expect_linear(
      {4000, site_steps, site_memory, Outcome::refused},
      [](std::size_t n) { return "[slurm]\noptions=[" + repeated(n, "\"-J=a\",") + "]\n"; }, read_site);
}

/// A command is not matched by std::regex, which recurses for each character: a long text would crash the
/// program.
TEST(SiteBounds, ALongCommand) {
  expect_linear(
      {200000, site_steps, site_memory, Outcome::refused},
      [](std::size_t n) { return "[slurm]\nmpi=\"" + repeated(n, "{r") + "\"\n"; }, read_site);
}

TEST(SiteBounds, ALongWord) {
  expect_linear(
      {200000, site_steps, site_memory, Outcome::taken},
      [](std::size_t n) { return "[slurm]\naccount=\"" + repeated(n, "a") + "\"\n"; }, read_site);
}

// --- conditions ---

void read_expression(const std::string& text) {
  const plan::Expression expression = plan::Expression::parse(text);
  expression.keys();
  expression.holds({{"a", 1}, {"b", true}});
}

constexpr double expression_memory = 400.0, expression_steps = 2000.0;

TEST(ExpressionBounds, ManyComparisons) {
  expect_linear(
      {4000, expression_steps, expression_memory}, [](std::size_t n) { return repeated(n, "a==1&&") + "b"; },
      read_expression);
}

TEST(ExpressionBounds, ManyFlags) {
  expect_linear(
      {8000, expression_steps, expression_memory}, [](std::size_t n) { return repeated(n, "c||") + "b"; },
      read_expression);
}

TEST(ExpressionBounds, DeepParentheses) {
  expect_linear(
      {100, expression_steps, expression_memory},
      [](std::size_t n) { return repeated(n, repeated(98, "(") + "b" + repeated(98, ")") + "&&") + "b"; },
      read_expression);
}

TEST(ExpressionBounds, ALongName) {
  expect_linear(
      {50000, expression_steps, expression_memory}, [](std::size_t n) { return repeated(n, "a.") + "a==1"; },
      read_expression);
}

TEST(ExpressionBounds, ALongText) {
  expect_linear(
      {100000, expression_steps, expression_memory, Outcome::refused},
      [](std::size_t n) { return "a=='" + repeated(n, "b") + "'"; }, read_expression);
}

TEST(ExpressionBounds, ManyNegations) {
  expect_linear(
      {4000, expression_steps, expression_memory, Outcome::refused},
      [](std::size_t n) { return repeated(n, "!") + "b"; }, read_expression);
}

}  // namespace
}  // namespace encore::bounds
