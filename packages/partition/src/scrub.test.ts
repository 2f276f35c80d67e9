import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch, write } from '../test/support/scratch-store.ts';

test('a scrub finds what no read has met, and marks the file as damaged', async () => {
  await using place = scratch();
  const first = await place.open();
  for (const partition of [0, 1]) await first.create('test', partition, 'ready');
  await first.write([write('key', 'a value', 1, 0), write('key', 'fine', 1, 1)]);
  expect(await first.scrub('test', 0)).toMatchObject({ findings: [] });
  await first.close();
  place.damaged();
  const home = join(place.directory, 'partitions/test/0');
  const [incarnation = ''] = readdirSync(home).filter((name) => name !== 'CURRENT');
  const file = join(home, incarnation, 'data.db');
  const bytes = readFileSync(file);
  bytes[bytes.indexOf('a value')] = 0x41;
  writeFileSync(file, bytes);
  const store = await place.open();
  expect(store.damaged()).toEqual([]);
  const { findings } = await store.scrub('test', 0);
  expect(findings.map(({ code }) => code)).toEqual(['RECORD_DAMAGED']);
  expect(store.damaged()).toMatchObject([{ partition: 0, error: { code: 'PARTITION_DAMAGED' } }]);
  expect((await store.scrub('test', 1)).findings).toEqual([]);
  expect(readdirSync(join(place.directory, 'staging'))).toEqual([]);
});
