// SPDX-License-Identifier: Apache-2.0
// Kernels played on an executable model of a cluster: who waits for whom, what is in flight, what nothing orders. At
// run time and in constant evaluation. <ptxdsl/ptxdsl.hpp> does not include it; in a program one of whose files does,
// kernels that are assembled at run time are played (`machine::play_at_run_time` switches that off).
#pragma once

#include <ptxdsl/machine/at_run_time.hpp>
#include <ptxdsl/machine/play.hpp>
#include <ptxdsl/machine/played.hpp>
