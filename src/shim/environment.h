// SPDX-License-Identifier: Apache-2.0
// The shim's configuration. Everything it reads from the environment is read in environment.cc;
// docs/node-shim.md describes each variable.
#ifndef SRC_SHIM_ENVIRONMENT_H_
#define SRC_SHIM_ENVIRONMENT_H_

#include <string>

#include "src/kmodel/options.h"

namespace npu::shim {

struct Config {
  kmodel::Options npu;
  std::string node = "/dev/accel/accel0";
  std::string log_path;  // empty: standard error
  bool quiet = false;
  bool abort_on_oops = true, abort_on_finding = false;
  std::string
      error;  // not empty: a variable is wrong, and every open of the node fails with EINVAL
};

// From the variables ROCKET_NODE_*.
Config ReadEnvironment();

}  // namespace npu::shim

#endif  // SRC_SHIM_ENVIRONMENT_H_
