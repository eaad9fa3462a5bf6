#!/bin/sh
# extension_image.sh INSTALLED TO: the files of `make install DESTDIR=INSTALLED` in the layout of CloudNativePG's extension images,
# TO/share/extension and TO/lib: a server that has them mounted somewhere finds them by extension_control_path and
# dynamic_library_path (PostgreSQL 18 and later).
set -eu
mkdir -p "$2/share/extension" "$2/lib" "$2/licenses/margin"
find "$1" -path '*/extension/margin*' -type f -exec cp {} "$2/share/extension/" \;
find "$1" -name margin.so -exec cp {} "$2/lib/" \;
cp "$(dirname "$0")/../LICENSE" "$2/licenses/margin/"
