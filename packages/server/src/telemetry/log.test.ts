// The log that an operator reads: times and levels as text, and repeated lines counted.
import { CodedError } from '@ringwright/base/coded-error';
import { repeatedLinesMax } from '@ringwright/base/limits';
import { expect, test } from 'vitest';
import { logFailedDuty } from '../assemble-moves.ts';
import { logOf } from './log.ts';
import { RepeatedLines } from './repeated-lines.ts';

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [name: string]: unknown;
}

function logForTest(level = 'info') {
  const printed: Line[] = [];
  const clock = { ms: 0 };
  const lines = new RepeatedLines(() => clock.ms);
  const write = (text: string): void => void printed.push(JSON.parse(text) as Line);
  const log = logOf(level, lines, { write });
  const pass = (ms: number): void => {
    clock.ms += ms;
    lines.tell();
  };
  return { log, printed, lines, pass };
}

test('times are ISO, levels are words, and errors have their code', () => {
  const { log, printed } = logForTest();
  log.info('no fields');
  log.debug('not asked for');
  const error = new CodedError('DISK_FULL', 'full', { hint: 'free some', cause: new Error('why') });
  log.warn({ ring: 'cities', error }, 'failed');
  expect(printed.map(({ level, msg }) => [level, msg])).toEqual([
    ['info', 'no fields'],
    ['warn', 'failed'],
  ]);
  for (const { time } of printed) expect(new Date(time).toISOString()).toBe(time);
  const cause = {
    code: 'DISK_FULL',
    message: 'full',
    hint: 'free some',
    details: {},
    cause: 'why',
  };
  expect(printed[1]).toMatchObject({ ring: 'cities', error: cause });
});

test('2,777 equal lines become the first one and a few counts, and none is lost', () => {
  const { log, printed, lines, pass } = logForTest();
  for (let turn = 0; turn < 2_777; turn += 1) {
    const error = new CodedError('DISK_FULL', `${1_000_000 + turn} bytes are free`);
    log.warn({ kind: 'accept', keyspace: 'cities', error }, 'duty failed');
    pass(100);
  }
  lines.tellAll();
  expect(printed.length).toBeLessThan(8);
  const counts = printed.map(({ repeated }) => Number(repeated ?? 1));
  expect(counts[0]).toBe(1);
  expect(counts.reduce((sum, count) => sum + count)).toBe(2_777);
  expect(printed.at(-1)).toMatchObject({ error: { message: '1002776 bytes are free' } });
});

test('lines that differ in their relevant fields are all written', () => {
  const { log, printed } = logForTest();
  for (const partition of [1, 2]) log.error({ keyspace: 'a', partition }, 'damaged');
  log.error({ keyspace: 'b', partition: 1 }, 'damaged');
  log.warn({ keyspace: 'b', partition: 1 }, 'damaged');
  for (const port of [6201, 6202]) {
    log.warn({ error: new CodedError('PEER_UNREACHABLE', `10.0.0.1:${port} is away`) }, 'away');
  }
  log.warn({ error: new CodedError('PEER_BUSY', '10.0.0.1:6202 is away') }, 'away');
  expect(printed).toHaveLength(7);
});

test('successes are counted for all partitions, and the last one is shown', () => {
  const { log, printed, pass } = logForTest();
  for (let partition = 0; partition < 500; partition += 1) {
    log.info({ keyspace: 'cities', partition, rows: partition * 7 }, 'partition refilled');
  }
  pass(60_000);
  expect(printed).toHaveLength(2);
  expect(printed[1]).toMatchObject({ keyspace: 'cities', partition: 499, repeated: 499 });
});

test('any number of unknown peers is one repeated line, which shows the last one', () => {
  const { log, printed, pass } = logForTest();
  for (let host = 0; host < 500; host += 1) log.info({ stranger: `h${host}:1` }, 'not heard');
  pass(60_000);
  expect(printed).toHaveLength(2);
  expect(printed[1]).toMatchObject({ stranger: 'h499:1', repeated: 499 });
});

test('a line that comes back after a pause is written again', () => {
  const { log, printed, pass } = logForTest();
  log.warn('away');
  pass(60_000);
  log.warn('away');
  expect(printed.map(({ repeated }) => repeated)).toEqual([undefined, undefined]);
});

test('the oldest of too many different lines is written with its count and forgotten', () => {
  const { log, printed, lines } = logForTest();
  for (let time = 0; time < 3; time += 1) log.warn({ from: 'the oldest' }, 'line');
  for (let peer = 0; peer < repeatedLinesMax; peer += 1) log.warn({ from: `peer${peer}` }, 'line');
  const oldest = printed.filter(({ from }) => from === 'the oldest');
  expect(oldest.map(({ repeated }) => repeated)).toEqual([undefined, 2]);
  lines.tellAll();
  expect(printed).toHaveLength(repeatedLinesMax + 2);
});

test('text from others cannot control the terminal that shows the log', () => {
  let written = '';
  const lines = new RepeatedLines(() => 0);
  const log = logOf('info', lines, { write: (text) => void (written += text) });
  const evil = '\u001b[2J\u007f\u009b31m\u202e\u2028';
  log.warn({ cluster: evil }, `refused: ${evil}`);
  expect(written).not.toMatch(/[^\n\P{Cc}]|[\u202e\u2028]/u);
  expect(written.split('\n')).toHaveLength(2);
  expect(JSON.parse(written)).toMatchObject({ cluster: evil, msg: `refused: ${evil}` });
});

test('a failed duty is a warning, unless it waits for the next ring', () => {
  const { log, printed } = logForTest();
  const step = { kind: 'drop', keyspace: 'cities' };
  logFailedDuty(log, step, new CodedError('RING_STALE', 'partition 3 needs ring version 8'));
  logFailedDuty(log, step, new CodedError('DISK_FULL', 'full'));
  logFailedDuty(log, step, new Error('a bug'));
  expect(
    printed.map(({ level, error }) => [level, (error as { message: string }).message]),
  ).toEqual([
    ['warn', 'full'],
    ['warn', 'a bug'],
  ]);
});
