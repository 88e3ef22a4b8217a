// SPDX-License-Identifier: BSD-3-Clause
// The policy with which all files of this folder call Boost.Math: double arithmetic throughout. Boost's
// default computes in long double, whose further digits are not used. It also throws while the program
// starts if long double is not wider than double (valgrind, some emulators), because Boost fills tables
// before main. A call without the policy brings that back.
#pragma once

#include <boost/math/policies/policy.hpp>

namespace encore::analysis {

using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace encore::analysis
