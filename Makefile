# Seconds for each fuzz target.
FUZZ_SECONDS ?= 20

# Under CI the lock files stand as they are.
LOCKED := $(if $(CI),--locked)
# Here everything is built and tested with what loads a library under the GPL; by default, nothing is.
FEATURES := --features mimosa-cli/x264
# The program with all commands, the one that serves browsers, and the one that plays in a
# window. Each is `target/play/mimosa`, whichever was built last.
ALL := --profile play -p mimosa-cli $(FEATURES)
LEAN := --no-default-features --features serve,x264,gstreamer,svt-av1
# GStreamer drives graphics processors: `make play` installs it where a device could encode
# (crates/apps/host/src/encoding/hardware.rs).
DEVICES := $(wildcard /dev/dri/renderD* /dev/nvidia0 /dev/video*)
CLIENT := --no-default-features --features window
# A choice of the program's features, for a command about the whole workspace: such a command finds what the
# lints have compiled, where one about the program alone compiles other variants of its dependencies.
comma := ,
in_workspace = $(subst $(comma),$(comma)mimosa-cli/,$(subst --features ,--features mimosa-cli/,$(1)))
# A command that runs beside the tests in a browser, after the other tests, with what the processors have
# left; none unless named.
BESIDE ?=
# The program that soaks; MIMOSA names one that is built already.
SOAK = $(or $(MIMOSA),target/debug/mimosa) soak
# How many sessions soak, and how many of those that have WebRTC at both ends.
SOAK_SEEDS ?= 250
SOAK_SEEDS_WEBRTC ?= 30
PYTHON := $(shell git ls-files '*.py' '*.ipynb' 2>/dev/null)
export GAME URL

.PHONY: help check check-crates test python-test ray-test wheel playground playground-test soak bench measure compare picture play client all dist dist-test package-test fuzz fuzz-build figures pages presentation
.DEFAULT_GOAL := help

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

# The simulator as WebAssembly, and where the playground takes it from, packed: servers of files seldom
# compress it.
WASM := wasm32-unknown-unknown
SIMULATOR := web/playground/public/simulator.wasm.gz

# The page's parts and the page, when they are older than what they come of.
PAGE := $(shell git ls-files web/src web/index.html web/vite.config.ts web/tsconfig.json 2>/dev/null)

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	npm --prefix web ci --no-audit --no-fund
	@touch $@

web/dist/index.html: web/node_modules/.package-lock.json $(PAGE)
	npm --prefix web run build
	@touch $@

# The table of controllers declares their modules, where cargo fmt does not look for files.
CONTROLLERS := $(wildcard crates/core/cc/src/*.rs crates/core/cc/src/*/mod.rs)

check: ## Formatting, lints, documentation, licences, arrows, links, known vulnerabilities
	scripts/install.sh
	shellcheck .ci/run scripts/*.sh scripts/dist/*.sh
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	rustfmt --edition 2024 --check $(CONTROLLERS)
ifneq ($(PYTHON),)
	.venv/bin/ruff format --check $(PYTHON)
	.venv/bin/ruff check $(PYTHON)
endif
	@# A registry may take minutes to hand over the page's packages, which needs no processor.
	$(MAKE) web/node_modules/.package-lock.json & page=$$!; \
		$(MAKE) check-crates || { kill $$page; exit 1; }; wait $$page
	npm --prefix web run lint
	python3 -m doctest scripts/audit.py
	python3 scripts/audit.py

# The part of `make check` about Rust.
check-crates:
	cargo clippy --workspace --all-targets $(FEATURES) $(LOCKED) -- -D warnings
	cargo clippy --workspace $(LOCKED) -- -D warnings
	cargo clippy --workspace $(call in_workspace,$(LEAN)) $(LOCKED) -- -D warnings
	cargo clippy --workspace --exclude mimosa-host $(call in_workspace,$(CLIENT)) $(LOCKED) -- -D warnings
	RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps $(FEATURES) $(LOCKED)
	cargo test -p mimosa-checks $(LOCKED)

test: ## All tests, those in a browser among them
	scripts/install.sh
	$(MAKE) web/dist/index.html
	python3 scripts/tests.py compile $(FEATURES) $(LOCKED)
	python3 scripts/tests.py real
	python3 scripts/beside.py 'python3 scripts/tests.py quiet && npm --prefix web run e2e' \
		'npm --prefix web test' \
		'python3 scripts/tests.py virtual' \
		-- \
		'cargo test --workspace --doc $(FEATURES) $(LOCKED)' \
		'$(MAKE) python-test MIMOSA=$(CURDIR)/target/debug/mimosa' $(if $(BESIDE),'$(BESIDE)')

# The program that MIMOSA names was compiled with the tests: with their choice of features, the package needs
# nothing else compiled again.
python-test: ## The tests of the Python package, with the program that MIMOSA names
	scripts/install.sh package
	cargo build --workspace --lib $(if $(MIMOSA),--bins --tests) $(FEATURES) $(LOCKED)
ifeq ($(MIMOSA),)
	cargo build -p mimosa-cli $(FEATURES) $(LOCKED)
endif
	cp target/debug/lib_native.so crates/embed/python/python/mimosa_lab/_native.abi3.so
	MIMOSA=$(or $(MIMOSA),$(CURDIR)/target/debug/mimosa) PYTHONPATH=crates/embed/python/python .venv/bin/python -m unittest discover -s crates/embed/python/tests $(if $(PYTHON_TESTS),-p '$(PYTHON_TESTS)')

ray-test: ## A study on a cluster of Ray with two nodes, one of which is killed
	scripts/install.sh ray
	$(MAKE) python-test PYTHON_TESTS='test_ray.py'

wheel: ## The Python package as a wheel in out/wheels
	scripts/install.sh wheel
	.venv/bin/maturin build --quiet --manifest-path crates/embed/python/Cargo.toml --out out/wheels

soak: ## Whole sessions under faults: two hours of virtual time in a minute
ifeq ($(MIMOSA),)
	cargo build -p mimosa-cli $(FEATURES) $(LOCKED)
endif
	$(SOAK) --seeds 1..$(SOAK_SEEDS)
	$(SOAK) --seeds 1..$(SOAK_SEEDS_WEBRTC) --transport webrtc
	$(SOAK) --seeds 1..8 --transport webrtc --pictures x264

bench: ## All benchmarks
	cargo bench --workspace $(FEATURES) $(LOCKED)

measure: ## The figures of docs/results/performance.md about the host, in 40 minutes
	scripts/install.sh
	$(MAKE) web/dist/index.html
	cargo build $(ALL) $(LOCKED)
	MIMOSA=target/play/mimosa npm --prefix web run measure

compare: ## docs/results/comparison.md: controllers A=pudica and B=mimosa in turn, in 15 minutes
	scripts/install.sh
	$(MAKE) web/dist/index.html
	cargo build $(ALL) $(LOCKED)
	PUBLISH=1 MIMOSA=target/play/mimosa npm --prefix web run compare

play: ## Play in a browser: the demo, or the game that GAME='command' runs
	scripts/install.sh play
	$(if $(DEVICES),scripts/install.sh hardware)
	$(MAKE) web/dist/index.html
	cargo build --profile play -p mimosa-cli $(LEAN) $(LOCKED)
	target/play/mimosa serve $${GAME:+--launch "$$GAME"}

playground: ## The simulator in a page that needs no server but of files: web/dist-playground
	scripts/install.sh playground
	$(MAKE) web/node_modules/.package-lock.json
	cargo build --profile playground --target $(WASM) -p mimosa-playground --lib $(LOCKED)
	mkdir -p $(dir $(SIMULATOR))
	gzip -9 -n -c target/$(WASM)/playground/mimosa_playground.wasm > $(SIMULATOR)
	npm --prefix web run build:playground
	@du -sb web/dist-playground | awk '{ print $$1 " bytes to load" }'

playground-test: playground ## The playground in a browser, beside the program's figures
	scripts/install.sh
ifeq ($(MIMOSA),)
	cargo build -p mimosa-cli $(FEATURES) $(LOCKED)
endif
	npm --prefix web run e2e:playground

client: ## Build the native client, and play with it what the host at URL='address' streams
	scripts/install.sh client
	cargo build --profile play -p mimosa-cli $(CLIENT) $(LOCKED)
	$${URL:+target/play/mimosa play "$$URL"}

all: ## Build `mimosa` with all of its commands: target/play/mimosa
	scripts/install.sh all
	$(MAKE) web/dist/index.html
	cargo build $(ALL) $(LOCKED)

dist: ## Package, tarball and image in out/dist, from a root of Debian 11; as root
	scripts/install.sh dist
	$(MAKE) web/dist/index.html
	scripts/dist/build.sh

dist-test: ## Install what `make dist` made in clean Debian 12 and 13, serve and play; as root
	scripts/install.sh dist
	scripts/install.sh container
	scripts/install.sh
	$(MAKE) web/node_modules/.package-lock.json
	python3 scripts/dist/test.py

package-test: ## Pack the program that MIMOSA names, install it in a clean root of this Debian, serve and play; as root
	scripts/install.sh dist
	python3 scripts/dist/test.py --program $(or $(MIMOSA),target/debug/mimosa)

fuzz: ## Every fuzz target for FUZZ_SECONDS
	scripts/install.sh fuzz
	scripts/fuzz.sh $(FUZZ_SECONDS)

fuzz-build: ## Every fuzz target, without running one
	scripts/install.sh fuzz
	scripts/fuzz.sh build

picture: ## The picture of README: the end-to-end test across a bottleneck
	scripts/install.sh
	$(MAKE) web/dist/index.html
	cargo build $(ALL) $(LOCKED)
	MIMOSA=target/play/mimosa CI=true npm --prefix web run e2e -- bottleneck
	cp out/e2e/bottleneck.jpg docs/figures/play.jpg

pages: ## What docs/ shows, computed again where it does not depend on the machine; goes on where it stopped
	scripts/pages.sh $(STEPS)

presentation: ## The table of docs/results/presentation.md: computed, in a minute
	cargo run --quiet --profile play -p mimosa-session --example presentation $(LOCKED)

figures: ## Draw every figure again; with CHECK=--check, say which are not as the program draws them
	scripts/figures.sh $(CHECK)
