// SPDX-License-Identifier: BSD-3-Clause
// Tests the check of declarations (framework/contract/declaration_check.cpp, part of `exp plugin check`) with
// layers whose declared names, shapes and sharing no model can use: the contract suite must name them before
// a run does.
#include <limits>

#include <gtest/gtest.h>

#include <encore/kernels.hpp>
#include <encore/plugin.hpp>

#include "contract/findings.hpp"

namespace encore::testing {
namespace {

/// Computes y = x, with two unused parameters, of which later blocks share the first.
class Identity : public Layer {
 public:
  static Schema options() { return {}; }
  Identity(const Options&, const LayerContext& context) : first_(context.first_block) {}

  void declare(LayerPlan& plan) override {
    plan.parameter({.name = "decay",
                    .shape = {plan.width()},
                    .value = start(),
                    .alias = first_.empty() ? "" : first_ + shared()});
    plan.parameter({.name = second(), .shape = {2}});
  }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    kernels::copy(step.device(), inputs[0], output);
  }
  void backward(const Step& step, std::span<const Tensor>, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    kernels::copy(step.device(), output_gradient, input_gradients[0]);
  }

 protected:
  virtual std::string second() const { return "gain"; }
  virtual std::string shared() const { return ".decay"; }
  virtual double start() const { return 0.0; }

 private:
  std::string first_;
};

struct OneNameTwice : Identity {
  using Identity::Identity;
  std::string second() const override { return "decay"; }
};
struct NameLikeAPath : Identity {
  using Identity::Identity;
  std::string second() const override { return "../x y"; }
};
struct AliasOfNobody : Identity {
  using Identity::Identity;
  std::string shared() const override { return ".decoy"; }
};
struct AliasOfAnotherShape : Identity {
  using Identity::Identity;
  std::string shared() const override { return ".gain"; }
};
struct AliasWithoutADot : Identity {
  using Identity::Identity;
  std::string shared() const override { return "decay"; }
};
struct StartsAtInfinity : Identity {
  using Identity::Identity;
  double start() const override { return std::numeric_limits<double>::infinity(); }
};
struct OfNegativeVersion : Identity {
  static constexpr int version = -3;
  using Identity::Identity;
};
struct AsksForAnyBuffer : Identity {
  using Identity::Identity;
  void forward(const Step& step, std::span<const Tensor>, Tensor) override { step.buffer({}); }
};

template <class T>
std::string said_of() {
  Registrar registrar;
  registrar.add<Kind::layer, T>("identity");
  return failures(findings_of(registrar.offers().front()));
}

TEST(DeclarationCheck, PassesALayerThatSharesAParameter) {
  EXPECT_EQ(said_of<Identity>(), "");
}

TEST(DeclarationCheck, FindsNamesThatAreNotDistinct) {
  expect_said(said_of<OneNameTwice>(),
              "declaration: two parameters are called \"decay\"; a layer gives each");
  expect_said(said_of<NameLikeAPath>(),
              "declaration: a parameter is called \"../x y\"; it names tensors in checkpoints, so take "
              "letters, digits, \"_\", \"-\" and \".\"");
}

TEST(DeclarationCheck, FindsAnAliasOfWhatIsNotThere) {
  const std::string begin = "declaration: in the second block parameter \"decay\" has the alias ";
  expect_said(said_of<AliasOfNobody>(),
              begin +
                  "\"encoder.0.part.decoy\", where context.first_block is "
                  "\"encoder.0.part\", and the layer of the first block has no such "
                  "parameter; it has decay, gain");
  expect_said(said_of<AliasOfAnotherShape>(), ", which has there the shape (2) and not (8)");
  expect_said(said_of<AliasWithoutADot>(), begin + "\"encoder.0.partdecay\"");
}

TEST(DeclarationCheck, FindsAStartThatIsNotFinite) {
  expect_said(said_of<StartsAtInfinity>(),
              "declaration: parameter \"decay\" starts at values that are not finite");
}

TEST(DeclarationCheck, FindsAVersionThatDoesNotCount) {
  expect_said(said_of<OfNegativeVersion>(), "options: its version is -3; versions count from 1");
}

TEST(DeclarationCheck, SaysWhatWasNotDeclaredInASentence) {
  expect_said(said_of<AsksForAnyBuffer>(),
              "gradients: the layer asks for a buffer that it did not declare (handle -1 of 0); keep what "
              "LayerPlan returns for it in declare\n");
}

}  // namespace
}  // namespace encore::testing
