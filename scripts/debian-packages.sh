#!/bin/sh
# Installs what the browser tests need from Debian: chromium. Does nothing where it is there already.
set -eu

if command -v chromium >/dev/null 2>&1; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "debian-packages: chromium is missing and this system has no apt-get. Install chromium by its own means." >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "debian-packages: chromium is missing. As root, run: apt-get update && apt-get install -y chromium" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null
command -v chromium >/dev/null 2>&1 || { echo "debian-packages: apt-get installed no chromium." >&2; exit 1; }
