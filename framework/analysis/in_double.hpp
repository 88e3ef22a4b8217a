// SPDX-License-Identifier: BSD-3-Clause
// The policy of all of Boost.Math here: double arithmetic throughout. Its default computes in long double,
// whose further digits are not used, and throws while the program starts if long double is not wider than
// double (valgrind, some emulators): Boost warms its tables up before main.
#pragma once

#include <boost/math/policies/policy.hpp>

namespace encore {

using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace encore
