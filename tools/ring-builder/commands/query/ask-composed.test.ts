// Tests queries about a composite ring: its components supply the rules, and no answer suggests a
// command that a composite ring refuses.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { composedRing, deviceText, makeRing } from '../../../../test/support/composed-ring.ts';
import { notePush } from '../../../../test/support/note-push.ts';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

interface Row {
  readonly tier: string;
  readonly name: string;
  readonly share: number;
  readonly slots: number;
}

interface Balance {
  readonly balanced: boolean;
  readonly rows: readonly Row[];
}

interface Dispersion {
  readonly domains: readonly { readonly slots: number; readonly counts: readonly number[] }[];
}

test('balance of a composite ring uses the shares that its components compute', async () => {
  const tool = await composedRing();
  const [east, west, both] = await Promise.all(
    ['east', 'west', 'both'].map((name) => tool.json<Balance>(`balance ${name}`)),
  );
  expect(both?.balanced).toBe(true);
  const zones = (one: Balance | undefined) => one?.rows.filter(({ tier }) => tier === 'zone') ?? [];
  expect(zones(both)).toEqual([...zones(east), ...zones(west)]);
  // Both components have devices in the region.
  expect(both?.rows[0]).toMatchObject({ tier: 'region', name: 'r1', share: 48, slots: 48 });
  expect((await tool.answer('balance both')).next).toBe('ring-builder dispersion both');
  const dispersion = await tool.answer('dispersion both --exit-code');
  expect(dispersion).toMatchObject({ exit: 0, next: 'ring-builder status both' });
  const { domains } = await tool.json<Dispersion>('dispersion both');
  expect(domains[0]).toMatchObject({ slots: 48, counts: [0, 0, 0, 16], least: 3, most: 3 });
});

test('the overload of a component applies to the composite ring too', async () => {
  const tool = await ringBuilderHere();
  await makeRing(tool, 'west', { replicas: 1, devices: [4, 5] });
  await tool.json('create east --partitions 16 --replicas 2');
  // Two devices in one zone, and one alone in the other.
  await tool.json('add east r1z1-10.0.0.1:6200/a 1 r1z1-10.0.0.2:6200/b 1 r1z2-10.0.0.3:6200/c 1');
  await tool.json('set east --overload 0.5');
  await tool.json('commit east -m first');
  await tool.json('compose both east west');
  for (const ring of ['east', 'both']) {
    expect(await tool.json(`balance ${ring}`), ring).toMatchObject({ balanced: true });
    expect(await tool.json(`dispersion ${ring}`), ring).toMatchObject({ slotsWrong: 0 });
  }
  expect(await tool.text('dispersion both')).toContain('(overload 0.5 and 0, required 0.5)');
  // Without the component only the weights are known, and the output says so.
  await rm(join(tool.folder, 'rings', 'east'), { recursive: true });
  for (const command of ['balance', 'dispersion']) {
    expect(await tool.text(`${command} both`), command).toContain(
      'only the weights of east version 1 are known here; its settings may override them',
    );
  }
});

test('balance of an unbalanced composite ring suggests balance of the component', async () => {
  const tool = await composedRing();
  await notePush(tool.folder, 'both');
  await tool.json('set-weight east d0 9');
  await tool.json('commit east -m wider');
  await tool.json('compose both east west');
  // Moves are in flight, so the table does not match the weights yet.
  const answer = await tool.answer('balance both');
  expect(answer).toMatchObject({ json: { balanced: false }, next: 'ring-builder balance east' });
});

test('verify --optimal of a composite ring refers to the proofs of its components', async () => {
  const tool = await composedRing();
  const answer = await tool.answer('verify both --optimal');
  expect(answer).toMatchObject({
    exit: 0,
    json: { version: 1, ok: null, components: [{ ring: 'east' }, { ring: 'west' }] },
    next: 'ring-builder verify east --optimal 1',
  });
  for (const proof of ['verify east --optimal 1', 'verify west --optimal 1']) {
    expect((await tool.answer(proof)).exit, proof).toBe(0);
  }
});

test('why names the component of each slot and announces no move', async () => {
  const tool = await composedRing();
  const partition = await tool.text('why both 3');
  expect(partition).not.toContain('is to move');
  expect(partition).toContain('replicas 0 1 are placed by east: ring-builder why east 3');
  expect(partition).toContain('replica 2 is placed by west: ring-builder why west 3');
  const device = await tool.text('why both d4');
  expect(device).toContain('rule: its slots come from component west: ring-builder why west d1');
  await tool.json('set-weight east d0 9');
  await tool.json('commit east -m wider');
  await tool.json('compose both east west');
  const moved = await tool.json<{ slots: readonly object[] }>('why both 3');
  expect(moved.slots).toMatchObject([{ rule: 'component' }, { rule: 'component' }, {}]);
});

test('BRAKE suggests --override, a cancel suggests compose, frontier is refused', async () => {
  const tool = await composedRing();
  await notePush(tool.folder, 'both');
  for (const name of ['east', 'west']) {
    const first = name === 'east' ? 6 : 9;
    for (const n of [first, first + 1, first + 2]) {
      await tool.json(['add', name, deviceText(n), '1']);
    }
    await tool.json(`set-weight ${name} d0 0 d1 0`);
    await tool.json(`commit ${name} -m other`);
  }
  await expect(tool.json('compose both east west')).rejects.toMatchObject({
    code: 'BRAKE',
    hint: expect.stringMatching(/^to continue: --override/),
  });
  await tool.json(['compose', 'both', 'east', 'west', '--override', 'test']);
  const cancelled = await tool.text('moves both cancel all');
  expect(cancelled).toContain('ring-builder compose both east west');
  expect(cancelled).not.toContain('ring-builder plan both');
  const status = await tool.answer('status both --offline');
  expect(status.lines.join('\n')).not.toContain('ring-builder plan both');
  expect(status.next).toBe('ring-builder compose both east west');
  expect(await tool.refusal('frontier both')).toMatchObject({ code: 'RING_COMPOSED' });
});

test('status suggests the removal of a drained device only for its component', async () => {
  const tool = await composedRing();
  await tool.json('set-weight east d0 0');
  await tool.json('add east r1z9-10.0.0.9:6200/sd9 5');
  await tool.json('commit east -m drained');
  await tool.json('compose both east west');
  expect(await tool.text('status east')).toContain('may leave: ring-builder remove east d0');
  expect(await tool.text('status both')).not.toContain('may leave');
});

test('a cancel for a joiner that is down suggests removing it from its component', async () => {
  const tool = await composedRing();
  await notePush(tool.folder, 'both');
  await tool.json(['add', 'west', 'r1z9-127.0.0.1:1/sd9', '5']);
  await tool.json('commit west -m joins');
  await tool.json(['compose', 'both', 'east', 'west', '--override', 'test']);
  const { lines, next } = await tool.answer('moves both cancel d5');
  expect(lines.at(-1)).toMatch(
    /^d5 does not answer: .*: ring-builder remove west d2 && .* compose /,
  );
  expect(next).toBe('ring-builder remove west d2');
  expect(await tool.text('why both d5')).toContain('component west');
});
