#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails when include/ptxdsl/isa/generated is not what tools/isa/generate.py makes of the rows.
exec python3 "$(dirname "$0")/../../tools/isa/generate.py" --check
