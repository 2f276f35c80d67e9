// What a partition was asked for of late: steady requests are told as they are, old ones forgotten.
import { requestRateHalfLifeMs } from '@ringwright/base/limits-store';
import { expect, test } from 'vitest';
import { scratch, textOf, write } from '../../test/support/scratch-store.ts';

test('a steady rate is reached, and half of it is gone after a half-life', async () => {
  await using place = scratch();
  const store = await place.open();
  for (const partition of [0, 1]) await store.create('test', partition, 'ready');
  store.requests.count(requestRateHalfLifeMs / 4);
  expect(store.requests.rates('test'), 'not counted for long').toEqual([]);
  for (let round = 0; round < 60; round += 1) {
    await store.write([write('a', 'x', round + 1), write('b', 'y', round + 1)]);
    textOf(store, 'a');
    store.requests.count(requestRateHalfLifeMs / 4);
  }
  const [[, rate] = [0, 0], ...others] = store.requests.rates('test');
  expect([others, store.requests.rates('other')]).toEqual([[[1, 0]], []]);
  expect(rate).toBeCloseTo(3_000 / (requestRateHalfLifeMs / 4), 3);
  store.requests.count(requestRateHalfLifeMs);
  expect(store.requests.rates('test')[0]?.[1]).toBeCloseTo(rate / 2, 3);
});
