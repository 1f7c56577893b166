#!/bin/sh
# What the tests need beside Python: a real Chromium for the dashboard, a real PostgreSQL for the store's contract, a real Prometheus
# for metrics and alerts, a real MQTT broker for orders. Installs Debian's where that is possible, says loudly where it is not, and never fails: the tests that need
# them are then skipped with the reason.
missing=""
found=""
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && found=yes
done
[ -n "$found" ] || missing="chromium fonts-noto-cjk"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
command -v promtool >/dev/null 2>&1 || missing="$missing prometheus"
command -v mosquitto >/dev/null 2>&1 || [ -x /usr/sbin/mosquitto ] || missing="$missing mosquitto"
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing for the tests:$(printf ' %s' $missing) (a minute or two) ..."
    apt-get update -qq >/dev/null 2>&1
    # shellcheck disable=SC2086 # each word is a package
    if DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1; then
        # The tests start one of their own.
        case "$missing" in *prometheus*) systemctl disable --now prometheus >/dev/null 2>&1 ;; esac
        case "$missing" in *mosquitto*) systemctl disable --now mosquitto >/dev/null 2>&1 ;; esac
        exit 0
    fi
fi
echo "NOTE: missing here and not installable (needs root and apt-get): $missing. The tests that need them WILL BE SKIPPED." >&2
