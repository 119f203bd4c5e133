// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace stepwell::tool {

/// After this call Ctrl-C and SIGTERM end the process at once, whatever it is doing: unfinished
/// files are removed, the progress line is cleared, and the process dies of the signal, as its
/// parent expects. A limit on the size of files (SIGXFSZ) is an error like a full disk. Unfinished
/// files are also removed when a library aborts; if the reason is a lack of memory, the process
/// ends with end_for_memory().
void end_cleanly_on_signals();

/// Prints one line on standard error and exits with the code for lack of memory. Allocates nothing.
[[noreturn]] void end_for_memory();

/// After this call the loss of a mapped file's pages (another process has made the file shorter)
/// ends this process with one line on standard error and the exit code of a truncated file.
void fail_on_lost_pages();

}  // namespace stepwell::tool
