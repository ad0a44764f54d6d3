# SPDX-License-Identifier: Apache-2.0
# The commands of daily work; "make help" lists them. CMake (presets in CMakePresets.json) does the building.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON := build/venv/bin/python
JOBS := $(shell nproc)
export CCACHE_NOHASHDIR := 1
export NPU_SHARED_DIR ?= $(abspath ../shared)

.PHONY: help setup setup-ci build test demo bench asan tsan arm64 format lint clean

help: ## list these commands
	@sed -nE 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

setup: ## install what is missing (Debian 12 or 13; root or sudo)
	@tools/setup

setup-ci: ## also the tools that lint, asan, tsan and arm64 need
	@tools/setup --ci

build: setup ## build everything into build/release
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

test: build ## set up, build, run all tests
	$(PYTHON) tools/run_tests --build build/release --python tests/tools tests/python \
	  $(if $(NPU_TEST_COUNTS),--counts $(NPU_TEST_COUNTS))

demo: setup ## two networks on the simulated NPU; writes build/demo/report.html
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target tflite_rocket rocket-npu
	$(PYTHON) demo/run_demo.py

bench: build ## measure the simulator beside XNNPACK, as JSON
	$(PYTHON) bench/run_bench.py

asan: setup ## unit and delegate tests under the address and undefined-behaviour sanitizers
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS)
	$(PYTHON) tools/run_tests --build build/asan

tsan: setup ## the same tests under the thread sanitizer
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS)
	$(PYTHON) tools/run_tests --build build/tsan

arm64: setup-ci ## cross-build for AArch64 and run the unit tests under QEMU
	tools/ci/arm64

format: setup ## format every C++ file
	@git ls-files -z '*.cc' '*.h' | xargs -0 build/venv/bin/clang-format -i

lint: setup-ci build ## format, tree, spelling and shell checks, clang's warnings and clang-tidy
	tools/ci/lint
	tools/ci/clang syntax
	tools/ci/clang tidy

clean: ## remove what was built; what setup installed stays
	rm -rf build/release build/debug build/asan build/tsan build/arm64
