// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the shared library shows; everything else in it is hidden.
#define STEPWELL_API __attribute__((visibility("default")))
