# make        builds the compiler, for use
# make deps   installs the Debian packages that the tests need, as root
# make demo   lets the Linux kernel talk to stacks that were compiled a moment before
# make test   runs every test
# make quick  runs what finds most mistakes: format, lints, unit tests, cases in the interpreters
# make bench  counts instructions of a message and of a segment, beside lwIP, smoltcp and C by hand
# make record writes the figures of bench/figures.toml, with which `make bench` compares
# make soak   feeds a million frames to each example, and runs the tests of the C with many seeds
# make fmt    brings Rust and Loom into their canonical form
#
# Each target first installs the Debian packages that it misses (packages.txt), if root runs it. It
# names them before. `make DEPS=no TARGET` installs nothing.

DEPS ?= yes

CARGO := $(shell PATH="$$PATH:$$HOME/.cargo/bin" command -v cargo)
export PATH := $(PATH):$(dir $(CARGO))

# Compiled C is cached by the hash of its text, its flags and its compiler, where there is a ccache.
export CCACHE_DIR := $(CURDIR)/target/ccache
export PATH := /usr/lib/ccache:$(PATH)

.PHONY: build deps demo test quick bench record soak fmt machine machine_of_demo machine_of_soak

build: machine
	cargo build --release

deps: machine

# A debug build would compile the stacks fifty times slower.
demo: machine_of_demo
	cargo build --release
	cargo run --release --quiet -- demo

# The stages stand in order of their time, and the first that fails ends the run. In the last stage
# two test files run at a time, since most tests wait for a compiler or for the kernel, the longest
# first; the output of a file is printed when the file has ended.
EARLY := tidy format layers compose trees
LONG := commands cases c_agrees slots kernel
LATE := $(LONG) $(filter-out $(EARLY) $(LONG), $(basename $(notdir $(wildcard tests/*.rs))))

test: machine
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	cargo test --profile dev --lib
	cargo test --bins $(EARLY:%=--test %)
	cargo test --no-run $(LATE:%=--test %)
	@mkdir -p target/said
	@printf '%s\n' $(LATE) | xargs -P 2 -n 1 sh -c \
		'cargo test --test $$0 >target/said/$$0 2>&1 </dev/null; code=$$?; cat target/said/$$0; exit $$code'
	cargo test --doc

quick: machine
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	INTERPRETED=1 cargo test --profile dev --lib --test tidy --test format --test layers --test cases

# What `cargo run` becomes is told of the memory of rustc.
bench: build
	target/release/loom bench size --strict
	target/release/loom bench udp --strict
	target/release/loom bench tcp --strict
	target/release/loom bench traffic --strict
	target/release/loom bench bulk

# Writes the figures of our own stacks to bench/figures.toml: after an improvement, with the change.
record: build
	for bench in size udp tcp traffic; do \
		target/release/loom bench $$bench --alone --record >/dev/null || exit 1; \
	done

# Each part says what it is and how long it took; where one fails the others go on, and it is named
# at the end. `SEEDS=n` is how many traces each stack is compared on, `PROGRAMS=n` how many programs
# are written at random. Texts are fed to a compiler that is no release: in one, no sum is checked.
soak: build machine_of_soak
	@export SEED=$${SEED:-$$(date +%s)}; echo "SEED=$$SEED does the same again"; wrong=; \
	part() { \
		begin=$$(date +%s); echo "== $$*"; env "$$@" || wrong="$$wrong$$* failed\n"; \
		echo "== $$(( $$(date +%s) - begin )) s"; \
	}; \
	soak='cargo test --release'; \
	part $$soak --test fuzz -- --ignored --nocapture; \
	part FUZZ=10 cargo test --test fuzz -- every_seed --nocapture; \
	part ALL=1 SEEDS=30 $$soak --test names --test tcp; \
	part HOSTILE=20 $$soak --test hostile --test sockets -- --nocapture; \
	part COUNT=4000 $$soak --test esterel agree -- --nocapture; \
	part SEEDS=1000 $$soak --test estelle -- --include-ignored; \
	part SPECIFICATIONS=2000 C=50 $$soak --test estelle generated -- --nocapture; \
	part COUNT=2 $$soak --test mistakes -- --nocapture; \
	part $$soak --test kernel --test tcp --test portable -- --ignored --nocapture; \
	part $$soak --test compile_time -- --include-ignored --nocapture; \
	part SEEDS=10000 $$soak --test slots -- --nocapture; \
	part $$soak --test boosters --test signalling -- --ignored; \
	part $$soak --test law -- --ignored --nocapture; \
	part PROFILE=raw SEEDS=30 $$soak --test tcp; \
	part PROFILE=recorded SEEDS=30 $$soak --test tcp; \
	part WATCHED=1 SEEDS=$${SEEDS:-100} $$soak --test agree --test c_agrees -- --nocapture --include-ignored; \
	part SEEDS=$${PROGRAMS:-60} $$soak --test generated -- --nocapture; \
	part SEEDS=$${PROGRAMS:-60} $$soak --test passes -- --nocapture; \
	printf "$$wrong"; test -z "$$wrong"

fmt: machine
	cargo fmt
	cargo run --quiet -- fmt layers examples

# Rust comes from its own installer; all else that is missing, from Debian.
machine:
	@$(call prepare,$(shell sed 's/#.*//; / soak /d; s/ demo / /' packages.txt))

# What the demo needs has the word `demo` behind its name.
machine_of_demo:
	@$(call prepare,$(shell sed -n 's/#.*//; s/ demo / /p' packages.txt))

# So has what only `make soak` needs the word `soak`.
machine_of_soak: machine
	@$(call prepare,$(shell sed -n 's/#.*//; s/ soak / /p' packages.txt))

# Installs those of the packages $(1) that are missing, or says how to. On a terminal it leaves time
# to stop it.
define prepare
test -n "$(CARGO)" || { echo "Rust 1.95 or newer is needed: https://rustup.rs" >&2; exit 1; }; \
command -v dpkg-query >/dev/null || exit 0; \
missing=; \
for package in $(1); do \
	dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q ' installed' \
		|| missing="$$missing $$package"; \
done; \
test -n "$$missing" || exit 0; \
command="apt-get install --no-install-recommends$$missing"; \
if test "$(DEPS)" = no; then \
	echo "DEPS=no: Debian packages that may be missed:$$missing" >&2; \
elif test "$$(id -u)" != 0; then \
	echo "Debian packages that may be missed, and only root may install:$$missing" >&2; \
	echo "  sudo $$command" >&2; \
else \
	echo "about to install Debian packages:$$missing" >&2; \
	echo "  $$command" >&2; \
	echo "\`make DEPS=no $(or $(MAKECMDGOALS),build)\` installs nothing" >&2; \
	if test -t 0; then echo "it begins in 5 s; Ctrl-C stops it" >&2; sleep 5; fi; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get update -q </dev/null >/dev/null \
		&& apt-get install -q -y --no-install-recommends $$missing </dev/null >/dev/null \
		|| echo "could not be installed:$$missing" >&2; \
fi
endef
