// The worked examples of Shriek's text, a join and a leave, on real servers, with the commands that
// an operator types: each device ends with exactly the keys that the text states.
import { join as joinPath } from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { openStore } from '@ringwright/partition/open-store';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { ringBuilderHere } from '../support/ring-builder-here.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

/** Positions on Shriek's circle in hundredths, as in its text. */
type Keys = Readonly<Record<number, readonly number[]>>;

interface Example {
  readonly replicas: number;
  readonly before: Keys;
  readonly after: Keys;
}

/** Nodes and the keys of each, as the text states them. */
const join: Example = {
  replicas: 2,
  before: { 0: [55, 75, 90], 25: [20, 25, 90], 50: [20, 25], 75: [55, 75] },
  after: { 0: [90], 25: [20, 25, 90], 50: [20, 25], 75: [55, 75], 85: [55, 75] },
};
const leave: Example = {
  replicas: 3,
  before: {
    0: [55, 75, 90],
    20: [20, 75, 90],
    40: [20, 25, 90],
    60: [20, 25, 55],
    80: [25, 55, 75],
  },
  after: { 0: [25, 55, 75, 90], 20: [20, 55, 75, 90], 40: [20, 25, 90], 80: [20, 25, 55, 75] },
};

const keys = [20, 25, 55, 75, 90];
/** Partition p is the arc that ends at 5 p hundredths: all of Shriek's boundaries are such ends. */
const partitionOf = partitionerOf({ kind: 'hash-intervals', hash: 'jenkins', partitions: 20 });

/** Returns a name whose Jenkins hash lies on the arc that ends at this position. */
function nameOf(key: number): string {
  for (let salt = 0; ; salt += 1) {
    const name = `.${key}-${salt}`;
    if (partitionOf(Buffer.from(name)) === key / 5) return name;
  }
}

const nodesOf = (state: Keys): number[] => Object.keys(state).map(Number);

const everything = {
  ...{ from: Buffer.alloc(0), to: null, reverse: false },
  ...{ limit: 10, bytesMax: 1_000_000, nowMs: 0 },
};

/** Returns the keys in the files of a stopped device. */
async function keysIn(data: string): Promise<number[]> {
  await using store = await openStore({ directory: data, newIncarnation: () => 'unused' });
  const found = store.list().flatMap(({ keyspace, partition }) => {
    return store.pages.read({ keyspace, partition }, everything).rows;
  });
  const places = found.map(({ key }) => Number(/\d+/.exec(Buffer.from(key).toString())?.[0]));
  return places.sort((a, b) => a - b);
}

interface Node {
  readonly server: ServerUnderTest;
  readonly place: number;
}

async function distribution(nodes: readonly Node[]): Promise<Record<number, number[]>> {
  const held: Record<number, number[]> = {};
  for (const { server, place } of nodes) {
    expect(await server.stop()).toBe(0);
    const found = await keysIn(server.place.data);
    if (found.length > 0) held[place] = found;
  }
  return held;
}

async function atRest(servers: readonly ServerUnderTest[], version: number): Promise<void> {
  for (const server of servers) {
    await waitFor(`${server.place.device} to be at rest with version ${version}`, {
      ask: async () => (await server.status()).rings[0],
      until: (ring) => {
        if (ring?.version !== version || ring.notReady > 0 || ring.surplus > 0) return false;
        return ring.loads.every(({ stage }) => stage === 'available');
      },
    });
  }
}

test.each([
  ['join: .85 comes', join],
  ['leave: .60 goes', leave],
])('every device has the keys that the text states: %s', async (...[, example]) => {
  const { before, after, replicas } = example;
  await using folder = await scratchFolder();
  const places = [...new Set([...nodesOf(before), ...nodesOf(after)])].sort((a, b) => a - b);
  const ports = await freePorts(places.length);
  const nodes = places.map((place, id): Node => {
    const data = joinPath(folder.path, `n${place}`);
    const server = new ServerUnderTest({ device: `n${place}`, zone: id, port: ports[id]!, data });
    return { place, server };
  });
  const tool = await ringBuilderHere({ nowMs: Date.now });
  const add = (place: number): Promise<object> => {
    const text = nodes.find((node) => node.place === place)!.server.text;
    return tool.json(`add shriek ${text} 1 --tokens ${place / 100}`);
  };
  const circle = '--partitioner hash-intervals --hash jenkins --placement tokens';
  await tool.json(`create shriek ${circle} --partitions 20 --replicas ${replicas}`);
  for (const place of nodesOf(before)) await add(place);
  await tool.json('commit shriek -m nodes');
  const servers = nodes.map(({ server }) => server);
  const start = () => Promise.all(servers.map((server) => server.start()));
  try {
    await start();
    await tool.json('push shriek');
    for (const key of keys) {
      const path = `/v1/shriek/${nameOf(key)}?consistency=all`;
      const { status } = await askServer(ports[0]!, { method: 'PUT', path, body: 'v' });
      expect(status).toBe(204);
    }
    expect(await distribution(nodes)).toEqual(before);
    await start();
    for (const place of nodesOf(after)) if (!(place in before)) await add(place);
    for (const [id, place] of nodesOf(before).entries()) {
      if (!(place in after)) await tool.json(`remove shriek d${id}`);
    }
    await tool.json('commit shriek -m change');
    expect(await tool.json('rollout shriek')).toMatchObject({ end: 'done' });
    const { version } = await tool.json<{ version: number }>('show shriek');
    await atRest(
      servers.filter((_, id) => places[id]! in after),
      version,
    );
    expect(await distribution(nodes)).toEqual(after);
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
  }
});
