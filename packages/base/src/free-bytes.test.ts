import { expect, test } from 'vitest';
import { freeBytes, freeOwnBytes } from './free-bytes.ts';

test('long bytes with a buffer of their own are freed, together with their head', () => {
  const whole = Buffer.allocUnsafeSlow(200_000);
  const body = whole.subarray(40);
  freeBytes(body);
  expect([whole.length, body.length]).toEqual([0, 0]);
});

test('bytes in a shared buffer stay, and so do short ones that a socket may have read', () => {
  const shared = Buffer.alloc(200_000, 7);
  freeBytes(shared.subarray(0, 199_900));
  expect(shared).toEqual(Buffer.alloc(200_000, 7));
  const short = Buffer.allocUnsafeSlow(65_536);
  freeBytes(short.subarray(40));
  expect(short).toHaveLength(65_536);
  freeOwnBytes(short.subarray(40));
  expect(short).toHaveLength(0);
});
