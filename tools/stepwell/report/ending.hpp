// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

/// How a process of the command ends: with an exit code, and with one line on standard error if
/// something is wrong.
namespace stepwell::tool {

/// Thrown by a verb that ends with its own exit code and one line on standard error. An empty text
/// means that another rank reports the error.
struct Failure {
  int code = 1;
  std::string text;
};

/// Runs the body of main() and returns the exit code: the body's own, or that of the exception that
/// it threw, whose text is printed. Ctrl-C and SIGTERM end the process at once, whatever it is
/// doing: unfinished files are removed, the progress line is cleared, and the process dies of the
/// signal, as its parent expects. A limit on the size of files (SIGXFSZ) is an error like a full
/// disk. Unfinished files are also removed when a library aborts; if the reason is a lack of
/// memory, the process ends with end_for_memory().
int end_cleanly(const std::function<int()>& body);

/// Prints one line on standard error and exits with the code for lack of memory. Allocates nothing.
[[noreturn]] void end_for_memory();

/// After this call the loss of a mapped file's pages (another process has made the file shorter)
/// ends this process with one line on standard error and the exit code of a truncated file.
void fail_on_lost_pages();

}  // namespace stepwell::tool
