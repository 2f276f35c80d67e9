// Copies between carriers that are cut, changed or refused on the way: a cut copy resumes, a wrong
// one is discarded, and a file that cannot come through carriers comes in chunks.
import { CodedError } from '@ringwright/base/coded-error';
import { copySourceFaultsMax } from '@ringwright/base/limits-copies';
import { copyChecksum, copyOpen, copyStart } from '@ringwright/wire/copies';
import { describe, expect, test } from 'vitest';
import { type CopyProxy, copyProxy, type Pass } from '../../../../test/support/copy-proxy.ts';
import type { StoreCluster, StoreDevice } from '../../../../test/support/store-cluster.ts';
import { joiningDevice, load } from '../../test/support/joining-device.ts';

const MIB = 1024 * 1024;
/** 5 MB: more than one read, and a WAL below the 8 MiB beyond which a checkpoint cannot be held. */
const manyRows = 5_000;

interface Place extends AsyncDisposable {
  readonly cluster: StoreCluster;
  readonly source: StoreDevice;
  readonly joiner: StoreDevice;
  readonly proxy: CopyProxy;
  /** Number of answers of the source, by method. */
  readonly calls: Map<string, number>;
}

/** Device 3 joins for device 2, whose carrier is behind a proxy. */
async function joining(rows?: number): Promise<Place> {
  const place = await joiningDevice(rows);
  const { source } = place;
  const calls = new Map<string, number>();
  let port = 0;
  const proxy = await copyProxy(() => port);
  source.hasProcess = true;
  source.onAnswer = (method, answer) => {
    calls.set(method, (calls.get(method) ?? 0) + 1);
    if (typeof answer !== 'object' || answer === null || !('port' in answer)) return answer;
    port = Number(answer.port);
    return { ...answer, port: proxy.port };
  };
  return {
    ...place,
    ...{ proxy, calls },
    async [Symbol.asyncDispose]() {
      await place[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

const flipAt =
  (where: number): Pass =>
  (bytes, at) => {
    if (where < at || where >= at + bytes.length) return bytes;
    const bent = Buffer.from(bytes);
    bent[where - at] = (bent[where - at] ?? 0) ^ 1;
    return bent;
  };

const cutAt =
  (where: number): Pass =>
  (bytes, at) =>
    at + bytes.length > where ? 'cut' : bytes;

/** Drops the later bytes, so that the connection ends as if all had arrived. */
const lostFrom =
  (where: number): Pass =>
  (bytes, at) =>
    at < where ? bytes : Buffer.alloc(0);

test('the file comes from the carrier, and no byte passes through the servers', async () => {
  await using place = await joining();
  const { source, joiner, calls, proxy } = place;
  await joiner.put(0, { own: 'kept' }, 9);
  expect(await load(joiner)).toBe('loaded');
  expect(joiner.info(0)?.rows).toBe(1_601);
  expect([joiner.value(0, 'own'), joiner.value(0, 'key-9')]).toEqual(['kept', 'x'.repeat(1_000)]);
  expect(calls.get(copyStart.method)).toBe(1);
  expect(calls.get(copyOpen.method)).toBeUndefined();
  expect(proxy.connections).toBe(1);
  expect(source.info(0)?.state).toBe('ready');
});

test.each([
  ['in the middle', cutAt(2 * MIB)],
  ['after the source had sent all of it', lostFrom(2 * MIB)],
])('a copy that is cut %s resumes where it was cut', async (...[, pass]) => {
  await using place = await joining(manyRows);
  const { source, joiner, calls, proxy } = place;
  proxy.pass = pass;
  expect(await load(joiner)).toBe('COPY_CUT');
  proxy.pass = (bytes) => bytes;
  await source.put(0, { late: 'written between' }, 9);
  expect(await load(joiner)).toBe('loaded');
  expect(calls.get(copyStart.method), 'number of copies started').toBe(1);
  expect(joiner.info(0)).toMatchObject({ rows: manyRows + 1, digest: source.info(0)?.digest });
});

test('a copy that the source has closed starts again', async () => {
  await using place = await joining(manyRows);
  const { source, joiner, calls, proxy } = place;
  proxy.pass = cutAt(2 * MIB);
  expect(await load(joiner)).toBe('COPY_CUT');
  proxy.pass = (bytes) => bytes;
  await source.copies.close();
  expect(await load(joiner)).toBe('loaded');
  expect(calls.get(copyStart.method)).toBe(2);
  expect(joiner.info(0)?.digest).toBe(source.info(0)?.digest);
});

describe('a copy that was changed on the way', () => {
  const bends: readonly (readonly [what: string, pass: Pass])[] = [
    ['its length', flipAt(11)],
    ['the first byte', flipAt(12)],
    ['a byte of the header', flipAt(12 + 27)],
    ['a byte in the middle', flipAt(MIB)],
    ['the last byte that came', (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.of(0xee)])],
    ['a byte too many', (bytes, at) => (at === 0 ? Buffer.concat([bytes, bytes]) : bytes)],
  ];
  test.each(bends)('is discarded, retried, and taken from others: %s', async (...[, pass]) => {
    await using place = await joining();
    const { source, joiner, proxy } = place;
    await joiner.put(0, { own: 'kept' }, 9);
    const before = joiner.info(0);
    proxy.pass = pass;
    expect(await load(joiner)).toBe('COPY_INVALID');
    expect(joiner.info(0)).toEqual(before);
    expect(await load(joiner, copySourceFaultsMax - 1)).toBe('loaded');
    expect(joiner.info(0)?.rows).toBe(1_601);
    expect(source.info(0)?.rows).toBe(1_600);
  });

  test.each([
    ['another checksum', copyChecksum.method, { checksum: '0'.repeat(64) }],
    ['another incarnation', copyStart.method, { sourceIncarnation: 'another-life' }],
    ['another digest', copyStart.method, { digest: '0'.repeat(16) }],
    ['fewer rows', copyStart.method, { rows: 7 }],
  ])('is discarded and retried if it has %s', async (...[, method, changed]) => {
    await using place = await joining();
    const { source, joiner } = place;
    const { onAnswer } = source;
    const before = joiner.info(0);
    source.onAnswer = (called, answer) => {
      const passed = onAnswer(called, answer);
      return called === method ? Object.assign({}, passed, changed) : passed;
    };
    expect(await load(joiner)).toBe('COPY_INVALID');
    expect(joiner.info(0)).toEqual(before);
    source.onAnswer = onAnswer;
    expect(await load(joiner, 1)).toBe('loaded');
    expect(joiner.info(0)?.digest).toBe(source.info(0)?.digest);
  });
});

describe('a copy comes in chunks', () => {
  test('if the port of the carrier is unreachable', async () => {
    await using place = await joining();
    const { joiner, proxy, calls } = place;
    await proxy[Symbol.asyncDispose]();
    const reasons: string[] = [];
    expect(await load(joiner, 0, reasons)).toBe('loaded');
    expect(reasons).toEqual([expect.stringContaining('cannot be reached: a slower way is used')]);
    expect(calls.get(copyOpen.method)).toBe(1);
  });

  test('if the connection breaks before the first byte', async () => {
    await using place = await joining();
    const { joiner, proxy, calls } = place;
    proxy.pass = () => 'cut';
    expect(await load(joiner)).toBe('loaded');
    expect(calls.get(copyOpen.method)).toBe(1);
  });

  test('if the file is written to while it is read', async () => {
    await using place = await joining();
    const { joiner, source, calls } = place;
    source.onCall = (method) => {
      if (method === copyChecksum.method) throw new CodedError('COPY_BUSY', 'written to');
    };
    expect(await load(joiner)).toBe('loaded');
    expect(calls.get(copyOpen.method)).toBe(1);
    expect(joiner.info(0)?.digest).toBe(source.info(0)?.digest);
  });
});
