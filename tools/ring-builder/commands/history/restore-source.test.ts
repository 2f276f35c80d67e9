// What `restore --from` means: a server, or a file.
import { expect, test } from 'vitest';
import { serverOf } from './restore-source.ts';

test.each([
  ['10.0.0.1:6201', '10.0.0.1:6201'],
  ['[::1]:6201', '[::1]:6201'],
  ['localhost:6201', 'localhost:6201'],
  ['ws://10.0.0.1:6201', '10.0.0.1:6201'],
  ['http://10.0.0.1:6201/', '10.0.0.1:6201'],
  ['ws://10.0.0.1', '10.0.0.1:6200'],
  ['backup/0000007.ring', null],
  ['0000007.ring', null],
  ['./odd:1', null],
])('%s', (from, address) => expect(serverOf(from)).toBe(address));
