// Tests that messages about pins name partitions by their ids where earlier ids are retired.
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

/** A ring of partitions 2 to 5; 0 and 1 were split. */
async function splitRing() {
  const tool = await ringBuilderHere({ yes: true });
  await tool.json('create cities --partitioner hash-intervals --partitions 2 --replicas 2');
  for (const n of [1, 2, 3]) await tool.json(`add cities r1z${n}-127.0.0.1:1/d${n} 1`);
  await tool.json('commit cities -m first');
  await tool.json('split cities 0');
  await tool.json('split cities 1');
  await tool.json('commit cities -m split');
  return tool;
}

test('pins that no table can keep are refused with a command that removes them', async () => {
  const tool = await splitRing();
  await tool.json('pin cities 4 --off d0');
  await tool.json('commit cities -m pinned --override test');
  await tool.json('set cities --replicas 3');
  await expect(tool.answer('plan cities')).rejects.toMatchObject({
    code: 'PIN_INVALID',
    message: expect.stringMatching(/^partition 4 has 3 replicas/),
    hint: 'ring-builder unpin cities 4, or change the pin',
    details: { partition: 4 },
  });
  await tool.json('unpin cities 4');
  expect(await tool.json('plan cities')).toMatchObject({ changed: true });
});

test('warnings about pins name the partitions', async () => {
  const tool = await splitRing();
  await tool.json('pin cities 5 --on d0');
  await tool.json('set-weight cities d0 0');
  const { warnings } = await tool.json<{ warnings: object[] }>('plan cities');
  expect(warnings).toContainEqual(
    expect.objectContaining({
      code: 'PINS_UNMET',
      message: '1 pin has no effect yet; devices hold nothing: 5 on d0',
      details: { pins: [{ partition: 5, id: 0 }] },
    }),
  );
});
