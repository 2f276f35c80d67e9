// Staged splits and merges that lead back to the partitions of the last version.
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

test.each([
  [
    'the power, there and back',
    8,
    ['set cities --partition-power 4', 'set cities --partition-power 3'],
  ],
  [
    'one partition, beside a split that stays',
    1,
    ['split cities 3', 'split cities 5', 'merge cities 8 9'],
  ],
  ['two partitions, merged and split again', 2, ['merge cities 4 5', 'split cities 8']],
])('%s: a plan refuses to renew partitions for nothing', async (_name, renewed, staged) => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partition-power 3 --replicas 2');
  await tool.json('add cities r1z1-127.0.0.1:1/a 1 r1z2-127.0.0.1:1/b 1');
  await tool.json('commit cities -m first');
  for (const typed of staged) await tool.json(typed);
  await expect(tool.json('plan cities')).rejects.toMatchObject({
    code: 'RESHAPE_UNFIT',
    hint: expect.stringContaining('ring-builder unstage cities'),
    details: { partitions: renewed },
  });
  await tool.json('unstage cities');
  expect(await tool.json('split cities 3')).toMatchObject({ changed: true });
  await tool.json('commit cities -m split');
  expect(await tool.json('verify cities')).toMatchObject({ findings: [] });
});
