import { expect, test } from 'vitest';

import { ownPath, sitePath } from './site.ts';

const origin = 'https://www.example.org';

test.each([
  ['/s/7e57/places', '/s/7e57'],
  ['/s/7e57/', '/s/7e57'],
  ['/s/7e57', ''],
  ['/places', ''],
  ['/', ''],
])('the site of %s', (path, site) => {
  expect(sitePath({ pathname: path })).toBe(site);
});

test.each([
  ['/places?q=x', '/places?q=x'],
  ['//other.example/x', '/'],
  ['/.//other.example/x', '/'],
  ['https://www.example.org//other.example/x', '/'],
  ['https://other.example/x', '/'],
  ['/s/other/places', '/'],
  ['http://[', '/'],
  [null, '/'],
])('the way back to %s on a host of its own', (path, own) => {
  expect(ownPath(path, { origin, pathname: '/signed-in' })).toBe(own);
});

test.each([
  ['/s/7e57/places?q=x', '/s/7e57/places?q=x'],
  ['/places', '/s/7e57/'],
  ['/s/other/places', '/s/7e57/'],
  [null, '/s/7e57/'],
])('the way back to %s beneath a site', (path, own) => {
  expect(ownPath(path, { origin, pathname: '/s/7e57/signed-in' })).toBe(own);
});
