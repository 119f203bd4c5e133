// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace stepwell::core {

/// Throws Error(out_of_memory), and needs no memory for it: the text is made when the library is
/// loaded. What users call ends in
///
///     } catch (const std::bad_alloc&) { core::throw_out_of_memory(); }
///
/// so that nobody has to know which of our containers was too large.
[[noreturn]] void throw_out_of_memory();

}  // namespace stepwell::core
