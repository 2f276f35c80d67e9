// A copy whose carrier stops reporting, before or after the last byte.
import { copyIdleMsMax } from '@ringwright/base/limits-copies';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CarrierListener, CopyProcess } from '../carrier/copy-process.ts';
import { CarrierCopy } from './carrier-copy.ts';
import type { StagedCopy } from './staged-copy.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const endpoint = { host: '127.0.0.1', port: 7, ticket: '', cipherKey: null };

function begun() {
  let kills = 0;
  const listeners: CarrierListener[] = [];
  const carrier = {
    begin: (listener: CarrierListener) => {
      listeners.push(listener);
      return () => undefined;
    },
    kill: () => {
      kills += 1;
    },
  } as unknown as CopyProcess;
  const staged = {
    ...{ description: { bytes: 10 }, file: 'data.db', checkOpen: () => undefined },
    adopt: async (untilDurable: () => Promise<void>) => untilDurable(),
    remove: () => Promise.resolve(),
  } as unknown as StagedCopy;
  const copy = new CarrierCopy(staged, carrier, '');
  return { copy, carrier: listeners[0]!, kills: () => kills };
}

test('a carrier that reports no bytes is killed', async () => {
  const { copy, carrier, kills } = begun();
  void copy.fetch(endpoint, () => undefined);
  vi.advanceTimersByTime(copyIdleMsMax - 1);
  carrier.onReport({ kind: 'received', id: 1, bytes: 5 });
  vi.advanceTimersByTime(copyIdleMsMax - 1);
  expect(kills()).toBe(0);
  vi.advanceTimersByTime(1);
  expect(kills()).toBe(1);
});

test('a carrier that has all bytes and does not sync them is killed', async () => {
  const { copy, carrier, kills } = begun();
  const fetched = copy.fetch(endpoint, () => undefined);
  carrier.onReport({ kind: 'taken', id: 1, checksum: 'sum' });
  void copy.finish(await fetched, 'sum');
  vi.advanceTimersByTime(copyIdleMsMax);
  expect(kills()).toBe(1);
});

test.each(['synced', 'given up'] as const)('after its end, %s, none is killed', async (end) => {
  const { copy, carrier, kills } = begun();
  const fetched = copy.fetch(endpoint, () => undefined);
  carrier.onReport({ kind: 'taken', id: 1, checksum: 'sum' });
  if (end === 'synced') carrier.onReport({ kind: 'synced', id: 1 });
  else await copy.discard();
  expect(await fetched).toBe('sum');
  vi.advanceTimersByTime(2 * copyIdleMsMax);
  expect(kills()).toBe(0);
});

test.each([
  ['DISK_FAILED', 'DISK_FAILED'],
  ['DISK_FULL', 'DISK_FULL'],
  [null, 'COPY_INVALID'],
] as const)('a copy that its carrier ends with %s ends with %s', async (code, expected) => {
  const { copy, carrier } = begun();
  const fetched = copy.fetch(endpoint, () => undefined);
  carrier.onReport({ kind: 'failed', id: 1, code, message: 'why' });
  await expect(fetched).rejects.toMatchObject({ code: expected, message: 'why' });
});
