// Times of Redis commands are read as by Redis 7: see redis-beside-redis.test.ts.
import { expect, test } from 'vitest';
import { milliseconds, positiveTimeOf, seconds, timeOf } from './redis-times.ts';

const context = { command: 'expire', nowMs: 1_000_000 };
const wordOf = (text: string): Buffer => Buffer.from(text);

test.each(['05', '-0', '+7', '00', '-05', '', '1.5', ' 1', '1e3', '9223372036854775808'])(
  '%j is not an integer, because each integer has one spelling of up to 64 bits',
  (text) => {
    const message = 'ERR value is not an integer or out of range';
    expect(() => timeOf(wordOf(text), seconds, context)).toThrow(message);
    expect(() => positiveTimeOf(wordOf(text), milliseconds, context)).toThrow(message);
  },
);

test.each(['9223372036854775807', '-9223372036854775808', '9007199254740993', '99999999999'])(
  '%s is an integer, but not a time',
  (text) => {
    const message = "ERR invalid expire time in 'expire' command";
    expect(() => timeOf(wordOf(text), seconds, context)).toThrow(message);
    expect(() => positiveTimeOf(wordOf(text), seconds, context)).toThrow(message);
  },
);

test('a time may be negative where the command allows it', () => {
  expect(timeOf(wordOf('-5'), seconds, context)).toBe(995_000);
  expect(timeOf(wordOf('0'), milliseconds, context)).toBe(1_000_000);
});
