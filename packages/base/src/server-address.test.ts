import { expect, test } from 'vitest';
import { serverAddress } from './server-address.ts';

test.each([
  ['localhost', 'localhost:6200'],
  ['db-1.example.org', 'db-1.example.org:6200'],
  ['10.0.0.1', '10.0.0.1:6200'],
  ['10.0.0.1:6201', '10.0.0.1:6201'],
  ['10.0.0.1:06201', '10.0.0.1:6201'],
  ['::1', '[::1]:6200'],
  ['::', '[::]:6200'],
  ['fe80::1', '[fe80::1]:6200'],
  ['::ffff:10.0.0.1', '[::ffff:10.0.0.1]:6200'],
  ['[::1]', '[::1]:6200'],
  ['[::1]:6201', '[::1]:6201'],
])('%s is %s', (written, whole) => {
  expect(serverAddress(written)).toBe(whole);
  expect(serverAddress(whole), 'a whole one stays').toBe(whole);
});

test.each([
  '',
  ':6200',
  'localhost:',
  'localhost:0',
  'localhost:65536',
  'localhost:port',
  'a b',
  'ws://10.0.0.1:6200',
  'user@host',
  '[::1',
  '[::1]6200',
  'host:1:2',
])('%j is refused', (written) => {
  expect(() => serverAddress(written)).toThrow(expect.objectContaining({ code: 'USAGE' }));
});
