// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "stepwell/machine.hpp"

/// The verb `doctor`: what the library found on this machine, what it chose and why.
namespace stepwell::tool {

nlohmann::ordered_json machine_json(const MachineReport& report);

/// Text that fits on one screen, with colours if asked for.
std::string machine_text(const MachineReport& report, bool colour);

void doctor(bool json);

}  // namespace stepwell::tool
