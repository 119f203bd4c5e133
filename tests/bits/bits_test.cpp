// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "bits/cases.hpp"
#include "stepwell/machine.hpp"

/// The bit manifest: every result of a fixed set of systems equals the one recorded in
/// manifest.txt, to the last bit. A change that alters bits must write the file again and say so:
///
///   STEPWELL_WRITE_BITS=tests/bits/manifest.txt build/release/tests/bits_test
///
/// writes the section of this machine and leaves the others as they are.
namespace stepwell::bits {
namespace {

/// A section for each machine, with a checksum for each case.
using Manifest = std::map<std::string, std::map<std::string, std::string>>;

/// The properties on which the bits may depend: the instruction set and the BLAS.
std::string key() {
  const MachineReport machine = describe_machine();
  return machine.isa + ", " + machine.blas.library + " " + machine.blas.version + " " +
         machine.blas.core_name;
}

/// "[key]" begins a section; "0123456789abcdef name" is a case.
Manifest read(const std::string& path) {
  Manifest manifest;
  std::ifstream file(path);
  std::string line, section;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      section = line.substr(1, line.size() - 2);
    } else {
      manifest[section][line.substr(17)] = line.substr(0, 16);
    }
  }
  return manifest;
}

void write(const std::string& path, const Manifest& manifest) {
  std::ofstream file(path);
  file << "# Checksums of the results of bits_test, by instruction set and BLAS.\n";
  for (const auto& [section, cases] : manifest) {
    file << "\n[" << section << "]\n";
    for (const auto& [name, sum] : cases) file << sum << " " << name << "\n";
  }
  ASSERT_TRUE(file.flush()) << path;
}

std::string digest_of(const Case& c, int threads) {
  Context context(threads);
  Digest digest;
  c.run(context, digest);
  std::ostringstream text;
  text << std::hex;
  text.width(16);
  text.fill('0');
  text << digest.value();
  return text.str();
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_spd_cases(cases);
  add_general_cases(cases);
  add_factor_cases(cases);
  add_least_squares_cases(cases);
  add_batch_cases(cases);
  return cases;
}

TEST(BitManifest, IsAsItWas) {
  const char* const to = std::getenv("STEPWELL_WRITE_BITS");
  Manifest manifest = read(to != nullptr ? to : STEPWELL_BITS_MANIFEST);
  std::map<std::string, std::string> found;
  for (const Case& c : all_cases()) {
    const std::string sum = digest_of(c, 1);
    EXPECT_EQ(sum, digest_of(c, 2)) << c.name << ": one thread and two";
    EXPECT_TRUE(found.emplace(c.name, sum).second) << c.name << " is there twice";
  }
  if (to != nullptr) {
    manifest[key()] = found;
    write(to, manifest);
    return;
  }
  const auto section = manifest.find(key());
  if (section == manifest.end()) {
    GTEST_SKIP() << "no section [" << key() << "] in " << STEPWELL_BITS_MANIFEST;
  }
  for (const auto& [name, sum] : found) {
    const auto line = section->second.find(name);
    if (line == section->second.end()) {
      ADD_FAILURE() << name << " is not in the manifest";
    } else {
      EXPECT_EQ(sum, line->second) << name << ": other bits than in the manifest";
    }
  }
  EXPECT_EQ(found.size(), section->second.size()) << "cases that are no longer run";
}

}  // namespace
}  // namespace stepwell::bits
