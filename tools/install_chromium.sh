#!/bin/sh
# The browser tests need a real Chromium. Installs Debian's where that is possible, says loudly where it is not, never fails.
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing Chromium for the browser tests ..."
    apt-get update -qq >/dev/null 2>&1
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null 2>&1 && exit 0
fi
echo "NOTE: no Chromium here and none could be installed (needs root and apt-get, or: apt-get install chromium). The browser tests WILL BE SKIPPED." >&2
