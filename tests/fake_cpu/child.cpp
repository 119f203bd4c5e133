// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace stepwell::fake_cpu {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> p;
  for (std::string& s : strings) p.push_back(s.data());
  p.push_back(nullptr);
  return p;
}

std::vector<std::string> changed_environment(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (variables.count(text.substr(0, text.find('='))) == 0) environment.push_back(text);
  }
  for (const auto& [name, value] : variables) {
    if (!value.empty()) environment.push_back(name + "=" + value);
  }
  return environment;
}

/// Reads from a pipe until it is closed; false if nothing arrives for a minute.
bool read_all(int pipe_end, std::string& text) {
  constexpr int minute = 60'000;
  std::array<char, 4096> part{};
  pollfd waiting = {pipe_end, POLLIN, 0};
  for (;;) {
    const int ready = poll(&waiting, 1, minute);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t size = read(pipe_end, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return true;
    text.append(part.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

Ended run_child(const std::vector<std::string>& arguments,
                const std::map<std::string, std::string>& variables) {
  std::vector<std::string> argument_list = arguments;
  std::vector<std::string> environment = changed_environment(variables);
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return {"no pipe", ""};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0].c_str(), &actions, nullptr,
                                pointers(argument_list).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  Ended ended;
  if (error == 0) {
    if (!read_all(pipe_ends[0], ended.output)) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
      const int number = WTERMSIG(status);
      ended.how = "signal " + std::to_string(number) + ": " + strsignal(number);
    } else {
      ended.how = "exit code " + std::to_string(WEXITSTATUS(status));
    }
  } else {
    ended.how = "not started: " + std::string(std::strerror(error));
  }
  close(pipe_ends[0]);
  return ended;
}

}  // namespace stepwell::fake_cpu
