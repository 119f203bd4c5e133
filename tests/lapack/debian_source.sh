# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# debian_source <package> <directory>: downloads the original source archive of a Debian package
# into <directory>, from the machine's configured Debian mirrors and with their keys, and prints its
# name. Does not change the system; does nothing if the archive exists. Fails if the archive is not
# available.
debian_source() {
  local package=$1 directory=$2 lists file found
  mkdir -p "$directory"
  find_archive() { find "$directory" -maxdepth 1 -name "${package}_*.orig.tar.*" ! -name '*.asc'; }
  if [[ -z $(find_archive) ]]; then
    command -v apt-get >/dev/null || return 1
    lists=$(mktemp -d) || return 1
    mkdir -p "$lists/sources" "$lists/state/partial"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
      [[ -e $file ]] || continue
      sed -n 's/^deb \(.*debian.*\)/deb-src \1/p' "$file" >"$lists/sources/$(basename "$file")"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
      [[ -e $file ]] && grep -q debian-archive-keyring "$file" || continue
      sed 's/^Types:.*/Types: deb-src/' "$file" >"$lists/sources/$(basename "$file")"
    done
    local options=(-qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$lists/sources"
      -o "Dir::State::Lists=$lists/state" -o APT::Sandbox::User=root)
    (cd "$directory" && apt-get "${options[@]}" update &&
      apt-get "${options[@]}" source --download-only "$package") >&2
    rm -rf "$lists"
  fi
  found=$(find_archive)
  [[ -n $found ]] && echo "$found"
}
