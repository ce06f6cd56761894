# Seconds for each fuzz target.
FUZZ_SECONDS ?= 20

# Under CI the lock files stand as they are.
LOCKED := $(if $(CI),--locked)
PYTHON := $(shell git ls-files '*.py' 2>/dev/null)

.PHONY: help check test bench play fuzz figures
.DEFAULT_GOAL := help

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

check: ## Formatting, lints, documentation, licences, arrows, links
	scripts/install.sh
	shellcheck .ci/run scripts/*.sh
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
ifneq ($(PYTHON),)
	.venv/bin/ruff format --check $(PYTHON)
	.venv/bin/ruff check $(PYTHON)
endif
ifneq ($(wildcard web/package.json),)
	npm --prefix web ci
	npm --prefix web run lint
endif
	cargo clippy --workspace --all-targets $(LOCKED) -- -D warnings
	RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps $(LOCKED)
	cargo test -p mimosa-checks $(LOCKED)

test: ## All tests
	cargo test --workspace --doc $(LOCKED)
	cargo test --workspace --lib --bins --tests --examples $(LOCKED)

bench: ## All benchmarks
	cargo bench --workspace $(LOCKED)

play: ## Play in a browser
	@echo '`mimosa serve` is not part of this version' >&2; exit 1

fuzz: ## Every fuzz target for FUZZ_SECONDS
	scripts/install.sh fuzz
	scripts/fuzz.sh $(FUZZ_SECONDS)

figures: ## Draw every figure again
	scripts/figures.sh
