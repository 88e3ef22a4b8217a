// A checklist from the material of a report: what report.cpp calls.
#pragma once

#include "report/checklist.hpp"
#include "report/material.hpp"

namespace encore {

/// Throws Error that names the nearest list.
void require_checklist(const std::string& name);
Checklist fill_checklist(const Material& material, const std::string& name);

}  // namespace encore
