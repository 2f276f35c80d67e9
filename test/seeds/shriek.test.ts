// The worked examples of Shriek's text, typed as commands: which node has which key, as the text
// states it. Positions are hundredths of the circle. On servers: test/e2e/shriek-examples.test.ts.
import { expect, test } from 'vitest';
import { type RingBuilderHere, ringBuilderHere } from '../support/ring-builder-here.ts';

interface Looked {
  readonly keys: readonly {
    readonly position: string;
    readonly devices: readonly { readonly device: string }[];
  }[];
}

const positions = ['.20', '.25', '.55', '.75', '.90'];

const nodeAt = (place: string): string => `r1z1-10.0.0.1:6200/n${place}`;

async function shriek(create: string, nodes: readonly string[]): Promise<RingBuilderHere> {
  const tool = await ringBuilderHere();
  const circle = '--partitioner hash-intervals --hash jenkins --placement tokens';
  await tool.json(`create shriek ${circle} ${create}`);
  for (const place of nodes) await join(tool, place);
  await tool.json('commit shriek -m nodes');
  return tool;
}

async function join(tool: RingBuilderHere, place: string): Promise<void> {
  await tool.json(`add shriek ${nodeAt(place)} 1 --tokens ${place}`);
}

/** Returns the keys by node, as Shriek's text lists them. */
async function keysOf(tool: RingBuilderHere): Promise<Record<string, string>> {
  const { keys } = await tool.json<Looked>(['lookup', 'shriek', '--position', ...positions]);
  const held: Record<string, string> = {};
  for (const { position, devices } of keys) {
    for (const { device } of devices) {
      held[device] = [...(held[device]?.split(' ') ?? []), position].join(' ');
    }
  }
  expect(await tool.json('verify shriek')).toMatchObject({ ok: true });
  return held;
}

test('hash(cat) = .73 belongs to .75 and, after it, 0', async () => {
  const tool = await ringBuilderHere();
  const circle = '--partitioner hash-intervals --hash jenkins --placement tokens';
  await tool.json(`create shriek ${circle} --tokens 0,.25,.5,.75 --replicas 2`);
  const nodes = ['0', '.25', '.5', '.75'].flatMap((place) => [nodeAt(place), '1']);
  await tool.json(['add', 'shriek', ...nodes]);
  await tool.json('commit shriek -m nodes');
  const { keys } = await tool.json<Looked>('lookup shriek --position .73');
  expect(keys[0]?.devices.map(({ device }) => device)).toEqual(['n.75', 'n0']);
  const text = await tool.text('lookup shriek --position .73');
  expect(text).toContain('.73: partition 3 (.5, .75]');
  expect(await tool.text('why shriek 3')).toContain('the device is among the first ones clockwise');
});

// Shriek fixes the number of partitions when a keyspace is created: 20 end at every position.
const shapes = ['--tokens 0,.25,.5,.75', '--tokens 0,.25,.5,.75,.85', '--partitions 20'];

test.each(shapes)('a join with replication factor 2 is as in the text: %s', async (shape) => {
  const tool = await shriek(`${shape} --replicas 2`, ['0', '.25', '.5', '.75']);
  expect(await keysOf(tool)).toEqual({
    n0: '.55 .75 .90',
    'n.25': '.20 .25 .90',
    'n.5': '.20 .25',
    'n.75': '.55 .75',
  });
  await join(tool, '.85');
  await tool.json('commit shriek -m joins');
  expect(await keysOf(tool)).toEqual({
    n0: '.90',
    'n.25': '.20 .25 .90',
    'n.5': '.20 .25',
    'n.75': '.55 .75',
    'n.85': '.55 .75',
  });
});

test('a join with replication factor 1 takes arcs only from the next node', async () => {
  const tool = await shriek('--partitions 20 --replicas 1', ['0', '.25', '.5', '.75']);
  const before = await tool.json<{ table: number[][] }>('table shriek');
  await join(tool, '.85');
  await tool.json('commit shriek -m joins');
  const after = await tool.json<{ table: number[][] }>('table shriek');
  const moved = after.table[0]?.flatMap((device, partition) => {
    const from = before.table[0]?.[partition];
    return device === from ? [] : [{ partition, from, to: device }];
  });
  // The arcs that end at .80 and .85, which node 0 had.
  expect(moved).toEqual([
    { partition: 16, from: 0, to: 4 },
    { partition: 17, from: 0, to: 4 },
  ]);
  const { keys } = await tool.json<Looked>('lookup shriek --position .85 .8500001 .90');
  expect(keys.map(({ devices }) => devices[0]?.device)).toEqual(['n.85', 'n0', 'n0']);
});

test('a leave with replication factor 3 is as in the text', async () => {
  const tool = await shriek('--partitions 5 --replicas 3', ['0', '.2', '.4', '.6', '.8']);
  expect(await keysOf(tool)).toEqual({
    n0: '.55 .75 .90',
    'n.2': '.20 .75 .90',
    'n.4': '.20 .25 .90',
    'n.6': '.20 .25 .55',
    'n.8': '.25 .55 .75',
  });
  await tool.json('remove shriek d3');
  await tool.json('commit shriek -m leaves');
  expect(await keysOf(tool)).toEqual({
    n0: '.25 .55 .75 .90',
    'n.2': '.20 .55 .75 .90',
    'n.4': '.20 .25 .90',
    'n.8': '.20 .25 .55 .75',
  });
});

test('commands that conflict with placement by tokens are refused and change nothing', async () => {
  const tool = await shriek('--partitions 20 --replicas 2', ['0', '.5']);
  const before = await tool.json('status shriek');
  for (const [command, code] of [
    [`add shriek ${nodeAt('.7')} 1`, 'INTERVALS_INVALID'],
    [`add shriek ${nodeAt('.7')} 1 --tokens .5`, 'INTERVALS_INVALID'],
    [`add shriek ${nodeAt('.7')} 1 --tokens .7,.7`, 'INTERVALS_INVALID'],
    [`add shriek ${nodeAt('.7')} 1 --tokens 1.5`, 'INTERVALS_INVALID'],
    [`add shriek ${nodeAt('.7')} 1 ${nodeAt('.8')} 1 --tokens .7`, 'USAGE'],
    ['pin shriek 0 --on d1', 'PLACED_BY_TOKENS'],
    ['set shriek --overload 0.1', 'PLACED_BY_TOKENS'],
    ['set shriek --zones-min 2', 'PLACED_BY_TOKENS'],
    ['set shriek --replicas 1.5', 'PLACED_BY_TOKENS'],
    ['maintenance shriek d0', 'PLACED_BY_TOKENS'],
    ['verify shriek --optimal', 'PLACED_BY_TOKENS'],
    ['create other --partitions 4 --replicas 1 --placement tokens', 'PLACED_BY_TOKENS'],
  ] as const) {
    expect(await tool.refusal(command), command).toMatchObject({ code });
  }
  expect(await tool.json('status shriek')).toEqual(before);
});
