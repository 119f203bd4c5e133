// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "interrupt.hpp"
#include "launcher.hpp"
#include "option_table.hpp"
#include "stepwell/error.hpp"
#include "stepwell/version.hpp"
#include "verbs.hpp"

namespace stepwell::tool {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 1 'bench compare' found something slower, 2 wrong usage, 10 a file\n"
    "can't be opened, 11 malformed, 12 truncated, 13 too large, 14 not supported on this machine\n"
    "or in this build, 15 NaN or infinity in A or b, 16 wrong shape or not symmetric, 20 not\n"
    "positive definite, singular or rank deficient, 21 not converged, 22 x is larger than FP64\n"
    "can hold, 23 A or b was modified during the solve, 30 out of memory, 70 a bug in Stepwell or\n"
    "a failed 'selftest'. Errors are one line on standard error.\n";

/// An empty text means that another rank reports the error. Allocates nothing, because there may be
/// no memory.
int fail(int code, std::string_view text) {
  if (!text.empty()) {
    std::fprintf(stderr, "stepwell: error: %.*s\n", static_cast<int>(text.size()), text.data());
  }
  return code;
}

int fail(ErrorCode code, std::string_view text) {
  return fail(static_cast<int>(code), text);
}

int run(int argc, char** argv) {
  CLI::App app("Stepwell: dense linear systems to full FP64 accuracy on low-precision engines.",
               "stepwell");
  app.set_version_flag("--version", std::string("stepwell ") + version());
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.footer(std::string("Examples:\n  stepwell gen arithmetic --n 4000 -o A.npy --rhs b.npy\n"
                         "  stepwell solve A.npy b.npy -o x.npy\n"
                         "  stepwell gen tall --m 200000 --n 500 -o T.npy --rhs c.npy\n"
                         "  stepwell lstsq T.npy c.npy -o y.npy\n"
                         "  stepwell doctor\n"
                         "  stepwell selftest\n"
                         "  stepwell bench solve --kind arithmetic --cond 1e2 --n 8192\n"
                         "  stepwell bench factor --n 8192 --map bf16\n"
                         "  stepwell bench kernel --op symv --size 16384\n\n") +
             kExitCodes);
  add_solve(app);
  add_lstsq(app);
  add_gen(app);
  add_plan(app);
  add_tune(app);
  add_bench(app);
  add_doctor(app);
  add_selftest(app);
  add_completion(app);
  add_man(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    const std::vector<std::string> unknown = app.remaining(true);
    const std::string what = unknown.empty() ? e.what() : "unknown argument '" + unknown[0] + "'";
    const bool says = launched_rank() == 0;  // all ranks have the same arguments
    return fail(ErrorCode::invalid_argument, says ? what + "; see 'stepwell --help'" : "");
  }
  // Buffered text that can't be written is an error, too: a full disk must not look like success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return fail(ErrorCode::cannot_open, "standard output can't be written");
  }
  return 0;
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
}  // namespace stepwell::tool

int main(int argc, char** argv) {
  using stepwell::ErrorCode;
  using stepwell::tool::fail;
  stepwell::tool::end_cleanly_on_signals();
  try {
    return stepwell::tool::run(argc, argv);
  } catch (const stepwell::tool::Failure& e) {
    return fail(e.code, e.text);
  } catch (const stepwell::Error& e) {
    return fail(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::exception& e) {
    return fail(ErrorCode::internal, e.what());
  }
}
