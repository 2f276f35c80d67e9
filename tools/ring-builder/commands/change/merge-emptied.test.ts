// Tests merges of neighbors that lie apart and cannot all be moved together now: a device with some
// of their slots is emptied, or there are too many.
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

/** Partitions 0 and 1 are on other devices each; the last `emptied` of them still have slots. */
async function ringWith(shape: { replicas: number; pins: readonly string[]; emptied: string }) {
  const tool = await ringBuilderHere({ yes: true });
  const { replicas, pins, emptied } = shape;
  await tool.json(
    `create cities --partitioner hash-intervals --partitions 4 --replicas ${replicas}`,
  );
  for (const n of [1, 2, 3]) await tool.json(`add cities r1z${n}-127.0.0.1:1/d${n} 1`);
  for (const [partition, devices] of pins.entries()) {
    await tool.json(`pin cities ${partition} --on ${devices}`);
  }
  await tool.json('commit cities -m first');
  await tool.json('unpin cities all');
  await tool.json(emptied);
  // The split comes first, and the rest of the commit waits for the next plan.
  await tool.json('split cities 3');
  await tool.json('commit cities -m split --override test');
  return tool;
}

test.each(['remove cities d0', 'set-weight cities d0 0'])(
  'after %s, neighbors are merged on the other devices',
  async (emptied) => {
    const tool = await ringWith({ replicas: 2, pins: ['d0 d1', 'd0 d2'], emptied });
    const { staged } = await tool.json<{ staged: { pin: { on: number[] } }[] }>('merge cities 0 1');
    expect(staged.map(({ pin: { on } }) => on.toSorted((a, b) => a - b))).toEqual([
      [1, 2],
      [1, 2],
    ]);
    await tool.json('commit cities -m together --override test');
    expect(await tool.json('merge cities 0 1')).toMatchObject({ staged: [{ kind: 'merge' }] });
    await tool.json('commit cities -m merged --override test');
    expect(await tool.json('verify cities')).toMatchObject({ findings: [] });
  },
);

test('a merge waits where all devices of the neighbors are emptied', async () => {
  const shape = { replicas: 1, pins: ['d0', 'd1'], emptied: 'remove cities d0 d1' };
  const tool = await ringWith(shape);
  await expect(tool.answer('merge cities 0 1')).rejects.toMatchObject({
    code: 'MERGE_APART',
    message: expect.stringMatching(/, and these are being emptied$/),
    hint: expect.stringMatching(/^ring-builder plan cities /),
  });
  await tool.json('commit cities -m emptied --override test');
  expect(await tool.json('merge cities 0 1')).toMatchObject({ staged: [{ kind: 'merge' }] });
});

test('a merge of more partitions than can be pinned names a merge of two', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partition-power 13 --replicas 1');
  for (const n of [1, 2]) await tool.json(`add cities r1z${n}-127.0.0.1:1/d${n} 1`);
  await tool.json('commit cities -m first');
  await expect(tool.answer('set cities --partition-power 12')).rejects.toMatchObject({
    code: 'MERGE_APART',
    message: expect.stringMatching(/^8192 partitions .* at most 4096 /),
    hint: expect.stringMatching(/^ring-builder merge cities 1 0 merges only these two; /),
  });
  expect(await tool.json('status cities')).toMatchObject({ staged: [] });
  const { staged } = await tool.json<{ staged: unknown[] }>('merge cities 1 0');
  expect(staged).not.toEqual([]);
});

test('a merge that needs moves is staged beside one that needs none', async () => {
  const tool = await ringBuilderHere({ yes: true });
  await tool.json('create cities --partitioner hash-intervals --partitions 4 --replicas 1');
  for (const n of [1, 2]) await tool.json(`add cities r1z${n}-127.0.0.1:1/d${n} 1`);
  for (const [partition, device] of [0, 0, 0, 1].entries()) {
    await tool.json(`pin cities ${partition} --on d${device}`);
  }
  await tool.json('commit cities -m first');
  await tool.json('unpin cities all');
  await tool.json('merge cities 0 1');
  expect(await tool.json('merge cities 2 3')).toMatchObject({
    staged: [{ pin: { partition: 3 } }, { pin: { partition: 2 } }],
  });
  for (const message of ['merged', 'together']) {
    await tool.json(`commit cities -m ${message} --override test`);
  }
  expect(await tool.json('merge cities 2 3')).toMatchObject({ staged: [{ kind: 'merge' }] });
});
