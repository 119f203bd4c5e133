// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.hpp"

/// Wrong arguments and quick returns: info and xerbla's name and number are those of the real
/// LAPACK, no matter which calls the drop-in handles.
namespace stepwell::test {
namespace {

struct Sizes {
  int n = 6, nrhs = 2, lda = 6, ldb = 6, ldx = 6;
};

/// Sizes with one or two errors, and some for a quick return.
const std::vector<Sizes> kSizes = {{-1, 2, 6, 6, 6}, {6, -1, 6, 6, 6}, {6, 2, 5, 6, 6},
                                   {6, 2, 6, 5, 6},  {6, 2, 6, 6, 5},  {-3, -2, 0, 0, 0},
                                   {6, 2, 0, 0, 0},  {0, 2, 1, 1, 1},  {0, 0, 0, 0, 0},
                                   {6, 0, 6, 6, 6},  {0, 2, 0, 1, 1},  {6, 2, 6, 6, 6}};
const std::vector<char> kLetters = {'N', 'T', 'C', 'U', 'L', 'l', 'u',
                                    'n', '1', 'O', 'I', 'X', '/'};

/// Arrays for every call, with a positive definite A.
struct Arrays {
  Matrix a = random_spd(6, 1), b = random_matrix(6, 2, 2), x = Matrix(6, 2);
  std::vector<double> work = std::vector<double>(256);
  std::vector<float> swork = std::vector<float>(256);
  std::vector<int> pivots = {1, 2, 3, 4, 5, 6};
  int iter = 7, info = 77;
};

int complaints = 0;  ///< calls of xerbla by the real routines so far

/// 'call' calls a routine with fresh arrays.
template <class F, class Call>
void expect_same(const char* name, F* ours, const std::string& what, Call call) {
  Arrays mine, theirs;
  take_xerbla();
  call(ours, mine);
  const Xerbla complaint = take_xerbla();
  call(real(ours, name), theirs);
  EXPECT_EQ(mine.info, theirs.info) << name << " " << what;
  const Xerbla real_complaint = take_xerbla();
  complaints += real_complaint.calls;
  EXPECT_EQ(complaint.name, real_complaint.name) << name << " " << what;
  EXPECT_EQ(complaint.info, real_complaint.info) << name << " " << what;
  EXPECT_EQ(complaint.calls, real_complaint.calls) << name << " " << what;
}

template <class Check>
void for_all(Check check) {
  complaints = 0;
  for (const Sizes& s : kSizes) {
    for (const char letter : kLetters) {
      check(s, letter,
            std::string(1, letter) + " n " + std::to_string(s.n) + " nrhs " +
                std::to_string(s.nrhs) + " lda " + std::to_string(s.lda) + " ldb " +
                std::to_string(s.ldb) + " ldx " + std::to_string(s.ldx));
    }
  }
  EXPECT_GT(complaints, 0) << "this program's xerbla was never called";
}

TEST(Arguments, Dsposv) {
  for_all([](const Sizes& s, char c, const std::string& what) {
    expect_same("dsposv_", &dsposv_, what, [&](auto* f, Arrays& m) {
      f(&c, &s.n, &s.nrhs, m.a.get(), &s.lda, m.b.get(), &s.ldb, m.x.get(), &s.ldx, m.work.data(),
        m.swork.data(), &m.iter, &m.info);
    });
  });
}

TEST(Arguments, Dsgesv) {
  for_all([](const Sizes& s, char, const std::string& what) {
    expect_same("dsgesv_", &dsgesv_, what, [&](auto* f, Arrays& m) {
      f(&s.n, &s.nrhs, m.a.get(), &s.lda, m.pivots.data(), m.b.get(), &s.ldb, m.x.get(), &s.ldx,
        m.work.data(), m.swork.data(), &m.iter, &m.info);
    });
  });
}

TEST(Arguments, Dposv) {
  for_all([](const Sizes& s, char c, const std::string& what) {
    expect_same("dposv_", &dposv_, what, [&](auto* f, Arrays& m) {
      f(&c, &s.n, &s.nrhs, m.a.get(), &s.lda, m.b.get(), &s.ldb, &m.info);
    });
  });
}

TEST(Arguments, Dgesv) {
  for_all([](const Sizes& s, char, const std::string& what) {
    expect_same("dgesv_", &dgesv_, what, [&](auto* f, Arrays& m) {
      f(&s.n, &s.nrhs, m.a.get(), &s.lda, m.pivots.data(), m.b.get(), &s.ldb, &m.info);
    });
  });
}

TEST(Arguments, Dpotrs) {
  for_all([](const Sizes& s, char c, const std::string& what) {
    expect_same("dpotrs_", &dpotrs_, what, [&](auto* f, Arrays& m) {
      f(&c, &s.n, &s.nrhs, m.a.get(), &s.lda, m.b.get(), &s.ldb, &m.info);
    });
  });
}

TEST(Arguments, Dgetrs) {
  for_all([](const Sizes& s, char c, const std::string& what) {
    expect_same("dgetrs_", &dgetrs_, what, [&](auto* f, Arrays& m) {
      f(&c, &s.n, &s.nrhs, m.a.get(), &s.lda, m.pivots.data(), m.b.get(), &s.ldb, &m.info);
    });
  });
}

TEST(Arguments, Dpocon) {
  for (const double norm : {1.0, 0.0, -1.0}) {
    for_all([&](const Sizes& s, char c, const std::string& what) {
      expect_same("dpocon_", &dpocon_, what, [&](auto* f, Arrays& m) {
        f(&c, &s.n, m.a.get(), &s.lda, &norm, m.x.get(), m.work.data(), m.pivots.data(), &m.info);
      });
    });
  }
}

TEST(Arguments, Dgecon) {
  for (const double norm : {1.0, 0.0, -1.0}) {
    for_all([&](const Sizes& s, char c, const std::string& what) {
      expect_same("dgecon_", &dgecon_, what, [&](auto* f, Arrays& m) {
        f(&c, &s.n, m.a.get(), &s.lda, &norm, m.x.get(), m.work.data(), m.pivots.data(), &m.info);
      });
    });
  }
}

TEST(Arguments, Dgels) {
  for (const int lwork : {256, 1, 0, -1}) {
    for (const int columns : {-1, 0, 3, 6}) {
      for_all([&](const Sizes& s, char c, const std::string& what) {
        expect_same("dgels_", &dgels_, what, [&](auto* f, Arrays& m) {
          f(&c, &s.n, &columns, &s.nrhs, m.a.get(), &s.lda, m.b.get(), &s.ldb, m.work.data(),
            &lwork, &m.info);
        });
      });
    }
  }
}

TEST(Arguments, SixtyFourBitNamesSayTheSame) {
  for (const Sizes& s : kSizes) {
    Arrays mine, theirs;
    const std::int64_t n = s.n, nrhs = s.nrhs, lda = s.lda, ldb = s.ldb;
    std::vector<std::int64_t> pivots(6);
    std::int64_t info = 77;
    dgesv_64_(&n, &nrhs, mine.a.get(), &lda, pivots.data(), mine.b.get(), &ldb, &info);
    real(&dgesv_, "dgesv_")(&s.n, &s.nrhs, theirs.a.get(), &s.lda, theirs.pivots.data(),
                            theirs.b.get(), &s.ldb, &theirs.info);
    EXPECT_EQ(info, theirs.info) << "n " << n << " nrhs " << nrhs << " lda " << lda;
  }
}

}  // namespace
}  // namespace stepwell::test
