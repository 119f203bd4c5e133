// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace stepwell::core {

/// Throws Error(out_of_memory) without allocating memory: the message is created when the library
/// is loaded. Public functions that allocate end in
///
///     } catch (const std::bad_alloc&) { core::throw_out_of_memory(); }
///
/// so that the caller gets an Error whichever allocation has failed.
[[noreturn]] void throw_out_of_memory();

}  // namespace stepwell::core
