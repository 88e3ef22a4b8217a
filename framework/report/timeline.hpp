// The times of the runs: the attempts of a report's runs laid out on lanes, one for each that a host had
// running at once. Pure. Place in the flow: sweep_pictures.cpp draws it.
#pragma once

#include "document/chart.hpp"
#include "report/report_data.hpp"

namespace encore {

/// Attempts whose end was not recorded have no bar; `untimed` counts them.
TimelineChart timeline_of(const ReportData& data, std::size_t& untimed);

}  // namespace encore
