// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "report/ending.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "io/sink.hpp"
#include "stepwell/error.hpp"

namespace stepwell::tool {
namespace {

/// Does only what a signal handler may do.
void end(int signal) {
  io::remove_unfinished();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const std::string_view text =
      terminal ? "\r\x1b[Kstepwell: interrupted\n" : "stepwell: interrupted\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  raise(signal);  // the handler was reset by SA_RESETHAND
}

/// The same for SIGBUS, a read of a mapped page that the system can't provide.
void end_for_lost_pages(int) {
  io::remove_unfinished();
  constexpr std::string_view text =
      "stepwell: error: a file that was mapped became shorter while it was read; write a new file "
      "and rename it\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  _exit(static_cast<int>(ErrorCode::truncated));
}

/// StarPU and hwloc abort when they can't allocate memory.
void give_up(int) {
  io::remove_unfinished();
  if (errno != ENOMEM) return;  // a bug: abort() continues
  end_for_memory();
}

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = end;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // A parent that ignores a signal (nohup) expects its children to ignore it, too.
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
  action.sa_handler = give_up;
  sigaction(SIGABRT, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // write() then reports the size limit as an error with a text
}

/// Allocates nothing, because there may be no memory.
int fail(int code, std::string_view text) {
  if (!text.empty()) {
    std::fprintf(stderr, "stepwell: error: %.*s\n", static_cast<int>(text.size()), text.data());
  }
  return code;
}

int fail(ErrorCode code, std::string_view text) {
  return fail(static_cast<int>(code), text);
}

/// The command's own static variables allocate memory before main(), where a failure can't be
/// caught.
void on_terminate() {
  if (std::exception_ptr error = std::current_exception()) {
    try {
      std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
      end_for_memory();
    } catch (...) {
    }
  }
  std::abort();
}

[[gnu::constructor(101)]] void before_other_constructors() {
  std::set_terminate(on_terminate);
}

}  // namespace

void end_for_memory() {
  constexpr std::string_view text = "stepwell: error: out of memory\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  _exit(static_cast<int>(ErrorCode::out_of_memory));
}

int end_cleanly(const std::function<int()>& body) {
  handle_signals();
  try {
    return body();
  } catch (const Failure& e) {
    return fail(e.code, e.text);
  } catch (const Error& e) {
    return fail(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::exception& e) {
    return fail(ErrorCode::internal, e.what());
  }
}

void fail_on_lost_pages() {
  struct sigaction action {};
  action.sa_handler = end_for_lost_pages;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace stepwell::tool
