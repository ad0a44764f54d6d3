# SPDX-License-Identifier: Apache-2.0
# Cross-build for AArch64; tests run under qemu-user. No -L: with :arm64 packages installed the cross
# loader and the multiarch libc disagree and the first thread spins for ever.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)  # the environment variable QEMU_CPU names the processor
