// Tests fewer replicas: removed slots are not counted as moves, and the step to a single replica
// needs an override.
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

const devices = [1, 2, 3, 4, 5].map((n) => `r1z${n}-10.0.0.${n}:6200/sdb 100`).join(' ');

interface Planned {
  readonly moved: number;
  readonly ends: object;
  readonly brake: { readonly large: string } | null;
}

test('three to two replicas needs no override; two to one replica needs one', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partition-power 5 --replicas 3');
  await tool.json(`add cities ${devices}`);
  await tool.json('commit cities -m first');
  await notePush(tool.folder);

  const staged = (await tool.answer('set cities --replicas 1')).lines;
  expect(staged.join('\n')).toContain('will refuse this: 3 to 1 replicas changes 64 slots');
  await tool.json('set cities --replicas 2');
  const two = await tool.json<Planned>('plan cities --offline');
  expect(two).toMatchObject({ brake: null, ends: { slots: 32, single: 0, fragile: 32 } });
  expect(await tool.json('commit cities -m two')).toMatchObject({ version: 2, ended: 32 });
  const diff = await tool.json<{ moved: number }>('diff cities 1 2');
  expect(diff).toMatchObject({ moved: 0, slotsRemoved: 32, pairs: [] });
  if (two.moved > 0) await tool.json('moves cities cancel all');

  await tool.json('set cities --replicas 1');
  const one = await tool.json<Planned>('plan cities --offline');
  expect(one.ends).toEqual({ before: 2, after: 1, slots: 32, single: 32, fragile: 32 });
  expect(one.brake?.large).toContain('replicas change from 2 to 1: 32 partitions');
  expect(await tool.refusal('commit cities -m one')).toEqual({ exit: 5, code: 'BRAKE' });
  const done = await tool.json('commit cities -m one --override meant');
  expect(done).toMatchObject({ changed: true });
  expect(await tool.json('verify cities')).toMatchObject({ ok: true });
});
