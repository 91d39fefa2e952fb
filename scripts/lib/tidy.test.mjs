// scripts/tidy passes a tree in order, and refuses each fault that is planted in it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from './tidy/main.mjs';

const section = '\u00a7';
const manifest = (name, ...lines) => [`[package]`, `name = "stoa-${name}"`, '', ...lines, ''].join('\n');
const needs = (...names) => ['[dependencies]', ...names.map((it) => `stoa-${it}.workspace = true`)];
const lines = (...them) => `${them.join('\n')}\n`;

/** A small tree in order: two crates below a third, folders in one of them, two packages of a web. */
const clean = {
  'README.md': lines('# Stoa', 'How it is built: [Architecture](ARCHITECTURE.md#arrows).'),
  'ARCHITECTURE.md': lines(
    '# Architecture',
    '## Arrows',
    '```arrows',
    'crates/kernel:',
    'crates/content: kernel',
    'crates/identity: kernel',
    'crates/http: content, identity',
    'crates/content/src/schema:',
    'crates/content/src/item: schema',
    'web/packages/ui:',
    'web/apps/atlas: web/packages/ui',
    'web/apps/atlas/src/parts:',
    'web/apps/atlas/src/pages: parts',
    'except crates/content/src/lib.rs: it holds the state of all folders',
    '```',
  ),
  'docs/hazards.md': lines('# Hazards', '## Reading a log', 'See [the protocol](protocol/content.md#219-permissions).'),
  'docs/protocol/content.md': lines('# Content', '## 21 Rules', '### 21.9 Permissions', `As in ${section}21.`),
  'decisions/0001-first.md': lines('## Context', '## Choice', '## Alternatives', '## Consequences'),
  'crates/kernel/Cargo.toml': manifest('kernel'),
  'crates/kernel/src/lib.rs': lines('//! Words.', 'pub struct Id;'),
  'crates/identity/Cargo.toml': manifest('identity', ...needs('kernel')),
  'crates/identity/src/lib.rs': lines(
    'pub struct Identity;',
    'impl Identity {',
    '    pub fn member_get(&self) {}',
    '}',
  ),
  'crates/http/Cargo.toml': manifest('http', ...needs('content', 'identity')),
  'crates/http/src/lib.rs': lines(
    'fn all(content: stoa_content::Content, identity: stoa_identity::Identity) {',
    '    content.item_get();',
    '    identity.member_get();',
    '}',
  ),
  'crates/content/Cargo.toml': manifest('content', ...needs('kernel')),
  'crates/content/src/lib.rs': lines(
    'mod item;',
    'mod limits;',
    'mod schema;',
    'pub use limits::Limits;',
    'pub use schema::Field;',
    'pub struct Content {',
    '    state: item::State,',
    '}',
  ),
  'crates/content/src/limits.rs': lines('pub struct Limits;'),
  'crates/content/src/schema/mod.rs': lines('mod field;', 'pub use field::Field;'),
  'crates/content/src/schema/field.rs': lines(
    `//! Fields (docs/protocol/content.md ${section}21.9; decisions/0001), see docs/hazards.md ${section}Reading a`,
    '//! log.',
    'pub struct Field(crate::Limits);',
    '#[cfg(test)]',
    'mod tests {',
    '    use crate::item::State;',
    '}',
  ),
  'crates/content/src/item/mod.rs': lines(
    'use crate::{Content, schema::Field};',
    'pub struct State(Field);',
    'impl Content {',
    '    pub fn item_get(&self) {}',
    '}',
  ),
  'web/packages/ui/package.json': JSON.stringify({ name: '@stoa/ui', exports: { '.': './src/index.ts' } }),
  'web/packages/ui/src/index.ts': lines('export const link = 1;'),
  'web/apps/atlas/package.json': JSON.stringify({ name: '@stoa/atlas', dependencies: { '@stoa/ui': '0.1.0' } }),
  'web/apps/atlas/src/parts/Page.tsx': lines("import { link } from '@stoa/ui';", 'export const Page = link;'),
  'web/apps/atlas/src/pages/Home.tsx': lines("import { Page } from '../parts/Page.tsx';", 'export const Home = Page;'),
  'tests/snapshots/matrix.txt': lines('get | yes'),
  ...Object.fromEntries(
    [
      ...['CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'LICENSE-MIT', 'LICENSE-APACHE', 'Makefile', '.ci/run'],
      ...['Cargo.lock', 'web/package-lock.json', 'conformance/package-lock.json', 'e2e/package-lock.json'],
    ].map((it) => [it, '']),
  ),
};

function inTree(change, use) {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-tidy-'));
  try {
    execFileSync('git', ['init', '--quiet', folder]);
    for (const [file, text] of Object.entries({ ...clean, ...change })) {
      mkdirSync(join(folder, dirname(file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What tidy says of the tree in order with these files in place of its own. */
const findings = (change) => inTree(change, (folder) => inspect(folder).findings);
const refused = (change, ...expected) => {
  const found = findings(change);
  assert.equal(found.length, expected.length, found.join('\n'));
  for (const it of expected)
    assert.ok(
      found.some((line) => it.test(line)),
      `${it} is not in:\n${found.join('\n')}`,
    );
};
const more = (file, ...them) => ({ [file]: clean[file] + lines(...them) });
const arrows = (from, to) => ({ 'ARCHITECTURE.md': clean['ARCHITECTURE.md'].replace(from, to) });

test('a tree in order passes, and the exit status tells', () => {
  assert.deepEqual(findings({}), []);
  const tidy = fileURLToPath(new URL('../tidy', import.meta.url));
  const status = (change) => inTree(change, (folder) => spawnSync(tidy, ['--repo', folder]).status);
  assert.equal(status({}), 0);
  assert.equal(status({ 'README.md': '<<<<<<< one side\n' }), 1);
});

test('an arrow against the table is refused', () => {
  const against = /content\/src\/schema may not use crates\/content\/src\/item$/;
  for (const use of [
    'use crate::item;',
    'use crate::{Limits, item::{State}};',
    'use super::super::item::State as Other;',
    'fn f() { let it = crate::item::State; }',
  ]) {
    const found = findings({ 'crates/content/src/schema/field.rs': lines('pub struct Field;', use) });
    assert.ok(
      found.some((it) => against.test(it)),
      `${use}\n${found.join('\n')}`,
    );
  }
});

test('a hidden use is one too: through the root, and by a method', () => {
  refused(
    more('crates/content/src/limits.rs', 'use crate::Field;'),
    /limits\.rs:2: crate::Field: crates\/content\/src\/\* may not use crates\/content\/src\/schema$/,
    /a circle of files/,
  );
  refused(
    more('crates/content/src/limits.rs', 'fn f(content: u8) {', '    content.item_get();', '}'),
    /limits\.rs:3: \.item_get\(\): crates\/content\/src\/\* may not use crates\/content\/src\/item$/,
    /a circle of files/,
  );
});

test('an arrow between crates is refused in code and in manifests', () => {
  refused(
    more('crates/identity/src/lib.rs', 'use stoa_content::Content;'),
    /crates\/identity may not use crates\/content$/,
  );
  refused(
    { 'crates/identity/Cargo.toml': manifest('identity', ...needs('kernel', 'content')) },
    /identity\/Cargo\.toml:6: stoa-content: crates\/identity may not use crates\/content$/,
  );
  refused(
    { 'crates/content/tests/all.rs': lines('use stoa_content::Content;', 'use stoa_identity::Identity;') },
    /crates\/content\/tests may not use crates\/identity$/,
  );
});

test('an arrow in web is refused', () => {
  refused(
    more('web/apps/atlas/src/parts/Page.tsx', "export { Home } from '../pages/Home.tsx';"),
    /atlas\/src\/parts may not use web\/apps\/atlas\/src\/pages$/,
    /a circle of files: .*Home\.tsx/,
  );
  refused(
    more('web/packages/ui/src/index.ts', "import type { Page } from '@stoa/atlas/page';"),
    /web\/packages\/ui may not use web\/apps\/atlas$/,
  );
});

test('the table names all folders there are, no others, and leads one way', () => {
  refused(
    arrows('crates/content/src/schema:\n', ''),
    /lacks crates\/content\/src\/schema/,
    /item may not use|no line of its own/,
  );
  refused(
    arrows('web/packages/ui:', 'crates/lost:\nweb/packages/ui:'),
    /ARCHITECTURE\.md:\d+: crates\/lost is not there/,
  );
  refused(arrows('```\n', 'except lost.rs: no reason\n```\n'), /ARCHITECTURE\.md:\d+: lost\.rs is not there/);
  refused(
    arrows('crates/content/src/schema:', 'crates/content/src/schema: item'),
    /a circle of folders/,
    /schema may use crates\/content\/src\/item and does not/,
  );
  refused(arrows('```arrows', '```'), /no block of code marked/, /a circle of files/);
});

test('a circle of files is refused, with its path', () => {
  refused(
    {
      'crates/content/src/schema/mod.rs': lines('mod field;', 'pub use field::Field;', 'pub fn check(it: Field) {}'),
      'crates/content/src/schema/field.rs': lines('pub struct Field;', 'fn f() {', '    super::check(Field);', '}'),
    },
    /a circle of files: crates\/content\/src\/schema\/field\.rs:3 \(super::check\) -> crates\/content\/src\/schema\/mod\.rs:3 \(Field\) -> crates\/content\/src\/schema\/field\.rs$/,
  );
  refused(arrows(/except .*\n/, ''), /a circle of files: .*item\/mod\.rs:1 \(crate::Content\) -> .*lib\.rs:7/);
});

test('a citation that leads nowhere is refused', () => {
  const cites = (text) => more('crates/kernel/src/lib.rs', `//! ${text}`);
  refused(
    cites(`docs/protocol/content.md ${section}21.8`),
    /lib\.rs:3: docs\/protocol\/content\.md has no section 21\.8/,
  );
  refused(cites(`docs/hazards.md ${section}Writing a log`), /docs\/hazards\.md has no section Writing a log/);
  refused(cites(`docs/lost.md ${section}1`), /docs\/lost\.md is not there/);
  refused(cites(`(${section}21.9)`), /a section of no document/);
  refused(cites('protocol/content' + '.md 21.9'), /protocol\/content\.md is not there/);
  refused(cites('content' + '.md 3.7'), /content\.md is not there/);
  refused(cites('haz' + 'ards: Reading a log'), /leads nowhere/);
  refused(cites('measure' + 'ments Q2'), /leads nowhere/);
  refused(cites('crates/kernel/src/lost.rs'), /crates\/kernel\/src\/lost\.rs is not there/);
  refused(cites('decision 7'), /no decision 0007/);
  refused(cites('decisions' + '/0002'), /no decision 0002/);
  refused(more('README.md', '[gone](docs/gone.md)'), /README\.md:3: a link leads nowhere: docs\/gone\.md/);
  refused(more('README.md', '[gone](docs/hazards.md#gone)'), /docs\/hazards\.md has no heading #gone/);
  refused(more('docs/protocol/content.md', `See ${section}22.`), /docs\/protocol\/content\.md has no section 22/);
});

test('more lines that only clone than the limit are refused', () => {
  const body = (count) =>
    lines(
      'async fn f(site: &Site, a: &str) {',
      ...Array.from({ length: count - 2 }, () => '    let b = a.clone();'),
      '    let (c, d) = (Arc::clone(&b), 1);',
      '    site.write(move |tx| {',
      '        let b = b.clone();',
      '        b.len()',
      '    });',
      '}',
      'fn reads(a: &str) {',
      '    let b = a.clone();',
      '}',
    );
  refused({ 'crates/kernel/src/lib.rs': body(60) });
  refused({ 'crates/kernel/src/lib.rs': body(61) }, /61 lines only clone for a write, the limit is 60/);
});

test('a file is short unless a program printed it', () => {
  const file = (first, count) => ({
    'crates/kernel/src/lib.rs': lines(first, ...Array.from({ length: count - 1 }, () => '')),
  });
  refused(file('//! Words.', 801), /lib\.rs: 801 lines; a file has at most 800/);
  refused(file('// Printed from a table.', 801));
});

test('a ninth file on the ground floor is refused', () => {
  const files = (count) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`crates/content/src/a${at}.rs`, '']));
  refused(files(6));
  refused(files(7), /crates\/content\/src: 9 files; directly in it are at most 8/);
});

test('a method of a hub that no other crate calls is refused', () => {
  refused(
    more('crates/content/src/item/mod.rs', 'impl Content {', '    fn item_find(&self) {}', '}'),
    /item\/mod\.rs:7: no other crate calls Content::item_find/,
  );
});

test('a connection beside the way out is refused', () => {
  const body = (text) => lines('async fn f(to: &str) {', `    ${text}`, '}');
  const refuses = (...them) =>
    refused(
      { 'crates/kernel/src/lib.rs': lines(...them) },
      /kernel\/src\/lib\.rs:\d+: \S+ opens a connection; the way out/,
    );
  for (const text of [
    'tokio::net::TcpStream::connect(to).await;',
    'std::net::TcpStream::connect_timeout(to, time);',
    'std::os::unix::net::UnixStream::connect(to);',
    'let open = TcpStream::connect;',
    'config.connect(NoTls).await;',
    'tokio::net::UdpSocket::bind(to).await;',
    'tokio::net::lookup_host(to).await;',
    'to.to_socket_addrs();',
    'ureq::get(to).call();',
    'hyper::client::conn::http1::handshake(to).await;',
  ])
    refuses(body(text).trimEnd());
  refused(
    { 'crates/kernel/src/lib.rs': body('tokio_postgres::connect(to, NoTls).await;') },
    /tokio_postgres::connect opens a connection/,
    /an engine is named/,
  );
  refuses('use tokio::net::{TcpListener, TcpStream as Stream};');
  refuses('use hyper::{Request, client::conn::http1};');
  refuses('use lettre::SmtpTransport;');
  refuses('mod inner {', '    use std::net::UdpSocket;', '}');
  // What accepts, what is called so here, and what runs tests.
  refused({
    'crates/kernel/src/lib.rs': lines(
      'use tokio::net::{TcpListener, TcpStream};',
      'fn f() {',
      '    let it = socket::connect();',
      '    Postgres::connect();',
      '}',
      '#[cfg(test)]',
      'mod tests {',
      '    use std::net::UdpSocket;',
      '}',
    ),
    'crates/kernel/tests/all.rs': lines('use ureq::Agent;'),
    'bench/src/load.rs': body('TcpStream::connect(to);'),
  });
  // A place that is named connects; one that doesn't any more is told.
  const places = 'crates/outbound/src/';
  refused(
    {
      'ARCHITECTURE.md': clean['ARCHITECTURE.md'].replace(
        '```\n',
        'crates/outbound:\ncrates/outbound/src/reach:\n```\n',
      ),
      'crates/outbound/Cargo.toml': manifest('outbound'),
      [`${places}lib.rs`]: lines('mod reach;', 'mod smtp;'),
      [`${places}reach/mod.rs`]: body('TcpStream::connect(to).await;'),
      [`${places}smtp.rs`]: lines('pub struct Smtp;'),
    },
    /smtp\.rs: may connect to the operator's mail server and does not/,
  );
});

test('a wide line in a snapshot is refused', () => {
  refused({ 'tests/snapshots/matrix.txt': lines('x'.repeat(120)) });
  refused({ 'tests/snapshots/matrix.txt': lines('x'.repeat(121)) }, /matrix\.txt:1: 121 characters/);
});

test('what a reader trips over is refused', () => {
  refused(more('README.md', 'TO' + 'DO later'), /unfinished work/);
  refused({ 'web/packages/ui/src/a.test.ts': 'it.sk' + "ip('x');\n" }, /switched off/);
  refused(more('README.md', 'in /ro' + 'ot/stoa'), /a path of one machine/);
  refused({ 'crates/kernel/src/long.rs': '\n'.repeat(801) }, /801 lines/);
  refused({ 'scripts/new': '#!/bin/sh\n' }, /not executable/);
  refused({ 'crates/kernel/src/lib.rs': 'use rusq' + 'lite::Row;\n' }, /an engine is named outside the store/);
  refused({ 'decisions/0001-second.md': clean['decisions/0001-first.md'] }, /has the number of/);
  refused({ 'decisions/0002-second.md': '## Context\n' }, /lacks the heading Choice/);
});
