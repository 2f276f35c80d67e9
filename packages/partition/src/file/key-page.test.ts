// Pages of long values: nothing is read of the values that a page does not have.
import { valueBytesMax } from '@ringwright/base/limits';
import { expect, test } from 'vitest';
import { breakChains } from '../../test/support/broken-chains.ts';
import { scratch, write } from '../../test/support/scratch-store.ts';

test.each([false, true])('a page reads no value behind its last (reverse: %s)', async (reverse) => {
  await using folder = scratch();
  folder.damaged();
  const filled = await folder.openReady();
  for (const key of ['a', 'b', 'c']) {
    await filled.write([{ ...write(key, '', 9), value: Buffer.alloc(valueBytesMax, key) }]);
  }
  await filled.close();
  const [first, ...others] = reverse ? ['c', 'b', 'a'] : ['a', 'b', 'c'];
  for (const key of others) expect(breakChains(folder.directory, key)).toBeGreaterThan(200);
  const store = await folder.open();
  const bounds = { from: Buffer.alloc(0), to: null, reverse, limit: 1_000, nowMs: 0 };
  const place = { keyspace: 'test', partition: 0 };
  const page = store.pages.read(place, { ...bounds, bytesMax: valueBytesMax });
  expect(page.rows.map(({ key }) => key.toString())).toEqual([first]);
  expect(page.next).not.toBeNull();
});
