// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Marks the symbols that the shared library exports; all others are hidden.
#define STEPWELL_API [[gnu::visibility("default")]]
