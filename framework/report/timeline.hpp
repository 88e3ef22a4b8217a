// SPDX-License-Identifier: BSD-3-Clause
// timeline_of(): the attempts of a report's runs over time, on lanes: a host has as many lanes as it had
// attempts at once. Place in the flow: sweep_pictures.cpp draws it. Pure function of the recorded times.
#pragma once

#include "document/chart.hpp"
#include "report/report_data.hpp"

namespace encore::report {

/// Returns the chart. Attempts whose end was not recorded have no bar; `untimed` counts them.
document::TimelineChart timeline_of(const ReportData& data, std::size_t& untimed);

}  // namespace encore::report
