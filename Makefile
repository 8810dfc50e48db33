# Everything a developer or a user runs, one target each. `make help` lists them.
#
# Only Go (1.26 or newer), Rust (by rustup) and make are needed. The first run builds a Kubernetes control
# plane from Go modules into a cache outside the repository; later runs start it in about two seconds.

CARGO ?= cargo
KEEP ?=
WRITE ?=
CASES ?= 20000
# Rust builds in parallel; the test bed is built separately, never at the same time.
export CARGO_BUILD_JOBS ?= 2

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: tools ## two teams share a real cluster, a third one joins (KEEP=1 leaves it running)
	@$(CARGO) build -p quotient-operator -p quotient-cli
	@$(CARGO) run -p quotient-e2e --bin demo -- $(if $(KEEP),--keep)

.PHONY: test
test: tools format lint unit e2e ## format, lints, unit, property and end-to-end tests, CRD drift

.PHONY: format
format: ## check the formatting
	$(CARGO) fmt --all --check

.PHONY: lint
lint: ## clippy with warnings denied
	$(CARGO) clippy --workspace --all-targets -- -D warnings

.PHONY: unit
unit: ## unit and property tests, golden stories, CRD drift: no control plane
	$(CARGO) test --workspace --exclude quotient-e2e

.PHONY: e2e
e2e: testbed ## end-to-end tests on a real control plane
	$(CARGO) build -p quotient-operator -p quotient-cli
	$(CARGO) test -p quotient-e2e -- --test-threads=2

.PHONY: testbed
testbed: tools ## build the control plane's binaries into the cache (7 minutes the first time)
	$(CARGO) run --quiet -p quotient-e2e --bin testbed -- build

.PHONY: bench
bench: tools ## how long a full plan takes
	$(CARGO) bench -p quotient-engine --bench plan

.PHONY: laws
laws: tools ## try every law of the engine on CASES random clusters (20000) instead of 1500
	PROPTEST_CASES=$(CASES) $(CARGO) test --profile fast -p quotient-engine --test share_laws --test plan_laws --test victim_laws --test ask_laws --test rational --test algebra_laws

.PHONY: histories
histories: tools ## let CASES random histories happen (20000) instead of 200; takes minutes
	PROPTEST_CASES=$(CASES) $(CARGO) test --profile fast -p quotient-engine --test histories -- --nocapture

.PHONY: fuzz
fuzz: tools ## read, decide on and play CASES damaged clusters (20000) instead of 400
	FUZZ_CASES=$(CASES) $(CARGO) test --profile fast -p quotient-index --test fuzz -- --nocapture

.PHONY: memory
memory: tools testbed ## the operator with 20,000 pods on a real control plane (WRITE=1 writes docs/scale.md)
	$(CARGO) build --release -p quotient-operator
	$(CARGO) run --release -p quotient-e2e --bin memory -- $(if $(WRITE),--write)

.PHONY: crds
crds: tools ## regenerate the CRDs
	$(CARGO) run --quiet -p quotient-crds --bin crdgen

.PHONY: golden
golden: tools ## regenerate the golden texts; read the difference before committing it
	UPDATE_EXPECT=1 $(CARGO) test --workspace --exclude quotient-e2e

.PHONY: deny
deny: ## check licences, sources and advisories of dependencies (needs cargo-deny)
	$(CARGO) deny check

.PHONY: tools
tools:
	@command -v go >/dev/null 2>&1 || { echo "go is missing: install Go 1.26 or newer (https://go.dev/doc/install); it builds the control plane of the test bed" >&2; exit 1; }
	@command -v $(CARGO) >/dev/null 2>&1 || { echo "cargo is missing: install Rust by rustup (https://rustup.rs); rust-toolchain.toml names the version" >&2; exit 1; }
