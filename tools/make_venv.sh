#!/bin/sh
# Makes the virtual environment and installs pinned, hashed dependencies: make_venv.sh VENV REQUIREMENTS_FILE
# A Debian without python3-venv has no ensurepip; virtualenv from pip does the same there.
set -eu
venv=$1
requirements=$2
python=${PYTHON:-python3}

command -v "$python" >/dev/null 2>&1 || { echo "doseflow needs Python 3.11 or newer; '$python' was not found. Install it, or say which one: make PYTHON=/path/to/python3" >&2; exit 2; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "doseflow needs Python 3.11 or newer; '$python' is $("$python" -V 2>&1). Say which one: make PYTHON=/path/to/python3.11" >&2; exit 2; }

if [ ! -x "$venv/bin/python" ]; then
    echo "Making the virtual environment $venv ..."
    if ! "$python" -m venv "$venv" >/dev/null 2>&1; then
        rm -rf "$venv"
        tools=$(mktemp -d)
        trap 'rm -rf "$tools"' EXIT
        "$python" -m pip install --quiet --target "$tools" virtualenv && PYTHONPATH="$tools" "$python" -m virtualenv --quiet "$venv" || {
            rm -rf "$venv"
            echo "No virtual environment could be made in $(pwd)/$venv: the folder may be read-only or full, or Python's venv module is missing (on Debian: apt-get install python3-venv)." >&2
            exit 2
        }
    fi
fi
echo "Installing $requirements (the first time takes a minute or two) ..."
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.txt -r "$requirements" || {
    echo "The dependencies in $requirements could not be installed; the message above is pip's. Is the package index reachable, and is there disk space?" >&2
    exit 2
}
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
