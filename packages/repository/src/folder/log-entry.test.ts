// Tests that a line of a log is parsed or refused, whatever it contains.
import { expect, test } from 'vitest';
import { type LogEntry, logLine, parseLogLine } from './log-entry.ts';

const id = '0'.repeat(64);
const ids = { previous: null, id, parent: null };
const text = { time: '2026-11-21T02:00:00.000Z', user: 'ada', message: 'first' };
const plain = { kind: 'commit', version: 1, moves: 0, figures: {} } as const;

test('details may be any JSON, but not nested so deeply that reading them would fail', () => {
  const details = { servers: [{ code: 'x' }] };
  const entry: LogEntry = { ...ids, ...text, ...plain, commands: [], details };
  const line = logLine(entry);
  expect(parseLogLine(line)).toEqual(entry);
  expect(parseLogLine(`${line}\r`)).toMatch(/^has the line ends of Windows: git config /);
  const deep = '['.repeat(50_000) + ']'.repeat(50_000);
  expect(parseLogLine(line.replace('"x"', deep))).toBe('is not JSON');
  expect(parseLogLine(line.slice(1))).toBe('is not JSON');
});
