#include "plugin_host/fingerprint.hpp"

#include <gtest/gtest.h>

namespace encore {
namespace {

TEST(Fingerprint, EqualTextsDoNotDiffer) {
  EXPECT_EQ(fingerprint_difference("a=1;b=2", "a=1;b=2"), "");
}

TEST(Fingerprint, OrderAndFinalSemicolonDoNotMatter) {
  EXPECT_EQ(fingerprint_difference("b=2;a=1;", "a=1;b=2"), "");
}

TEST(Fingerprint, OnlyDifferingFieldsAreNamedWithBothValues) {
  EXPECT_EQ(fingerprint_difference("sdk=1;kokkos=4.6.2;backend=cuda", "sdk=1;kokkos=4.7.0;backend=openmp"),
            "backend is cuda in the plugin and openmp here, kokkos is 4.6.2 in the plugin and 4.7.0 here");
}

TEST(Fingerprint, AFieldThatOneSideLacksDiffers) {
  EXPECT_EQ(fingerprint_difference("a=1", "a=1;b=2"), "b is (none) in the plugin and 2 here");
  EXPECT_EQ(fingerprint_difference("a=1;b=2", "a=1"), "b is 2 in the plugin and (none) here");
}

TEST(Fingerprint, OfThisBuildNamesEveryField) {
  for (const char* field :
       {"sdk=", "compiler=", "standard_library=", "kokkos=", "backend=", "architecture=", "sanitizer="})
    EXPECT_NE(host_fingerprint().find(field), std::string_view::npos)
        << field << " in " << host_fingerprint();
}

}  // namespace
}  // namespace encore
