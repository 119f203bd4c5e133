// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/als.hpp"          // IWYU pragma: export
#include "stepwell/batch.hpp"        // IWYU pragma: export
#include "stepwell/certificate.hpp"  // IWYU pragma: export
#include "stepwell/context.hpp"      // IWYU pragma: export
#include "stepwell/distributed.hpp"  // IWYU pragma: export
#include "stepwell/error.hpp"        // IWYU pragma: export
#include "stepwell/factor.hpp"       // IWYU pragma: export
#include "stepwell/level3.hpp"       // IWYU pragma: export
#include "stepwell/lstsq.hpp"        // IWYU pragma: export
#include "stepwell/lu.hpp"           // IWYU pragma: export
#include "stepwell/machine.hpp"      // IWYU pragma: export
#include "stepwell/map.hpp"          // IWYU pragma: export
#include "stepwell/options.hpp"      // IWYU pragma: export
#include "stepwell/progress.hpp"     // IWYU pragma: export
#include "stepwell/refiner.hpp"      // IWYU pragma: export
#include "stepwell/rung.hpp"         // IWYU pragma: export
#include "stepwell/solve.hpp"        // IWYU pragma: export
#include "stepwell/tall.hpp"         // IWYU pragma: export
#include "stepwell/version.hpp"      // IWYU pragma: export
#include "stepwell/view.hpp"         // IWYU pragma: export
