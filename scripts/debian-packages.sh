#!/bin/sh
# Installs what the tests need from Debian: chromium for the browser tests, Pango for PDF. Does nothing where they are, and
# nothing with WORKUP_APT=no: the tests that need them are then skipped, with the reason.
set -eu

missing=""
command -v chromium >/dev/null 2>&1 || missing="chromium fonts-liberation"
if command -v ldconfig >/dev/null 2>&1; then
    ldconfig -p | grep -q libpangoft2 || missing="$missing libpango-1.0-0 libpangoft2-1.0-0"
fi
[ -n "$missing" ] || exit 0
case "${WORKUP_APT:-yes}" in
no | 0 | false | never)
    echo "debian-packages: not installed, as asked: $missing. The tests that need them are skipped." >&2
    exit 0
    ;;
esac
if ! command -v apt-get >/dev/null 2>&1; then
    echo "debian-packages: missing: $missing; this system has no apt-get. Install them by its own means." >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "debian-packages: missing. As root, run: apt-get update && apt-get install -y $missing" >&2
    exit 1
fi
echo "debian-packages: some tests need packages of Debian. Installing with apt-get: $missing" >&2
echo "debian-packages: to leave them out, stop here and run  make test APT=no" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null
command -v chromium >/dev/null 2>&1 || { echo "debian-packages: apt-get installed no chromium." >&2; exit 1; }
