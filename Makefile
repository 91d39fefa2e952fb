# Each target is one line: the work is in scripts/ or in cargo. `make` alone prints this list.
.DEFAULT_GOAL := help
.PHONY: help run dev build test soak bench lint fmt check-deps

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: ## build what is out of date, then serve http://127.0.0.1:4400 with the Atlas demo from ./data
	@scripts/run

dev: ## server and pages that rebuild and reload when a file changes
	@scripts/dev.mjs

build: ## the web apps, then target/release/stoa with them inside; nothing when nothing changed
	@scripts/build

test: ## every test there is; one part alone: scripts/test units|web|fuzz|readme|conformance|browser|traffic|schemathesis
	@scripts/test

soak: ## the random tests, fuzz targets, a mixed load, attacks and drawn requests for hours; less: scripts/soak --minutes 10
	@scripts/soak

bench: ## measured ratios beside the limit and beside peers, in one run
	@scripts/bench

lint: ## format, clippy, types, ESLint, tidiness and dependencies, all without changing a file
	@scripts/lint

fmt: ## format the sources: Rust, TypeScript, JavaScript, CSS
	@scripts/fmt

check-deps: ## licences, advisories and yanked versions of everything that is depended on
	@scripts/check-dependencies.mjs
