// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine/system.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace stepwell::core {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// A directory that stands for the root of a machine with 64 CPUs and 16 GiB, 12 of them available.
class SystemTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "stepwell-system-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name + "/";
    write("sys/devices/system/cpu/online", "0-63\n");
    write("proc/meminfo",
          "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:   12582912 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void mount_v2(const std::string& group, const std::string& seen = "/") {
    write("proc/self/cgroup", "0::" + group + "\n");
    write("proc/self/mountinfo", "25 30 0:23 / /sys rw,nosuid - sysfs sysfs rw\n35 25 0:30 " +
                                     seen +
                                     " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
  }
  void mount_v1(const std::string& cpu_group, const std::string& memory_group) {
    write("proc/self/cgroup", "9:name=systemd:/\n5:cpu,cpuacct:" + cpu_group +
                                  "\n4:memory:" + memory_group + "\n0::/\n");
    write("proc/self/mountinfo",
          "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
          "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
          "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
          "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
          "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  }
  double quota() const { return cpu_allowance(root_).by_quota; }

  std::string root_;
};

TEST_F(SystemTest, WithoutCgroupsThereIsNoQuota) {
  const CpuAllowance cpus = cpu_allowance(root_);
  EXPECT_EQ(cpus.online, 64);
  EXPECT_EQ(cpus.by_quota, 0);
  EXPECT_EQ(cpus.threads, std::min(64, cpus.by_affinity));
  const MemoryAllowance memory = memory_allowance(root_);
  EXPECT_EQ(memory.total, 16 * kGiB);
  EXPECT_EQ(memory.available, 12 * kGiB);
}

TEST_F(SystemTest, TheSmallestQuotaOnThePathToTheRootCounts) {
  mount_v2("/a.slice/b/c");
  write("sys/fs/cgroup/a.slice/b/c/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0);
  write("sys/fs/cgroup/a.slice/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota(), 2.5);
  write("sys/fs/cgroup/a.slice/b/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 2.5);
  write("sys/fs/cgroup/a.slice/b/c/cpu.max", "75000 50000\n");
  EXPECT_EQ(quota(), 1.5);
  write("sys/fs/cgroup/other/cpu.max", "1000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(SystemTest, ThreadsAreTheQuotaRoundedDownButAtLeastOne) {
  mount_v2("/a");
  write("sys/fs/cgroup/a/cpu.max", "190000 100000\n");
  EXPECT_EQ(cpu_allowance(root_).threads, 1);
  write("sys/fs/cgroup/a/cpu.max", "10000 100000\n");
  EXPECT_EQ(cpu_allowance(root_).threads, 1);
  EXPECT_DOUBLE_EQ(quota(), 0.1);
  write("sys/fs/cgroup/a/cpu.max", "9000000 100000\n");
  EXPECT_EQ(quota(), 90);
  EXPECT_EQ(cpu_allowance(root_).threads, std::min(64, cpu_allowance(root_).by_affinity));
}

TEST_F(SystemTest, AContainerThatSeesPartOfTheHierarchyReadsThatPart) {
  mount_v2("/docker/4711/inner", "/docker/4711");
  write("sys/fs/cgroup/inner/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3);
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(SystemTest, AGroupOutsideOfWhatIsSeenFallsBackToTheMountPoint) {
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  for (const char* group : {"/../../elsewhere", "/docker/47110", "/", "/elsewhere", "", "odd"}) {
    mount_v2(group, "/docker/4711");
    EXPECT_EQ(quota(), 2) << group;
  }
}

TEST_F(SystemTest, MountPointsWithSpacesAreUnderstood) {
  write("proc/self/cgroup", "0::/a\n");
  write("proc/self/mountinfo", "35 25 0:30 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
  write("my groups/a/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3);
}

TEST_F(SystemTest, VersionOneQuotasCount) {
  mount_v1("/x/y", "/");
  write("sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0);
  write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "350000\n");
  write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3.5);
  write("sys/fs/cgroup/cpuset/cpu.cfs_quota_us", "1\n");
  write("sys/fs/cgroup/cpuset/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3.5);
}

TEST_F(SystemTest, MalformedQuotasAreNoQuotas) {
  mount_v2("/a");
  for (const char* text :
       {"", "\n", "max", "100000", "0 100000", "100000 0", "-5 100000", "x y", "1e5 100000",
        "100000 100000 7", "99999999999999999999 100000", "100000 -1", "max max"}) {
    write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(quota(), 0) << text;
  }
}

TEST_F(SystemTest, MalformedListsOfGroupsAndMountsAreHarmless) {
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  for (const char* text : {"", "\n\n", "0", "0:", "::", ":::::", "0::", "x", "0:cpu"}) {
    mount_v2("/");
    write("proc/self/cgroup", text);
    EXPECT_GE(cpu_allowance(root_).threads, 1) << text;
    EXPECT_EQ(memory_allowance(root_).total, 16 * kGiB) << text;
  }
  for (const char* text : {"", "\n", "-", "- cgroup2", "- cgroup2 x rw", "1 2 3 4 5 6 - cgroup2",
                           "1 2 0:3 / / rw - cgroup2 c rw", "1 2 0:3 / // rw - cgroup2 c rw",
                           "1 2 0:3 \\ \\04 rw - cgroup2 c rw", "1 2 0:3 / rw - cgroup2 c rw"}) {
    mount_v2("/");
    write("proc/self/mountinfo", text);
    EXPECT_GE(cpu_allowance(root_).threads, 1) << text;
    EXPECT_EQ(memory_allowance(root_).total, 16 * kGiB) << text;
  }
}

TEST_F(SystemTest, MalformedListsOfCpusFallBackToTheSystemsCount) {
  const int count = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  for (const char* text : {"", "x", "3-1", "-", "0-", "-3", "0-99999999999", "1,,2", "0x3"}) {
    write("sys/devices/system/cpu/online", text);
    EXPECT_EQ(cpu_allowance(root_).online, count) << text;
  }
  write("sys/devices/system/cpu/online", "0-1,4,8-11\n");
  EXPECT_EQ(cpu_allowance(root_).online, 7);
  write("sys/devices/system/cpu/online", "0-4095\n");
  EXPECT_EQ(cpu_allowance(root_).online, 4096);
}

TEST_F(SystemTest, TheMemoryLimitOfAnyGroupOnThePathCounts) {
  mount_v2("/a/b");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/memory.current", "4096\n");
  EXPECT_EQ(memory_allowance(root_).total, 16 * kGiB);
  write("sys/fs/cgroup/a/memory.max", std::to_string(4 * kGiB) + "\n");
  write("sys/fs/cgroup/a/memory.current", std::to_string(3 * kGiB) + "\n");
  MemoryAllowance memory = memory_allowance(root_);
  EXPECT_EQ(memory.total, 4 * kGiB);
  EXPECT_EQ(memory.available, kGiB);
  // Cached files are evicted first when memory is needed: they count as available.
  write("sys/fs/cgroup/a/memory.stat",
        "anon 5\nactive_file 9\ninactive_file " + std::to_string(2 * kGiB) + "\n");
  EXPECT_EQ(memory_allowance(root_).available, 3 * kGiB);
  write("sys/fs/cgroup/a/memory.current", std::to_string(9 * kGiB) + "\n");
  EXPECT_EQ(memory_allowance(root_).available, 0);
  write("sys/fs/cgroup/a/memory.max", std::to_string(64 * kGiB) + "\n");
  memory = memory_allowance(root_);
  EXPECT_EQ(memory.total, 16 * kGiB);
  EXPECT_EQ(memory.available, 12 * kGiB);
}

TEST_F(SystemTest, VersionOneMemoryLimitsCount) {
  mount_v1("/", "/job");
  const std::string group = "sys/fs/cgroup/memory/job/";
  write(group + "memory.limit_in_bytes", "9223372036854771712\n");
  write(group + "memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(memory_allowance(root_).total, 16 * kGiB);
  EXPECT_EQ(memory_allowance(root_).available, 12 * kGiB);
  write(group + "memory.limit_in_bytes", std::to_string(2 * kGiB) + "\n");
  write(group + "memory.usage_in_bytes", std::to_string(kGiB) + "\n");
  write(group + "memory.stat", "inactive_file 7\ntotal_inactive_file 1048576\n");
  EXPECT_EQ(memory_allowance(root_).total, 2 * kGiB);
  EXPECT_EQ(memory_allowance(root_).available, kGiB + 1048576);
}

TEST_F(SystemTest, MalformedMemoryFilesAreNoLimits) {
  mount_v2("/a");
  for (const char* text : {"", "x", "-1", "1 2", "99999999999999999999"}) {
    write("sys/fs/cgroup/a/memory.max", text);
    EXPECT_EQ(memory_allowance(root_).total, 16 * kGiB) << text;
  }
  for (const char* text : {"", "MemTotal:\n", "MemTotal: x kB\n", "MemTotal: -5 kB\n",
                           "MemTotal: 9223372036854775807 kB\n"}) {
    write("proc/meminfo", text);
    EXPECT_EQ(memory_allowance(root_).total, 0) << text;
  }
}

TEST_F(SystemTest, TheModeOfHugePagesIsTheOneInBrackets) {
  const std::string path = "sys/kernel/mm/transparent_hugepage/enabled";
  EXPECT_EQ(transparent_huge_pages(root_), "unknown");
  write(path, "always [madvise] never\n");
  EXPECT_EQ(transparent_huge_pages(root_), "madvise");
  write(path, "[always] madvise never\n");
  EXPECT_EQ(transparent_huge_pages(root_), "always");
  write(path, "always madvise [never]\n");
  EXPECT_EQ(transparent_huge_pages(root_), "never");
  write(path, "[inherit] always\n");
  EXPECT_EQ(transparent_huge_pages(root_), "unknown");
}

TEST(System, ReportsThisMachineWithinReason) {
  const CpuAllowance cpus = cpu_allowance();
  EXPECT_GE(cpus.online, 1);
  EXPECT_GE(cpus.by_affinity, 1);
  EXPECT_LE(cpus.by_affinity, cpus.online);
  EXPECT_GE(cpus.by_quota, 0);
  EXPECT_GE(cpus.threads, 1);
  EXPECT_LE(cpus.threads, cpus.by_affinity);
  const MemoryAllowance memory = memory_allowance();
  EXPECT_GT(memory.total, 0);
  EXPECT_GT(memory.available, 0);
  EXPECT_LE(memory.available, memory.total);
}

TEST(System, FollowsTheAffinityOfTheCallingThread) {
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof before, &before) != 0) GTEST_SKIP() << "more than 1024 CPUs";
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const CpuAllowance cpus = cpu_allowance();
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(cpus.by_affinity, 1);
  EXPECT_EQ(cpus.threads, 1);
}

}  // namespace
}  // namespace stepwell::core
