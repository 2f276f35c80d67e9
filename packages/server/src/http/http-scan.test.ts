// Scans of a single partition, of a ring whose partitions were split.
import { writeCursor } from '@ringwright/wire/scan-cursor';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import type { CoordinatorPorts } from '../coordinate/with-newest-ring.ts';
import type { Exchange } from './http-answer.ts';
import { answerScan } from './http-scan.ts';

const partitioner = { kind: 'ranges', partitions: 3, starts: ['m'], ids: [1, 2] } as const;
const active = activeOn(servedRing({ replicas: 1, devices: 1, partitioner }), 0);

/** The coordinator reads nothing: only requests that are refused before may pass. */
function refusalOf(query: string): Promise<unknown> {
  const coordinator = { rings: { get: () => active } } as unknown as CoordinatorPorts;
  const exchange = { request: { method: 'GET', headers: {} }, response: {} } as unknown as Exchange;
  const target = { keyspace: 'cities', segment: '_keys', query };
  return answerScan(coordinator, target, exchange).then(
    () => null,
    (error: unknown) => error,
  );
}

test('a scan of a range refuses the cursor of another, and takes its own', async () => {
  const use = { keyspace: 'cities', reverse: false, ordered: true };
  const cursorAt = (key: string) => writeCursor({ partition: 0, at: Buffer.from(key) }, use);
  const refusal = { code: 'CURSOR_INVALID' };
  expect(await refusalOf(`partition=1&cursor=${cursorAt('n')}`)).toMatchObject(refusal);
  expect(await refusalOf(`partition=2&cursor=${cursorAt('l')}`)).toMatchObject(refusal);
  for (const [partition, key] of [
    [1, 'l'],
    [2, 'n'],
  ] as const) {
    const found = await refusalOf(`partition=${partition}&cursor=${cursorAt(key)}`);
    expect(found).not.toMatchObject(refusal);
  }
});

test('a former partition is refused, not answered with the keys of others', async () => {
  const message = 'there is no partition 0 at present: partitions were split or merged';
  expect(await refusalOf('partition=0')).toMatchObject({ code: 'USAGE', message });
  expect(await refusalOf('partition=3')).toMatchObject({ code: 'USAGE' });
});
