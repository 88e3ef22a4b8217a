// The policy of all of Boost.Math here: double arithmetic throughout. Its default computes in long double,
// gains digits that nobody reads, and throws while the program starts where long double is no wider than
// double (valgrind, some emulators): Boost warms its tables up before main.
#pragma once

#include <boost/math/policies/policy.hpp>

namespace encore {

using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace encore
