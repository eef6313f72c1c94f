#!/bin/sh
# Makes the keys and documents of DDS Security: ../common/dds_keys.sh says how.
exec "$(dirname "$0")/../common/dds_keys.sh" "$@"
