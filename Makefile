# SPDX-License-Identifier: BSD-3-Clause
# The front door; the build itself is CMake's (CMakeLists.txt, CMakePresets.json).
BUILD ?= build
PREFIX ?= /usr/local

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install what is missing to build (Debian, Ubuntu)
	@tools/install-deps build

test-deps: deps
	@tools/install-deps test

build: deps ## build library and command into build/ (with the GPU backend where there is a GPU)
	@mkdir -p $(BUILD)
	@cmake --preset release -B $(BUILD) $(CMAKE_ARGS) >$(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; exit 1; }
	@sed -n 's/^-- \(floe.*\)/\1/p' $(BUILD)/configure.log
	@cmake --build $(BUILD) -- --quiet

gpu: ## the same with the GPU backend, GPU or not: needs nvcc (long)
	@$(MAKE) build CMAKE_ARGS="-DFLOE_CUDA=ON $(CMAKE_ARGS)"

demo: build ## compress a turbulence field with all presets, verify, decompress, show what it cost
	@tools/demo.sh $(BUILD)/floe

check: test-deps build ## all tests of the release build, and the checks of style
	@cmake --build $(BUILD) --target check_programs -- --quiet
	@tools/check-style & style=$$!; ctest --test-dir $(BUILD) --output-on-failure -j $$(nproc); tests=$$?; wait $$style && exit $$tests

exhaustive: test-deps build ## all 2^32 f32 patterns through each mode (long)
	@cmake --build $(BUILD) --target check_programs -- --quiet
	@tools/exhaustive.sh $(BUILD)

nightly: ## what CI leaves out: all tests in all builds, random orders of GPU kernels, long fuzzing (hours)
	@.ci/nightly

large: build ## a field past 2^32 elements (17 GB) as a stream, in less than 1 GiB (minutes)
	@cmake --build $(BUILD) --target large_check -- --quiet
	@$(BUILD)/tests/large_check $(BUILD)/floe $(BUILD)/large.floe; status=$$?; rm -f $(BUILD)/large.floe; exit $$status

bench: build ## speed of both presets beside memcpy (build/floe bench --peers: and libzfp)
	@$(BUILD)/floe bench

compare: build ## ratios, errors and speeds beside SZ3, SPERR and zfp, on the fields of FIELDS=folder, into OUT=folder (minutes)
	@tools/install-deps compare
	@bench/compare/compare.py --floe $(BUILD)/floe --venv $(BUILD)/compare-venv --out $(or $(OUT),$(BUILD)/compare) $(FIELDS)

fuzz: ## fuzz every decoder for FUZZ_SECONDS (60) in all
	@tools/install-deps build clang
	@tools/fuzz.sh $${FUZZ_SECONDS:-60}

install: build ## install under PREFIX (/usr/local); DESTDIR is respected
	@cmake --install $(BUILD) --prefix $(PREFIX)

format: ## format all C in place
	@tools/install-deps style
	@tools/format

clean: ## remove build folders
	@rm -rf build build-*

.PHONY: help deps test-deps build gpu demo check exhaustive nightly large bench compare fuzz install format clean
.NOTPARALLEL: # ninja and ctest see to that
.DEFAULT_GOAL := help
