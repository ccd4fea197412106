# What a developer types. `make` alone lists it.

SWIFT ?= swift
# debug or release, for `build` and `demo`. A release build takes minutes.
CONFIGURATION ?= debug
# More arguments for `swift build`, the same for all products, or they are compiled anew.
BUILD_FLAGS ?=
# More arguments for `swift test`, such as TEST_FLAGS='--filter LedgerTests'.
TEST_FLAGS ?=
# How many inputs `fuzz` makes.
FUZZ ?= 100000
# How many steps `lives` lives.
SOAK ?= 1000000
# How long `soak` and `fuzz-coverage` run.
MINUTES ?= 10
# What `fuzz-coverage` feeds: the whole name of a decoder, or all.
DECODER ?= all
# From which seed on `soak` runs, with how many customers a fleet. Each seed leaves a random part of
# the trouble out; with FEATURES=all none does.
SEED ?= 1
FLEET ?= 300
FEATURES ?= drawn
# How often `crash` kills (1000 without), `failover` loses the leader (20), and `partitions` makes each cut (2).
N ?=
# What `sanitize` looks for.
SANITIZERS ?= thread address
# Which sabotages `mutants` tries: beginnings of names; all without.
MUTANTS ?=

# What is built for release tells its commit.
STAMPED := $(if $(filter release,$(CONFIGURATION)),scripts/stamp)
# Our layers import only what Package.swift gives them.
CHECKED := --explicit-target-dependency-import-check error $(BUILD_FLAGS)
# Tests see what is internal, also where they are built for release.
TESTABLE := $(if $(filter release,$(CONFIGURATION)),-Xswiftc -enable-testing)
SOURCES := Sources Tests Package.swift
SCRIPTS := $(wildcard .ci/run scripts/* Benchmarks/* Benchmarks/peers/*)

.DEFAULT_GOAL := help
.PHONY: help deps build packaged build-tests test fuzz fuzz-coverage soak lives crash failover partitions quota sanitize mutants demo demo-migration conformance bench bench-idle bench-first-day bench-scale bench-month bench-flame bench-lag deb release pictures install lint format clean

help: ## Lists what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Installs the Debian packages that are missing, for everything but `failover` and `partitions`
	@scripts/install-deps all

# Each command installs what it needs: `deps-demo` for `demo`, and so on.
deps-%:
	@scripts/install-deps $*

build: deps-build ## Builds renewald and storesim (CONFIGURATION=release: optimised)
	@$(STAMPED) $(SWIFT) build -c $(CONFIGURATION) $(CHECKED) --product renewald
	@$(STAMPED) $(SWIFT) build -c $(CONFIGURATION) $(CHECKED) --product storesim

# Links again what is compiled already: a build with --static-swift-stdlib compiles all of it anew.
packaged: build ## Links renewald for tests with the Swift runtime in it, as in the package
	@mkdir -p .build/packaged/bin
	$(SWIFT)c -static-stdlib @.build/debug/renewald.product/Objects.LinkFileList \
		-l_FoundationCollections -l_FoundationCShims -lcurl -lpq \
		-Xlinker --defsym=main=renewald_main -o .build/packaged/bin/renewald
	@ln -sf "$$(realpath .build/debug/storesim)" .build/packaged/bin/
	@mkdir -p .build/packaged/bin/renewald.product
	@cp .build/debug/renewald.product/Objects.LinkFileList .build/packaged/bin/renewald.product/

# RENEWALD_BIN, such as .build/packaged/bin, is the folder of other programs to start.
build-tests: deps-test
	$(SWIFT) build --build-tests $(CHECKED)

test: build-tests ## Runs the whole test suite, on a private PostgreSQL
	@SWIFT="$(SWIFT)" scripts/test $(TEST_FLAGS)

fuzz: build-tests ## Feeds every decoder with mutated answers (FUZZ=100000 of them)
	RENEWALD_FUZZ=$(FUZZ) $(SWIFT) test --skip-build --disable-xctest --no-parallel \
		--filter ConformanceTests.FuzzTests

# Nothing is linked by the build: the linker that it uses for tests cannot link libFuzzer.
fuzz-coverage: deps-test ## Feeds decoders with what reaches new code, by libFuzzer (MINUTES=10 DECODER=all)
	$(SWIFT) build --scratch-path .build/fuzz --target ConformanceTests $(CHECKED) \
		-Xswiftc -sanitize=fuzzer
	@SWIFT="$(SWIFT)" scripts/fuzz-coverage $$(($(MINUTES) * 60)) "$(DECODER)"

soak: deps-build ## Lets fleets live two years each on a virtual clock (MINUTES=10 SEED=1 FLEET=300 FEATURES=all)
	$(SWIFT) build -c $(CONFIGURATION) $(CHECKED) --product soak
	@"$$($(SWIFT) build -c $(CONFIGURATION) --show-bin-path)/soak" \
		--seconds $$(($(MINUTES) * 60)) --seed $(SEED) --fleet $(FLEET) --features $(FEATURES)

lives: deps-test ## Lets random lives of purchases run against the truth (SOAK=1000000 steps)
	$(SWIFT) build -c $(CONFIGURATION) --build-tests $(TESTABLE) $(CHECKED)
	SOAK=$(SOAK) $(SWIFT) test -c $(CONFIGURATION) $(TESTABLE) --skip-build --disable-xctest \
		--no-parallel --filter ConformanceTests.LivesTests

crash: deps-test ## Kills programs and servers at random instants (N=1000 times), and counts what is lost
	$(SWIFT) build --build-tests $(CHECKED)
	@SWIFT="$(SWIFT)" scripts/crash $(N)

failover: deps-failover ## Loses the leader of a cluster under Patroni, under load (N=20 times), and counts what is lost; as root
	$(SWIFT) build --build-tests $(CHECKED)
	@SWIFT="$(SWIFT)" scripts/failover $(N)

partitions: deps-partitions ## Cuts two workers off from the database and the stores (N=2 times each way), under load, and counts what is lost; as root
	$(SWIFT) build --build-tests $(CHECKED)
	@$(MAKE) --no-print-directory build CONFIGURATION=release
	@RENEWALD_BIN="$$($(SWIFT) build -c release --show-bin-path)" SWIFT="$(SWIFT)" scripts/partitions $(N)

quota: deps-test ## Counts calls at the stores while three workers come and go (MINUTES=60), on a quiet machine
	$(SWIFT) build --build-tests $(CHECKED)
	@$(MAKE) --no-print-directory build CONFIGURATION=release
	RENEWALD_BIN="$$($(SWIFT) build -c release --show-bin-path)" \
		RENEWALD_QUOTA_MINUTES=$(MINUTES) $(SWIFT) test --skip-build --disable-xctest --no-parallel \
		--filter EndToEndTests.QuotaHourTests

sanitize: deps-test ## Runs the tests of one process under thread and address sanitizer (SANITIZERS=thread one)
	@for kind in $(SANITIZERS); do \
		SWIFT="$(SWIFT)" BUILD_FLAGS="$(BUILD_FLAGS)" scripts/sanitize "$$kind" || exit 1; \
	done

mutants: deps-test ## Spoils the sources one line at a time (MUTANTS='rule02 once' some), and sees a test fail; as root
	@SWIFT="$(SWIFT)" BUILD_FLAGS="$(BUILD_FLAGS)" scripts/mutants $(MUTANTS)

demo: deps-demo ## Shows a user per store, from purchase to expiry, against the simulator
	@scripts/build-quietly $(SWIFT) build -c $(CONFIGURATION) $(CHECKED) --product
	@RENEWALD_BIN="$$($(SWIFT) build -c $(CONFIGURATION) --show-bin-path)" scripts/demo

demo-migration: deps-migration ## Lets a fleet of 2,000 move in beside its old nightly job, for a week
	@scripts/build-quietly $(SWIFT) build -c $(CONFIGURATION) $(CHECKED) --product
	@RENEWALD_BIN="$$($(SWIFT) build -c $(CONFIGURATION) --show-bin-path)" scripts/demo-migration

pictures: deps-pictures ## Plays the demo, and takes the picture of its page for the README
	@$(MAKE) --no-print-directory demo
	@scripts/picture .build/demo/gil.html docs/explanation.png

conformance: deps-conformance ## Tests the simulator with the vendors' own clients, from PyPI
	$(SWIFT) build -c $(CONFIGURATION) $(CHECKED) --product storesim
	@RENEWALD_BIN="$$($(SWIFT) build -c $(CONFIGURATION) --show-bin-path)" scripts/conformance

bench: deps-bench ## Measures checks per second, CPU, memory and calls, beside what people would use instead (release build)
	@$(MAKE) --no-print-directory build CONFIGURATION=release
	@RENEWALD_BIN="$$($(SWIFT) build -c release --show-bin-path)" Benchmarks/run

bench-idle: deps-bench ## Measures what a thousand idle apps cost: memory, transactions and CPU, as packaged
	@$(MAKE) --no-print-directory build CONFIGURATION=release
	@RENEWALD_BIN="$$($(SWIFT) build -c release --show-bin-path)" \
		RENEWALD_PROGRAM="$$(scripts/packaged-program)" Benchmarks/idle

bench-first-day: deps-bench ## Measures import, plan, what-if, apply, replay and shadow over a million purchases, as packaged
	@$(MAKE) --no-print-directory build CONFIGURATION=release
	@RENEWALD_BIN="$$($(SWIFT) build -c release --show-bin-path)" \
		RENEWALD_PROGRAM="$$(scripts/packaged-program)" Benchmarks/first-day

bench-scale: deps-bench ## Measures claims, status, memory and disk with 1 and 10 million purchases, as packaged
	@$(MAKE) --no-print-directory build CONFIGURATION=release
	@RENEWALD_BIN="$$($(SWIFT) build -c release --show-bin-path)" \
		RENEWALD_PROGRAM="$$(scripts/packaged-program)" Benchmarks/scale

bench-month: deps-bench ## Measures what a month of checks leaves in the tables: size, dead rows, bloat
	@$(MAKE) --no-print-directory build CONFIGURATION=release
	@RENEWALD_BIN="$$($(SWIFT) build -c release --show-bin-path)" Benchmarks/month

bench-flame: deps-bench ## Draws docs/flame.svg: where the CPU goes in a pass in which nothing has changed
	@$(MAKE) --no-print-directory build CONFIGURATION=release
	@RENEWALD_BIN="$$($(SWIFT) build -c release --show-bin-path)" Benchmarks/flame

bench-lag: deps-build ## Compares ways to find out what has changed at a store, over a simulated month (FLEET=300)
	$(SWIFT) build -c release $(CHECKED) --product soak
	@"$$($(SWIFT) build -c release --show-bin-path)/soak" --lag $(FLEET)

deb: deps-package ## Builds a Debian package, with the Swift runtime linked in
	@scripts/deb

# RENEWALD_PROGRAM names a program that is built already, for `deb` and `release`.
release: deps-package ## Makes package, archive, checksums and what is linked, in dist/
	@scripts/release

# What RENEWALD_PROGRAM names, or what `make build CONFIGURATION=release` has built.
install: ## Installs under DESTDIR what was built for release
	@scripts/install-files \
		"$${RENEWALD_PROGRAM:-$$($(SWIFT) build -c release --show-bin-path)/renewald}" "$(DESTDIR)"

lint: ## Checks format and scripts
	$(SWIFT) format lint --strict -r $(SOURCES)
	@scripts/lint-scripts $(SCRIPTS)

format: ## Formats the sources
	$(SWIFT) format -i -r $(SOURCES)

clean: ## Removes what was built
	$(SWIFT) package clean
