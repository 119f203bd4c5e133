! SPDX-FileCopyrightText: 2026 The Stepwell authors
! SPDX-License-Identifier: BSD-3-Clause
!
! Calls dgesv, as any program in Fortran does. Nothing here knows about Stepwell.
program solve
  implicit none
  integer, parameter :: n = 3000
  double precision, allocatable :: a(:, :), b(:), x(:), copy(:, :)
  integer, allocatable :: pivots(:)
  integer :: info
  double precision :: error

  allocate (a(n, n), copy(n, n), b(n), x(n), pivots(n))
  call random_number(a)
  call random_number(b)
  copy = a
  x = b
  call dgesv(n, 1, copy, n, pivots, x, n, info)
  error = maxval(abs(matmul(a, x) - b)) &
    / (maxval(sum(abs(a), dim=2)) * maxval(abs(x)) + maxval(abs(b)))
  print '(a, i0, a, es8.1)', 'info ', info, ', backward error ', error
  if (info /= 0 .or. .not. error < sqrt(dble(n)) * 2d0**(-53)) error stop 1
end program solve
