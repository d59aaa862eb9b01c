# SPDX-License-Identifier: BSD-3-Clause
# The front door; the build itself is CMake's (CMakeLists.txt, CMakePresets.json).
BUILD ?= build
PREFIX ?= /usr/local

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install what is missing to build and test (Debian, Ubuntu)
	@tools/install-deps build

build: deps ## configure and build the release into build/
	@cmake --preset release -B $(BUILD) >$(BUILD).log 2>&1 || { cat $(BUILD).log; rm -f $(BUILD).log; exit 1; }
	@grep 'floe' $(BUILD).log | sed 's/^-- //'; rm -f $(BUILD).log
	@cmake --build $(BUILD)

demo: build ## compress a turbulence field with both presets, verify, decompress, show what it cost
	@tools/demo.sh $(BUILD)/floe

check: build ## all tests of the release build, and the checks of style
	@ctest --test-dir $(BUILD) --output-on-failure -j 2
	@tools/check-style

exhaustive: build ## all 2^32 f32 patterns through each mode (long)
	@tools/exhaustive.sh $(BUILD)

bench: build ## speed of both presets beside memcpy and libzfp
	@$(BUILD)/floe bench

fuzz: ## fuzz every decoder for FUZZ_SECONDS (60) in all
	@tools/install-deps clang
	@tools/fuzz.sh $${FUZZ_SECONDS:-60}

install: build ## install under PREFIX (/usr/local)
	@cmake --install $(BUILD) --prefix $(DESTDIR)$(PREFIX)

format: ## format all C in place
	@tools/install-deps format
	@tools/format

clean: ## remove build folders
	@rm -rf build build-*

.PHONY: help deps build demo check exhaustive bench fuzz install format clean
.DEFAULT_GOAL := help
