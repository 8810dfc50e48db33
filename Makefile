# Everything a developer or a user runs, one target each. `make help` lists them.
#
# Only Go (1.26 or newer), Rust (by rustup) and make are needed. The first run builds a Kubernetes control
# plane from Go modules into a cache outside the repository; later runs start it in about two seconds.

CARGO ?= cargo
KEEP ?=
WRITE ?=
CASES ?= 20000
SEEDS ?= 1
CHANCE ?= 400
SCENARIO ?=
RUNS ?= 5
MINUTES ?= 60
# How many scenarios at the same time, each with a control plane of a gigabyte. They wait most of their time. One control plane
# starts after the other, which takes a core: on a slower machine fewer of them run.
BEDS ?= 8
# Rust builds in parallel. `demo` and `test` build the control plane at the same time.
export CARGO_BUILD_JOBS ?= 2
# Without `-p`: chosen from the whole workspace, dependencies have the same features in every command and are built once.
PROGRAMS = $(CARGO) build --bin quotient-operator --bin kubectl-quotient
# The tests that need a control plane: `cargo test` runs the others.
E2E = --test beds --test at_pace --test cluster
UNIT_LOG = $(or $(CARGO_TARGET_DIR),target)/unit-tests.log
# The program itself: `cargo run` would wait for a build that goes on beside it.
TESTBED = $(or $(CARGO_TARGET_DIR),target)/debug/testbed
# What is measured is built as it is shipped: by itself, with no feature that only a test needs.
SHIPPED = $(CARGO) build --release -p quotient-operator -p quotient-cli

# Checks licenses and sources of dependencies; built once, into the cache of the test bed.
DENY_VERSION = 0.20.2
DENY_ROOT = $(or $(QUOTIENT_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/quotient)/cargo-tools/cargo-deny-$(DENY_VERSION)
DENY = $(DENY_ROOT)/bin/cargo-deny

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: tools ## two teams share a real cluster, a third one joins (KEEP=1 leaves it running)
	@$(CARGO) build --bin testbed
	@# Go builds Kubernetes while Rust builds the rest: each of them leaves a core idle now and then.
	@$(TESTBED) build >/dev/null & kubernetes=$$!; \
		$(CARGO) build --bin quotient-operator --bin demo && wait $$kubernetes
	@$(CARGO) run --quiet --bin demo -- $(if $(KEEP),--keep)

.PHONY: test
test: tools format lint deny ## everything: format, lints, unit, property and end-to-end tests, CRD drift
	$(CARGO) build --bin testbed
	@# As in `demo`. Both are waited for, so that no build goes on after make has ended.
	$(TESTBED) build --tools & kubernetes=$$!; \
		$(PROGRAMS) && $(CARGO) test --workspace $(E2E) --no-run && $(CARGO) test --workspace --no-run; \
		built=$$?; wait $$kubernetes && exit $$built
	@# End-to-end tests wait a quarter of their time. The others fill it, at the lowest priority.
	nice -n 19 $(CARGO) test --workspace --no-fail-fast >$(UNIT_LOG) 2>&1 & units=$$!; \
		$(CARGO) test --workspace $(E2E) --no-fail-fast -- --test-threads=$(BEDS); passed=$$?; \
		wait $$units; units=$$?; cat $(UNIT_LOG); exit $$((passed + units))

.PHONY: format
format: ## check the formatting
	$(CARGO) fmt --all --check

.PHONY: lint
lint: prose ## clippy with warnings denied, and the prose of pages
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy --workspace $(E2E) -- -D warnings

.PHONY: unit
unit: ## unit and property tests, golden stories, CRD drift: no control plane
	$(CARGO) test --workspace

.PHONY: e2e
e2e: testbed ## end-to-end tests on a real control plane
	$(PROGRAMS)
	$(CARGO) test --workspace $(E2E) -- --test-threads=$(BEDS)

.PHONY: testbed
testbed: tools ## build the control plane, Helm and Prometheus into the cache (15 minutes the first time)
	$(CARGO) run --quiet --bin testbed -- build --tools

.PHONY: speed
speed: tools ## fail when planning takes much more work than it did (WRITE=1 writes engine/benches/baselines.txt)
	WRITE=$(WRITE) $(CARGO) test --profile fast --workspace --test speed
	WRITE=$(WRITE) $(CARGO) test --profile fast --workspace --test laws -- slot_laws

.PHONY: planning-time
planning-time: tools ## the tables of docs/evidence/planning-time.md, up to 1,500,000 pods (WRITE=1 writes them)
	WRITE=$(WRITE) $(CARGO) bench --workspace --bench planning_time

.PHONY: laws
laws: tools ## try every law of the engine on CASES random clusters (20000) instead of 1500
	PROPTEST_RNG_SEED=$$(date +%s) PROPTEST_CASES=$(CASES) $(CARGO) test --profile fast --workspace --test laws -- --skip histories --skip guards

.PHONY: histories
histories: tools ## let CASES random histories happen (20000), of pods, gates, preemption and QueueJobs, instead of 80 to 1,000; takes minutes
	PROPTEST_RNG_SEED=$$(date +%s) PROPTEST_CASES=$(CASES) $(CARGO) test --profile fast --workspace --test laws -- --nocapture histories::

.PHONY: model
model: tools ## exhaust the write protocol in larger worlds than every test run does; takes minutes and a few GiB
	$(CARGO) test --profile fast --workspace --test exhausted --test refuted -- --include-ignored --nocapture --test-threads=1

.PHONY: fuzz
fuzz: tools ## read, decide on and play CASES damaged clusters (20000) instead of 400
	FUZZ_CASES=$(CASES) $(CARGO) test --profile fast --workspace --test fuzz -- --nocapture

.PHONY: faults
faults: tools ## the fault campaign: every write of every workload meets every fault (SEEDS=1, CHANCE=400); minutes
	$(CARGO) run --profile fast --bin faults -- --seeds $(SEEDS) --chance $(CHANCE)
	QUOTIENT_GANG_ORDERS=1000 $(CARGO) test --workspace --test executions gangs::

.PHONY: kills
kills: testbed ## kill the operator at every write of the seeds' example on a real control plane, before it and after it
	$(PROGRAMS)
	QUOTIENT_KILLS=all $(CARGO) test --workspace --test cluster -- --nocapture killed_at_any_write

.PHONY: memory
memory: tools testbed ## the operator with 20,000 and 100,000 pods on a real control plane (WRITE=1 writes docs/evidence/scale.md)
	$(SHIPPED)
	$(CARGO) run --profile fast --bin bench -- scale $(if $(WRITE),--write)

.PHONY: hostile
hostile: tools testbed ## what one tenant can cost: times beside a friendly cluster, memory below 512 MiB (WRITE=1 writes docs/evidence/scale.md)
	$(SHIPPED)
	$(CARGO) run --profile fast --bin bench -- hostile $(if $(WRITE),--write)
	$(PROGRAMS)
	QUOTIENT_CROWD=large $(CARGO) test --workspace --test cluster -- --nocapture crowd

.PHONY: size
size: tools testbed ## the image's static programs and the operator's memory at rest, against what is promised (WRITE=1 writes docs/how-to/install.md)
	$(CARGO) run --profile fast --bin bench -- size $(if $(WRITE),--write)

.PHONY: bench-e2e
bench-e2e: tools testbed ## how fast a share moves on a real control plane (SCENARIO=half, RUNS=5, WRITE=1 writes docs/evidence/performance.md)
	$(SHIPPED)
	$(CARGO) run --profile fast --bin bench -- speed $(SCENARIO) --runs $(RUNS) $(if $(WRITE),--write)

.PHONY: soak
soak: tools testbed ## pods come and go for MINUTES (60) minutes: memory stays flat, no pod is evicted
	$(SHIPPED)
	$(CARGO) run --profile fast --bin bench -- soak --minutes $(MINUTES)

.PHONY: observe
observe: MINUTES = 10
observe: testbed ## a reclaim in mode Observe for MINUTES (10) minutes: mode Full evicts the pods that were named
	$(PROGRAMS)
	QUOTIENT_OBSERVE_MINUTES=$(MINUTES) $(CARGO) test --workspace --test cluster -- --nocapture --test-threads=4 observation::

.PHONY: crds
crds: tools ## regenerate the CRDs
	$(CARGO) run --quiet --bin crdgen

.PHONY: release
release: tools ## everything of a release in target/release-files: image if docker is there, SBOM, provenance, chart, kinds, programs
	.ci/release target/release-files

.PHONY: chart
chart: tools ## regenerate the chart's schema and its table of values from values.yaml
	UPDATE_EXPECT=1 $(CARGO) test --workspace --test chart

.PHONY: metrics
metrics: tools ## regenerate docs/reference/metrics.md and events.md
	UPDATE_EXPECT=1 $(CARGO) test --quiet --workspace --lib --test reference reference

.PHONY: reference
reference: tools metrics ## regenerate the pages of docs/reference that are made from the code
	UPDATE_EXPECT=1 $(CARGO) test --quiet --workspace --test reference

.PHONY: golden
golden: tools ## regenerate the golden texts; read the difference before committing it
	UPDATE_EXPECT=1 $(CARGO) test --workspace

# Reads the prose of pages; built once, into the cache of the test bed. Later versions have another module path.
VALE_VERSION = v3.15.2
VALE_ROOT = $(or $(QUOTIENT_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/quotient)/go-tools/vale-$(VALE_VERSION)
VALE = $(VALE_ROOT)/vale
# The pages, and in those that are generated the fields of the kinds, the values of the chart and the help of metrics.
PROSE = docs README.md ARCHITECTURE.md SECURITY.md CHANGELOG.md charts/quotient/README.md e2e/testbed/README.md
# Comments that users read: descriptions of the kinds, and the help of every flag.
PROSE_COMMENTS = crds/src $(shell git ls-files 'operator/src/*args.rs' 'cli/src/*args.rs' operator/src/settings.rs operator/src/lease/mod.rs)
# Messages of conditions, events, the log, the command line, alerts, admission policies and the notes of the chart.
PROSE_TEXTS = $(or $(CARGO_TARGET_DIR),target)/prose

# Without optimization of the C in it, the parsers of thirty languages: it runs for a second.
$(VALE):
	GOGC=400 CGO_CFLAGS=-O0 CGO_CXXFLAGS=-O0 GOBIN=$(VALE_ROOT) go install github.com/errata-ai/vale/v3/cmd/vale@$(VALE_VERSION)

.PHONY: prose
prose: tools $(VALE) ## check words and sentences of pages, descriptions and messages by the rules of docs/contributing/vale
	.ci/texts $(PROSE_TEXTS)
	$(VALE) --output=line $(PROSE) $(PROSE_COMMENTS) $(PROSE_TEXTS)

# Without optimization: it runs for a second.
$(DENY):
	CARGO_TARGET_DIR=$(DENY_ROOT)/target CARGO_PROFILE_DEV_DEBUG=0 \
		$(CARGO) install --debug --quiet cargo-deny --version $(DENY_VERSION) --locked --root $(DENY_ROOT)
	rm -rf $(DENY_ROOT)/target

.PHONY: deny
deny: $(DENY) ## check licenses, sources and versions of dependencies; builds cargo-deny the first time
	$(DENY) check bans licenses sources

.PHONY: advisories
advisories: $(DENY) ## check dependencies for known vulnerabilities (fetches the RustSec database)
	$(DENY) check advisories

.PHONY: tools
tools:
	@command -v go >/dev/null 2>&1 || { echo "go is missing: install Go 1.26 or newer (https://go.dev/doc/install); it builds the control plane of the test bed" >&2; exit 1; }
	@command -v $(CARGO) >/dev/null 2>&1 || { echo "cargo is missing: install Rust by rustup (https://rustup.rs); rust-toolchain.toml names the version" >&2; exit 1; }
