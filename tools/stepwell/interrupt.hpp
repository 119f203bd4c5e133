// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace stepwell::tool {

/// From now on Ctrl-C and SIGTERM end the process at once, whatever it is at: unfinished files are
/// removed, the line of progress is cleared, and the process dies of the signal, as its parent
/// expects. A limit on the size of files (SIGXFSZ) is an error like a full disk. Unfinished files
/// are removed, too, where a library aborts; if that was for lack of memory the process ends by
/// end_for_memory().
void end_cleanly_on_signals();

/// One line on standard error, and the exit code of a lack of memory. Needs none itself.
[[noreturn]] void end_for_memory();

/// From now on the loss of a mapped file's pages (another process has made the file shorter) ends
/// this process with one line on standard error and the exit code of a truncated file.
void fail_on_lost_pages();

}  // namespace stepwell::tool
