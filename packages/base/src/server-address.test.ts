import { expect, test } from 'vitest';
import {
  comparableAddress,
  formatAddress,
  isLoopback,
  isWholeAddress,
  parseAddress,
  serverAddress,
  splitAddress,
} from './server-address.ts';

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
  ['fe80::1%eth0', '[fe80::1%eth0]:6200'],
  ['[fe80::1%eth0.7]:6201', '[fe80::1%eth0.7]:6201'],
  ['bücher.example:1', 'bücher.example:1'],
  ['sd1.', 'sd1.:6200'],
])('%s is read as %s', (written, whole) => {
  expect(serverAddress(written)).toBe(whole);
  expect(serverAddress(whole), 'a complete address is unchanged').toBe(whole);
  expect(isWholeAddress(whole)).toBe(true);
  expect(isWholeAddress(written)).toBe(written === whole);
  const address = parseAddress(whole);
  expect(address?.ip).not.toContain('[');
  expect(address && formatAddress(address)).toBe(whole);
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
  '6201',
  '10.0.0.256:6200',
  '10.0.0:6200',
  '[10.0.0.1]:6200',
  '[fe80::1%]:6200',
  'a%eth0:6200',
  'a\u001b[31m:6200',
  'a/b:6200',
  'a?b:6200',
  'a#b:6200',
])('%j is refused', (written) => {
  expect(() => serverAddress(written)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  expect(isWholeAddress(written)).toBe(false);
});

test.each([
  ['LOCALHOST:6200', 'localhost'],
  ['Host.Example:6201', 'host.example.:6201'],
  ['[0:0:0:0:0:0:0:1]:6201', '[::1]:6201'],
  ['[FD00::00A]', 'fd00::a'],
  ['[::ffff:127.0.0.1]:1', '[::FFFF:7f00:1]:1'],
  ['[::ffff:10.0.200.1]:1', '10.0.200.1:1'],
  ['[0:0:0:0:0:FFFF:a00:c801]:1', '10.0.200.1:1'],
  ['[fe80::1%eth0]:1', '[FE80::1%eth0]:1'],
  ['bücher.example:1', 'xn--bcher-kva.example:1'],
  ['db_1:1', 'DB_1:1'],
])('%s and %s are one address', (one, other) => {
  const [first, second] = [one, other].map((typed) => splitAddress(typed));
  expect(comparableAddress(first!)).toBe(comparableAddress(second!));
});

test.each([
  ['localhost:1', 'localhost:2'],
  ['sd1:1', 'sd2:1'],
  ['[::1]:1', '[::2]:1'],
  ['[fe80::1%eth0]:1', '[fe80::1%eth1]:1'],
  ['127.0.0.1:1', '127.0.0.2:1'],
  ['[::fffe:10.0.0.1]:1', '10.0.0.1:1'],
  ['[::10.0.0.1]:1', '10.0.0.1:1'],
])('%s and %s are two addresses', (one, other) => {
  const [first, second] = [one, other].map((typed) => splitAddress(typed));
  expect(comparableAddress(first!)).not.toBe(comparableAddress(second!));
});

test.each(['LocalHost', 'localhost.', '0:0:0:0:0:0:0:1', '::FFFF:7f00:1', '127.9.9.9'])(
  '%s is only reached from this machine',
  (host) => expect(isLoopback(host)).toBe(true),
);

test.each(['localhost.example', '::', '0.0.0.0', '::ffff:10.0.0.1', '128.0.0.1'])(
  '%s may be reached from others',
  (host) => expect(isLoopback(host)).toBe(false),
);
