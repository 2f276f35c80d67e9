// Tests that status, commit and log distinguish changes that are staged, committed and in flight.
import { expect, test } from 'vitest';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

test('status marks staged changes, and commit counts only its own moves', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create kv --partitions 64 --replicas 2 --min-part-hours 0');
  const [a, b, c, d] = [1, 2, 3, 4].map((n) => `r1z${n}-127.0.0.1:${n}/sdb`);
  await tool.json(`add kv ${a} 1 ${b} 1 ${c} 1`);
  expect(await tool.text('status kv')).toMatch(/^d0 .* +1 \(staged\) +joins \(staged\)$/m);
  await tool.json('commit kv -m first');
  await notePush(tool.folder, 'kv');
  expect(await tool.text('status kv')).not.toContain('(staged)');

  await tool.json('set-weight kv d0 2');
  await tool.json('remove kv d1');
  await tool.json(`add kv ${d} 1`);
  const shown = await tool.text('status kv');
  expect(shown).toMatch(/^d0 .* +1 -> 2 \(staged\) +active$/m);
  expect(shown).toMatch(/^d1 .* +1 +active -> removed \(staged\)$/m);
  expect(shown).toMatch(/^d2 .* +1 +active$/m);
  expect(shown).toMatch(/^d3 .* +1 \(staged\) +joins \(staged\)$/m);
  expect(await tool.json('status kv')).toMatchObject({
    devices: [
      { id: 0, weight: 2, committed: { weight: 1, state: 'active' } },
      { id: 1, state: 'removed', committed: { weight: 1, state: 'active' } },
      { id: 2, weight: 1, committed: { weight: 1, state: 'active' } },
      { id: 3, weight: 1, committed: null },
    ],
  });

  await tool.json('unstage kv 1 2');
  const second = await tool.text('commit kv -m second');
  const inFlight = Number(/: (\d+) moves proposed$/m.exec(second)?.[1]);
  expect(inFlight).toBeGreaterThan(0);
  await tool.json('set-weight kv d2 1.01');
  const third = await tool.text('commit kv -m third');
  const proposed = Number(/version 3 .*: (\d+) moves? proposed, /m.exec(third)?.[1]);
  expect(third).toContain(`proposed, ${inFlight} in flight from before`);
  const { entries } = await tool.json<{ entries: { moves: number }[] }>('log kv -n 1');
  expect(entries[0]?.moves).toBe(proposed);
});

test.each([
  ['--replication-address 127.0.0.9:6300', 'replication address 127.0.0.9:6300'],
  ['--replication-address none --zone 4', 'zone 4, replication address none'],
  ['--key none --name sdc', 'device sdc, key none'],
])('set-device %s is shown as %s', async (typed, words) => {
  const tool = await ringBuilderHere();
  await tool.json('create kv --partitions 16 --replicas 1');
  await tool.json('add kv r1z1-127.0.0.1:1R127.0.0.1:2/sdb 1');
  expect(await tool.text(`set-device kv d0 ${typed}`)).toMatch(`staged: set ${words} of d0 r1z`);
  expect(await tool.text('status kv')).toContain(`: set ${words} of d0 r1z`);
});

test.each([
  'set kv --overload 0.1 --min-part-hours 3',
  'set kv --replicas 2',
  'set kv --pretend-min-part-hours-passed',
  'set-device kv d1 --meta rack-7',
  'maintenance kv d1 d2',
  'maintenance kv d1 --off',
  'pin kv 3 --on d1',
  'ramp kv d1 5',
])('a repeated %s stages nothing', async (typed) => {
  const tool = await ringBuilderHere();
  await tool.json('create kv --partitions 16 --replicas 2');
  await tool.json('add kv r1z1-127.0.0.1:1/sdb 1 r1z2-127.0.0.1:2/sdb 1 r1z3-127.0.0.1:3/sdb 1');
  await tool.json('commit kv -m first');
  await tool.json(typed);
  const { staged } = await tool.json<{ staged: unknown[] }>('status kv');
  expect(await tool.json(typed)).toMatchObject({ staged: [], changed: false });
  expect(await tool.text(typed)).toMatch(/^nothing to change: kv is already like that$/m);
  expect(await tool.json('status kv')).toMatchObject({ staged });
});

test('plan and commit say that staged changes cancel out, and suggest unstage', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create kv --partitions 16 --replicas 1');
  await tool.json('add kv r1z1-127.0.0.1:1/sdb 1');
  await tool.json('commit kv -m first');
  expect(await tool.text('commit kv -m again')).toMatch(/^Next: ring-builder status kv$/m);
  await tool.json('set-device kv d0 --meta other');
  await tool.json(['set-device', 'kv', 'd0', '--meta', '']);
  for (const command of ['plan kv', 'commit kv -m nothing']) {
    const told = await tool.text(command);
    expect(told, command).toMatch(/^2 staged changes that change nothing together$/m);
    expect(told, command).toMatch(/^Next: ring-builder unstage kv$/m);
  }
  await tool.json('unstage kv');
  expect(await tool.text('status kv')).toMatch(/^Next: ring-builder push kv$/m);
});
