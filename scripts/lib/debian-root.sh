# A Debian of its own in a folder, with what this machine is set up with. Sourced by scripts/fresh-root and
# scripts/container, which run as root.

# debian_root FOLDER SUITE PACKAGES: the base system and the packages (by commas) besides.
debian_root() {
  local new=$1 suite=$2 mirror
  # The mirror, proxy and certificates that this machine is set up with.
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 2>/dev/null | awk -v s="$suite" '$2 == s && $3 == "main" { print $1; exit }')
  mirror=${mirror:-http://deb.debian.org/debian}
  # debootstrap mounts too: in a namespace of its own, so that an end half-way leaves nothing mounted.
  unshare --mount --propagation private debootstrap --variant=minbase --include="$3" "$suite" "$new" "$mirror" >"$new.log" 2>&1 \
    || { tail -20 "$new.log" >&2; return 1; }

  {
    echo "deb $mirror $suite main"
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 2>/dev/null | awk -v s="$suite" '$4 == "main" && index($3, s "-") == 1' | sort -u
  } >"$new/etc/apt/sources.list"
  apt-config dump 2>/dev/null | grep -iE '^Acquire::(http|https|ftp)::(proxy|cainfo)' >"$new/etc/apt/apt.conf.d/99machine" || true
  cp -L /etc/resolv.conf /etc/hosts "$new/etc/"
  mkdir -p "$new/usr/local/share/ca-certificates"
  cp -r /usr/local/share/ca-certificates/. "$new/usr/local/share/ca-certificates/" 2>/dev/null || true
  chroot "$new" update-ca-certificates >/dev/null 2>&1
  # A package that would start a service is told that nothing starts here.
  printf '#!/bin/sh\nexit 101\n' >"$new/usr/sbin/policy-rc.d"; chmod +x "$new/usr/sbin/policy-rc.d"
}

# copy_rust FOLDER: the toolchain in use, without its documentation.
copy_rust() {
  mkdir -p "$1"
  tar -C "$(rustc --print sysroot)" --exclude=./share/doc --exclude=./share/man -cf - . | tar -C "$1" -xf -
}

# copy_node FOLDER: Node.js and npm of this machine.
copy_node() {
  mkdir -p "$1/bin" "$1/lib/node_modules"
  cp "$(node -p process.execPath)" "$1/bin/node"
  cp -r "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$1/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$1/bin/npx"
}

# What tells clients of a proxy or of certificates, as NAME=VALUE lines; files only if they are in FOLDER too.
machine_environment() {
  local it
  for it in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [ -z "${!it:-}" ] || echo "$it=${!it}"
  done
  for it in SSL_CERT_FILE NODE_EXTRA_CA_CERTS; do
    [ -z "${!it:-}" ] || [ ! -f "$1${!it}" ] || echo "$it=${!it}"
  done
}
