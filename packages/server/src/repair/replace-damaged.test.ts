// Files of a real store that are deleted while they are open.
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '@ringwright/partition/open-store';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { replaceDamaged } from './replace-damaged.ts';

const keyspace = 'cities';

test('a deleted file is rewritten, but not while its load or takeover runs', async () => {
  await using folder = await scratchFolder();
  await using store = await openStore({ directory: folder.path, newIncarnation: randomUUID });
  const place = { keyspace, key: Buffer.from('key'), value: Buffer.from('value'), tie: 0 };
  for (const partition of [0, 1]) {
    await store.create(keyspace, partition, 'ready');
    await store.write([{ ...place, partition, ms: 1 }]);
  }
  await store.setState(keyspace, 1, 'filling');
  for (const partition of ['0', '1']) {
    rmSync(join(folder.path, 'partitions', keyspace, partition), { recursive: true });
  }
  expect((await store.checkOpenFiles()).lost).toHaveLength(2);
  const [missed] = await store.write([{ ...place, partition: 1, ms: 2 }]);
  expect(missed?.kind).toBe('absent');
  const active = activeOn(servedRing({ devices: 3, replicas: 3, power: 1 }), 0);
  const sentences: string[] = [];
  const rule = {
    confirmed: 2,
    isBusy: () => false,
    onRepair: ({ sentence }: { sentence: string }) => sentences.push(sentence),
  };
  await replaceDamaged(store, active, { ...rule, isBusy: () => true });
  expect(store.damaged()).toHaveLength(2);
  await replaceDamaged(store, active, rule);
  expect(store.damaged()).toEqual([]);
  expect(sentences).toHaveLength(2);
  expect(store.read(keyspace, 1, place.key)?.ms, 'the rewritten file has its old record').toBe(1);
});
