// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Preloaded into a program, this library makes it run on another CPU: it has the kernel fault on
// every CPUID instruction (Intel since Ivy Bridge, AMD since Zen 4; Linux 4.12) and answers from
// the signal handler. New threads inherit the faulting, a new program loses it and preloads us
// again.
//
// FAKE_CPU says which CPU, parts separated by semicolons:
//   hide=avx512bw,amx_bf16  these feature bits are clear (names as in /proc/cpuinfo, and osxsave)
//   amx                     the CPU has AMX, VNNI and bf16: instructions that it does not have are
//                           run by emulator.cpp, and the kernel's permission is granted. The
//                           program ends with exit code 77 where that needs no emulator, or is not
//                           possible
//   vendor=AuthenticAMD     the vendor, at most 12 characters
//   model=Some CPU          the brand string, at most 48 characters
//   max_leaf=6              the last leaf of CPUID. Leaves beyond it still return the CPU's own
//                           bits, so that code which does not check the limit is detected
//   small_altstack          the main thread has an alternate signal stack of 4096 bytes: too small
//                           for AMX, so the kernel refuses permission with ENOSPC
//   refuse_permission       asking for AMX fails with EPERM, as in a sandbox
//
// All data that the handler uses is written once, before any other library's constructor runs.

#include <cpuid.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "emulator.hpp"

namespace {

constexpr long kSetCpuid = 0x1012;           // ARCH_SET_CPUID
constexpr long kGetPermission = 0x1022;      // ARCH_GET_XCOMP_PERM
constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM

enum Register { eax, ebx, ecx, edx };

struct Feature {
  const char* name;
  unsigned leaf, subleaf;
  Register where;
  int bit;
};

constexpr Feature kFeatures[] = {
    {"pni", 1, 0, ecx, 0},          {"pclmulqdq", 1, 0, ecx, 1},    {"ssse3", 1, 0, ecx, 9},
    {"fma", 1, 0, ecx, 12},         {"sse4_1", 1, 0, ecx, 19},      {"sse4_2", 1, 0, ecx, 20},
    {"popcnt", 1, 0, ecx, 23},      {"aes", 1, 0, ecx, 25},         {"osxsave", 1, 0, ecx, 27},
    {"avx", 1, 0, ecx, 28},         {"f16c", 1, 0, ecx, 29},        {"bmi1", 7, 0, ebx, 3},
    {"avx2", 7, 0, ebx, 5},         {"bmi2", 7, 0, ebx, 8},         {"avx512f", 7, 0, ebx, 16},
    {"avx512dq", 7, 0, ebx, 17},    {"avx512cd", 7, 0, ebx, 28},    {"avx512bw", 7, 0, ebx, 30},
    {"avx512vl", 7, 0, ebx, 31},    {"amx_bf16", 7, 0, edx, 22},    {"avx512_fp16", 7, 0, edx, 23},
    {"amx_tile", 7, 0, edx, 24},    {"amx_int8", 7, 0, edx, 25},    {"avx512_bf16", 7, 1, eax, 5},
    {"avx512_vnni", 7, 0, ecx, 11}, {"abm", 0x80000001, 0, ecx, 5},
};
constexpr int kCount = sizeof kFeatures / sizeof kFeatures[0];
constexpr const char* kEmulated[] = {"avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16",
                                     "amx_int8"};

struct Fake {
  bool hidden[kCount], shown[kCount];
  bool emulates;
  bool has_vendor, has_model, has_max_leaf;
  char vendor[12];
  char model[48];
  unsigned max_leaf;
};
Fake fake;
alignas(64) char small_stack[4096];

constexpr int kFailed = 97, kSkipped = 77;

/// A system call that bypasses libc: it touches neither errno nor lazy binding.
long raw(long call, long a, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result = call;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

[[noreturn]] void give_up(const char* what, const char* detail, int exit_code = kFailed) {
  for (const char* text : {"fake_cpu: ", what, detail, "\n"}) {
    raw(SYS_write, 2, reinterpret_cast<long>(text), static_cast<long>(std::strlen(text)));
  }
  for (;;) raw(SYS_exit_group, exit_code);
}

void answer(unsigned leaf, unsigned subleaf, unsigned (&r)[4]) {
  __cpuid_count(leaf, subleaf, r[eax], r[ebx], r[ecx], r[edx]);
  if (leaf == 0) {
    if (fake.has_max_leaf) r[eax] = fake.max_leaf;
    if (fake.has_vendor) {
      std::memcpy(&r[ebx], fake.vendor, 4);
      std::memcpy(&r[edx], fake.vendor + 4, 4);
      std::memcpy(&r[ecx], fake.vendor + 8, 4);
    }
  }
  if (fake.has_model && leaf >= 0x80000002 && leaf <= 0x80000004) {
    std::memcpy(r, fake.model + 16 * (leaf - 0x80000002), 16);
  }
  if (fake.emulates && leaf == 7 && subleaf == 0 && r[eax] == 0) r[eax] = 1;  // the last subleaf
  for (int i = 0; i < kCount; ++i) {
    const Feature& f = kFeatures[i];
    if (f.leaf != leaf || f.subleaf != subleaf) continue;
    if (fake.shown[i]) r[f.where] |= 1U << f.bit;
    if (fake.hidden[i]) r[f.where] &= ~(1U << f.bit);
  }
}

void on_fault(int, siginfo_t* info, void* context) {
  greg_t* const g = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* at = reinterpret_cast<const unsigned char*>(g[REG_RIP]);
  if (info->si_code == SI_KERNEL && at[0] == 0x0f && at[1] == 0xa2) {
    unsigned r[4];
    raw(SYS_arch_prctl, kSetCpuid, 1);
    answer(static_cast<unsigned>(g[REG_RAX]), static_cast<unsigned>(g[REG_RCX]), r);
    raw(SYS_arch_prctl, kSetCpuid, 0);
    g[REG_RAX] = r[eax];
    g[REG_RBX] = r[ebx];
    g[REG_RCX] = r[ecx];
    g[REG_RDX] = r[edx];
    g[REG_RIP] += 2;
    return;
  }
  // A fault of the program itself. The instruction faults again once we return; a signal that was
  // sent by a process has to be sent again.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGSEGV, &standard, nullptr);
  if (info->si_code <= 0) raw(SYS_kill, raw(SYS_getpid, 0), SIGSEGV);
}

void on_illegal_instruction(int, siginfo_t*, void* context) {
  // A fault takes longer than an instruction, and they often stand in a row.
  int done = 0;
  const char* problem = nullptr;
  while (stepwell::fake_cpu::emulate(*static_cast<ucontext_t*>(context), problem)) {
    if (problem != nullptr) give_up(problem, "");
    ++done;
  }
  if (done > 0) return;
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGILL, &standard, nullptr);
}

/// The value if 'part' is "key=value" with this key; else null.
const char* value_of(const char* part, const char* key) {
  const std::size_t length = std::strlen(key);
  return std::strncmp(part, key, length) == 0 && part[length] == '=' ? part + length + 1 : nullptr;
}

int feature(const char* name) {
  int i = 0;
  while (i < kCount && std::strcmp(name, kFeatures[i].name) != 0) ++i;
  if (i == kCount) give_up("no such feature: ", name);
  return i;
}

void hide(char* list) {
  char* rest = list;
  while (char* name = strsep(&rest, ",")) fake.hidden[feature(name)] = true;
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigfillset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void emulate_amx() {
  if (!__builtin_cpu_supports("avx512bw")) give_up("this CPU has no AVX-512", "", kSkipped);
  unsigned r[4];
  __cpuid_count(7, 0, r[eax], r[ebx], r[ecx], r[edx]);
  const Feature& tile = kFeatures[feature("amx_tile")];
  if ((r[tile.where] >> tile.bit & 1U) != 0) give_up("this CPU has AMX", "", kSkipped);
  fake.emulates = true;
  for (const char* name : kEmulated) fake.shown[feature(name)] = true;
  stepwell::fake_cpu::prepare_emulator();
  handle(SIGILL, on_illegal_instruction);
}

void install_small_altstack() {
  stack_t stack = {};
  stack.ss_sp = small_stack;
  stack.ss_size = sizeof small_stack;
  if (sigaltstack(&stack, nullptr) != 0) give_up("sigaltstack failed", "");
}

void refuse_permission() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kRequestPermission, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {sizeof program / sizeof program[0], program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    give_up("seccomp failed", "");
  }
}

void obey(char* part) {
  if (const char* list = value_of(part, "hide")) {
    hide(const_cast<char*>(list));
  } else if (const char* vendor = value_of(part, "vendor")) {
    fake.has_vendor = true;
    std::memcpy(fake.vendor, vendor, strnlen(vendor, sizeof fake.vendor));
  } else if (const char* model = value_of(part, "model")) {
    fake.has_model = true;
    std::memcpy(fake.model, model, strnlen(model, sizeof fake.model));
  } else if (const char* leaf = value_of(part, "max_leaf")) {
    fake.has_max_leaf = true;
    fake.max_leaf = static_cast<unsigned>(std::atoi(leaf));
  } else if (std::strcmp(part, "amx") == 0) {
    emulate_amx();
  } else if (std::strcmp(part, "small_altstack") == 0) {
    install_small_altstack();
  } else if (std::strcmp(part, "refuse_permission") == 0) {
    refuse_permission();
  } else if (*part != '\0') {
    give_up("what is this: ", part);
  }
}

/// Linked with -z initfirst: a BLAS that detects the CPU in its constructor sees the fake one.
__attribute__((constructor)) void start(int, char**, char** environment) {
  static char text[4096];
  for (char** variable = environment; *variable != nullptr; ++variable) {
    if (const char* value = value_of(*variable, "FAKE_CPU")) {
      if (std::strlen(value) >= sizeof text) give_up("FAKE_CPU is too long", "");
      std::strcpy(text, value);
    }
  }
  char* rest = text;
  while (char* part = strsep(&rest, ";")) obey(part);

  handle(SIGSEGV, on_fault);
  if (raw(SYS_arch_prctl, kSetCpuid, 0) != 0) {
    give_up("CPUID faulting is not available", "", fake.emulates ? kSkipped : kFailed);
  }
}

}  // namespace

/// Stands before libc's: of an emulated CPU the kernel says that tiles may be used.
extern "C" __attribute__((visibility("default"))) long syscall(long call, ...) noexcept {
  va_list list;
  va_start(list, call);
  long a[6];
  for (long& value : a) value = va_arg(list, long);
  va_end(list);
  if (fake.emulates && call == SYS_arch_prctl) {
    constexpr std::uint64_t kTiles = 3U << 17U;
    if (a[0] == kRequestPermission) return 0;
    if (a[0] == kGetPermission) {
      *reinterpret_cast<std::uint64_t*>(a[1]) = kTiles;
      return 0;
    }
  }
  const long result = raw(call, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (result < 0 && result > -4096) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}
