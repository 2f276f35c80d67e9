// Tests the commands that set placement rules: each rule holds in the table that follows from it.
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';
import { type RingBuilder, ringBuilderIn } from '../../../../test/support/ring-builder-program.ts';

interface TableDocument {
  readonly partitions: number;
  readonly devices: readonly ({ readonly zone: number } | null)[];
  readonly table: readonly (readonly number[])[];
}

/** Six devices in three zones, two replicas. No server has the ring: commits change the table. */
async function sixDevices(): Promise<RingBuilder> {
  const tool = await ringBuilderIn();
  await tool.json('create cities --partitions 32 --partitioner murmur3-mod --replicas 2');
  const pairs = [1, 2, 3].flatMap((zone) =>
    ['a', 'b'].flatMap((name) => [`r1z${zone}-10.0.${zone}.1:6200/${name}`, '1']),
  );
  await tool.json(['add', 'cities', ...pairs]);
  await commit(tool, 'six devices');
  return tool;
}

function commit(tool: RingBuilder, message: string): Promise<Record<string, unknown>> {
  return tool.json(['commit', 'cities', '-m', message]);
}

async function tableOf(tool: RingBuilder): Promise<TableDocument> {
  const { exit, stdout } = await tool.run('verify cities --json');
  expect(exit, stdout).toBe(0);
  return tool.json<TableDocument>('table cities');
}

function holders({ table }: TableDocument, partition: number): number[] {
  return table.map((row) => row[partition] ?? -1);
}

function slotsOf({ table }: TableDocument, device: number): number {
  return table.flat().filter((id) => id === device).length;
}

test('a pin moves a partition and is shown until unpin removes it', async () => {
  const tool = await sixDevices();
  const before = await tableOf(tool);
  const away = [0, 1, 2, 3, 4, 5].find((id) => !holders(before, 7).includes(id)) ?? 0;
  await tool.json(`pin cities 7 --on d${away}`);
  await commit(tool, 'near its users');
  expect(holders(await tableOf(tool), 7)).toContain(away);
  const proof = await tool.json('verify cities --optimal');
  expect(proof).toMatchObject({ ok: true, pinned: true, faults: [] });
  await tool.json(`pin cities 7 --off d${away}`);
  await commit(tool, 'away again');
  expect(holders(await tableOf(tool), 7)).not.toContain(away);
  const pins = [{ partition: 7, on: [], off: [away] }];
  for (const command of ['status cities', 'show cities']) {
    expect(await tool.json(command), command).toMatchObject({ pins });
    expect((await tool.run(command)).stdout, command).toContain(
      'pinned: partition 7; ring-builder unpin cities 7 removes one',
    );
  }
  await tool.json('unpin cities 7');
  await commit(tool, 'anywhere');
  expect((await tool.run('status cities')).stdout).not.toContain('pinned');
  await tableOf(tool);
  expect((await tool.run('log cities')).stdout).toContain('near its users');
});

test('current values are not staged again, and contradictory options are refused', async () => {
  const tool = await sixDevices();
  const weights = (await tool.json<{ devices: { weight: number }[] }>('show cities')).devices;
  for (const command of [
    `set-weight cities d0 ${weights[0]?.weight} d1 ${weights[1]?.weight}`,
    'unpin cities 7',
    'unpin cities all',
    'ramp cities d0 --off',
  ]) {
    expect(await tool.json(command), command).toMatchObject({ changed: false, changes: 0 });
    expect((await tool.run(command)).stdout, command).toMatch(
      /^nothing to change: cities is already like that\n\nNext: ring-builder status cities/,
    );
  }
  const both = await tool.run('ramp cities d0 200 --off --json');
  expect([both.exit, JSON.parse(both.stderr)]).toMatchObject([2, { code: 'USAGE' }]);
  // The last weight given for a device counts, also if it is the current one.
  expect(await tool.json(`set-weight cities d0 7 d0 ${weights[0]?.weight}`)).toMatchObject({
    changed: false,
  });
  await tool.json('ramp cities d0 200');
  expect(await tool.json('ramp cities d0 --off')).toMatchObject({ changed: true });
});

test('maintenance keeps all slots of a device; with --no-target it may lose some', async () => {
  const tool = await sixDevices();
  const held = slotsOf(await tableOf(tool), 0);
  await tool.json('maintenance cities d0');
  await tool.json('set-weight cities d1 2');
  await commit(tool, 'd0 rests');
  expect(slotsOf(await tableOf(tool), 0)).toBe(held);
  await tool.json('maintenance cities d0 --no-target');
  await tool.json('set-weight cities d0 4');
  await commit(tool, 'it gets no slots');
  expect(slotsOf(await tableOf(tool), 0)).toBeLessThanOrEqual(held);
  await tool.json('maintenance cities d0 --off');
  await commit(tool, 'd0 takes part');
  expect(slotsOf(await tableOf(tool), 0)).toBeGreaterThan(held);
});

test('zones-min holds for every partition and is refused if it cannot hold', async () => {
  const tool = await sixDevices();
  await tool.json('set cities --zones-min 2');
  await commit(tool, 'two zones at least');
  const table = await tableOf(tool);
  for (let partition = 0; partition < table.partitions; partition += 1) {
    const zones = holders(table, partition).map((id) => table.devices[id]?.zone);
    expect(new Set(zones).size).toBe(2);
  }
  const staged = await tool.run('set cities --zones-min 4');
  const refused = staged.exit === 0 ? await tool.run('plan cities') : staged;
  expect([2, 5]).toContain(refused.exit);
  expect(refused.stderr).toMatch(/4.*[23]/s);
});

test('a ramp takes a step only with --step-ramps, and status shows its phase', async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partition-power 4 --replicas 2');
  await tool.json(`add cities ${[1, 2, 3].map((n) => `r1z${n}-10.0.0.${n}:6200/a 10`).join(' ')}`);
  await tool.json('commit cities -m first');
  await tool.json('ramp cities d0 14 --percent 50 --in-hours 0 --hours 5');
  await tool.json('commit cities -m ramp');
  const weight = async () => {
    const { devices } = await tool.json<{ devices: ({ weight: number } | null)[] }>('table cities');
    return devices[0]?.weight;
  };
  expect(await weight()).toBe(10);
  const { ramps } = await tool.json<{ ramps: object[] }>('status cities');
  const window = { from: '2026-11-21T03:00:00.000Z', until: '2026-11-21T08:00:00.000Z' };
  expect(ramps).toEqual([{ id: 0, weight: 10, target: 14, step: 2, ...window, phase: 'due' }]);
  // A commit of another change takes no step of the ramp.
  await tool.json('set-weight cities d1 11');
  const codes = async (args: string) => {
    const plan = await tool.json<{ warnings: { code: string }[] }>(args);
    return plan.warnings.map(({ code }) => code);
  };
  expect(await codes('plan cities --offline')).toContain('RAMP_WAITS');
  await tool.json('commit cities -m other');
  expect(await weight()).toBe(10);
  expect(await tool.json('commit cities -m nothing')).toMatchObject({ changed: false });
  expect(await codes('plan cities --offline --step-ramps')).toContain('RAMP_STEPS');
  await tool.json('commit cities -m step --step-ramps');
  expect(await weight()).toBe(12);
  await tool.json('commit cities -m step --step-ramps');
  expect(await weight()).toBe(14);
  expect(await tool.json('status cities')).toMatchObject({ ramps: [] });
});

test('verify --optimal proves that a rebalance needs no fewer moves', async () => {
  const tool = await sixDevices();
  await tool.json('add cities r1z4-10.0.4.1:6200/a 1');
  await commit(tool, 'zone 4');
  const { exit, stdout } = await tool.run('verify cities --optimal');
  expect(exit, stdout).toBe(0);
  expect(stdout).toMatch(/no .*fewer/i);
});

test('--max-replicas-at-once refuses to move two replicas of a partition at once', async () => {
  const tool = await sixDevices();
  const [first, second] = holders(await tableOf(tool), 3);
  await tool.json(`remove cities d${first} d${second}`);
  for (const command of ['plan cities', 'commit cities -m two']) {
    const { exit, stderr } = await tool.run(`${command} --max-replicas-at-once 1`);
    expect([exit, stderr]).toEqual([5, expect.stringContaining('TOO_MANY_AT_ONCE')]);
    expect(stderr).toMatch(/partitions would move at once: .*3/);
  }
  await tool.json('plan cities --max-replicas-at-once 2');
});

test('--pretend-min-part-hours-passed is refused in a ring without a version', async () => {
  const tool = await ringBuilderIn();
  await tool.json('create cities --partitions 16 --replicas 1');
  const { exit, stderr } = await tool.run('set cities --pretend-min-part-hours-passed');
  expect([exit, stderr]).toEqual([2, expect.stringContaining('RING_EMPTY')]);
});

test('--balance bytes needs a server that answers; --balance counts needs none', async () => {
  const tool = await ringBuilderIn();
  await tool.json('create cities --partitions 16 --replicas 1');
  // No server listens on this port.
  await tool.json('add cities r1z1-127.0.0.1:1/sdb 1');
  await tool.json('commit cities -m first');
  const { exit, stderr } = await tool.run('set cities --balance bytes');
  expect({ exit, stderr }).toMatchObject({ exit: 4 });
  expect(stderr).toContain('127.0.0.1:1');
  expect(stderr).toMatch(/^hint: ring-builder servers .*cities shows why$/m);
  for (const wrong of ['--swap-budget 3', '--balance counts --swap-budget 3', '--balance size']) {
    expect((await tool.run(`set cities ${wrong}`)).exit, wrong).toBe(2);
  }
  // This is the current setting.
  expect(await tool.json('set cities --balance counts')).toMatchObject({ changed: false });
});
