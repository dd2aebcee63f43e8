# The commands of this repository; `make` alone lists them.

CARGO ?= $(or $(shell command -v cargo),$(HOME)/.cargo/bin/cargo)
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
DBDYNO := $(TARGET_DIR)/debug/dbdyno
MUSL := $(shell uname -m)-unknown-linux-musl
PACKAGES := $(TARGET_DIR)/packages
ASSETS := crates/report/assets

# Clippy's driver is rustc with its lints: where it compiles our crates, the tests' build is their check, too, in four
# fifths of the time of both.
TESTS := test test-all test-noisy test-times test-for check-trust torture matrix
$(TESTS): export RUSTC_WORKSPACE_WRAPPER := $(or $(shell command -v clippy-driver),$(HOME)/.cargo/bin/clippy-driver)
$(TESTS): export CLIPPY_ARGS := -Dwarnings__CLIPPY_HACKERY__

# Each step builds on the one before it.
.NOTPARALLEL:
.PHONY: help rust quickstart test test-all test-noisy test-times test-for check-trust torture matrix mysql build static deb check-packages assets browser lint bench

help:
	@echo 'make quickstart  install missing packages, build without LTO, and measure a private MariaDB (2 minutes after the build)'
	@echo 'make test        install what the tests need, then check format and lints and run all tests'
	@echo 'make test-for PATH  the tests that a changed file needs (CONTRIBUTING.md has the table)'
	@echo 'make test-all    also the long rounds: every version, staged limits, sabotage, long torture (hours)'
	@echo 'make test-noisy  the tests in shuffled order beside busy loops, on a small disk: SEED=1'
	@echo 'make test-times  what every test takes, and the dearest of them'
	@echo 'make check-trust error rates, power and coverage of the statistics by simulation, a line each (about 4 minutes)'
	@echo 'make torture     hostile servers, broken networks, bad input, kills, full disks: SECONDS=600 SEED=1 (docs/reliability.md)'
	@echo 'make matrix      install every version that can be, and run the tests that take all of them (1.2 GB to load)'
	@echo 'make build       build $(TARGET_DIR)/release/dbdyno'
	@echo 'make static      build a dbdyno that needs no library: $(TARGET_DIR)/$(MUSL)/release/dbdyno'
	@echo 'make deb         put it into a .deb and a .tar.gz, with completions, man pages, docs, experiments and licences'
	@echo 'make check-packages  install these and run their first steps; also cargo install from a fresh clone'
	@echo 'make assets      fetch the chart library that the report embeds'
	@echo 'make lint        check format, lints and shell scripts'
	@echo 'make bench       run the benchmarks of dbdyno itself (about 30 minutes)'

# Everything that is built needs it, and nothing of ours installs it.
rust:
	@command -v '$(CARGO)' >/dev/null || { \
	    echo 'error: there is no cargo: Rust is not installed' >&2; \
	    echo 'hint: https://rustup.rs has the one command that installs it for this user; then make again' >&2; \
	    exit 4; \
	}

quickstart: rust
	@scripts/install-packages.sh run
	@$(MAKE) --no-print-directory assets
	$(CARGO) build --profile quickstart --locked -p dbdyno --no-default-features
	@$(TARGET_DIR)/quickstart/dbdyno run experiments/quickstart.toml

test: rust
	@scripts/install-packages.sh test
	@$(MAKE) --no-print-directory browser
	$(CARGO) fmt --check
	@CARGO='$(CARGO)' scripts/run-tests.sh

# The tests of the ordinary run, then what is ignored in it, alone on the machine.
test-all: test matrix
	DBDYNO_SHIPPED=full DBDYNO_SABOTAGE=1 DBDYNO_STAGED=1 RUST_TEST_THREADS=1 \
	    $(CARGO) test -p dbdyno -p report -p telemetry --no-fail-fast -- --ignored --skip long::matrix
	@$(MAKE) --no-print-directory torture check-trust

test-noisy:
	CARGO='$(CARGO)' scripts/test-noisy.sh $(or $(SEED),1)

test-times:
	@scripts/test-times.py

test-for:
	@CARGO='$(CARGO)' scripts/test-for.sh $(filter-out test-for,$(MAKECMDGOALS))

check-trust:
	DBDYNO_TRUST=1 $(CARGO) test -p stats -p verdict -p audit --lib -- trust_ --nocapture

torture:
	DBDYNO_TORTURE_SECONDS=$(or $(SECONDS),600) DBDYNO_TORTURE_SEED=$(SEED) \
	    $(CARGO) test -p dbdyno --test suite torture -- --nocapture

# Besides MariaDB the tests use one MySQL: any installed one, else the smallest with the current authentication.
# Debian's moving suite cannot always be installed; the version in npm does not change.
mysql:
	@$(DBDYNO) server check --run mysql >/dev/null 2>&1 || $(DBDYNO) server install mysql-9.7 \
	|| $(DBDYNO) server install mysql-5.6 || { \
	    echo 'error: the tests need a MySQL besides MariaDB, and none could be installed' >&2; \
	    echo 'hint: $(DBDYNO) server install NAME --from PATH takes an archive or a directory of yours' >&2; \
	    exit 4; \
	}

matrix:
	$(CARGO) test -p server -p dbdyno --no-run
	@for name in $$($(DBDYNO) server installed --all | awk '/ not installed /{print $$1}'); do \
	    $(DBDYNO) server install $$name || exit; \
	done
	DBDYNO_MATRIX=1 $(CARGO) test -p server --test server
	DBDYNO_MATRIX=1 $(CARGO) test -p dbdyno --test suite long::matrix -- --ignored --nocapture

build: assets
	$(CARGO) build --release

# musl-tools contains its C compiler; rustup provides the standard library. LuaJIT must not use an unwinder there: Debian's
# asks for a function of glibc (which LuaJIT's own program, built beside the library, is linked with), Rust's refuses its frames.
static: assets
	@command -v musl-gcc >/dev/null || { echo 'error: musl-gcc is missing' >&2; \
	    echo 'hint: as root: apt-get install --no-install-recommends musl-tools' >&2; exit 4; }
	@! command -v rustup >/dev/null || rustup --quiet target add $(MUSL)
	CFLAGS_$(subst -,_,$(MUSL))='-DLUAJIT_NO_UNWIND -Wl,--defsym=_dl_find_object=0' \
	    CARGO_PROFILE_RELEASE_STRIP=debuginfo $(CARGO) build --release --locked -p dbdyno --target $(MUSL)

deb: static
	scripts/make-deb.sh $(TARGET_DIR)/$(MUSL)/release/dbdyno $(PACKAGES)

check-packages:
	scripts/check-packages.sh $(PACKAGES) --cargo

# Without the chart library everything works; a run's time series is then a static chart.
assets:
	$(call npm_ci,uplot,--omit=dev,the report will have static charts only)

# Without it the test of the report in a browser is skipped.
browser:
	$(call npm_ci,playwright-core,,the report will not be tested in a browser)

# npm_ci PACKAGE,OPTION,CONSEQUENCE: installs the versions of package-lock.json, unless the package is there and newer.
define npm_ci
	@if ! command -v npm >/dev/null; then \
	    echo 'npm is not installed: $(3)' >&2; \
	elif [ $(ASSETS)/node_modules/$(1)/package.json -nt $(ASSETS)/package-lock.json ]; then \
	    :; \
	elif npm ci --prefix $(ASSETS) $(2) --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1 </dev/null; then \
	    find $(ASSETS)/node_modules -maxdepth 2 -name package.json -exec touch {} +; \
	else \
	    echo 'npm could not fetch $(1): $(3)' >&2; \
	fi
endef

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	@if command -v shellcheck >/dev/null; then shellcheck -x scripts/*.sh bench/*.sh bench/*/*.sh .ci/run; \
	else echo 'shellcheck is not installed: the shell scripts were not checked' >&2; fi

bench: build
	@for script in bench/*/run.sh; do "$$script" $(abspath $(TARGET_DIR))/release/dbdyno || exit; done
