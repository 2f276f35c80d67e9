// The worked examples of Shriek's text, a join and a leave, on real servers: the placement is given
// by hand, and each device ends with just the keys that the text says.
import fs from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { openStore } from '@ringwright/partition/open-store';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import { firstRing } from '@ringwright/ring/first-ring';
import { partitionOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Ring } from '@ringwright/ring/ring';
import { zeroTable } from '@ringwright/ring/slot-rows';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { freePorts } from '../support/free-ports.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { moveVersions } from '../support/served-ring.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';
import { waitFor } from '../support/wait-for.ts';

/** Places on Shriek's circle in hundredths, as in its text. */
type Keys = Readonly<Record<number, readonly number[]>>;

interface Example {
  readonly replicas: number;
  readonly before: Keys;
  readonly after: Keys;
}

/** Nodes, and the keys each has, word for word. */
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
/** Partition p is the arc that ends at 5 p hundredths: Shriek's boundaries all fall on such ends. */
const partitioner = { kind: 'murmur3-mod', partitions: 20, seed: 0 } as const;

/** A name that this ring's hash puts where Shriek's puts the key. */
function nameOf(key: number): string {
  for (let salt = 0; ; salt += 1) {
    const name = `.${key}-${salt}`;
    if (partitionOf(partitioner, Buffer.from(name)) === key / 5) return name;
  }
}

/** The nearest node at or after the place, and those that follow it on the circle. */
function preferenceList(nodes: readonly number[], place: number, replicas: number): number[] {
  const circle = [...nodes].sort((a, b) => a - b);
  const nearest = circle.findIndex((node) => node >= place);
  const start = nearest === -1 ? 0 : nearest;
  return Array.from({ length: replicas }, (_, step) => circle[(start + step) % circle.length]!);
}

const nodesOf = (state: Keys): number[] => Object.keys(state).map(Number);

/** Version 1 has the nodes before; the others are in it, and hold nothing yet. */
function ringBefore({ before, after, replicas }: Example, ports: readonly number[]): Ring {
  const all = [...new Set([...nodesOf(before), ...nodesOf(after)])].sort((a, b) => a - b);
  const table = zeroTable(partitioner.partitions, replicas, all.length);
  for (let partition = 0; partition < partitioner.partitions; partition += 1) {
    const list = preferenceList(nodesOf(before), partition * 5, replicas);
    for (const [replica, node] of list.entries()) table[replica]![partition] = all.indexOf(node);
  }
  const devices = all.map((node, id) => {
    const at = { ip: '127.0.0.1', port: ports[id]!, device: `n${node}` };
    return { id, region: 1, zone: id, ...at, weight: 1, meta: '' };
  });
  const settings = { keyspace: 'shriek', cluster: 'test', partitioner, replicas };
  return firstRing({ ...settings, partitions: partitioner.partitions, devices, table });
}

/** One move for each partition whose preference list has another node now. */
function movesTo(ring: Ring, { after, replicas }: Example) {
  const ids = new Map(ring.devices.map((device, id) => [Number(device?.device.slice(1)), id]));
  const moves = [];
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    const list = preferenceList(nodesOf(after), partition * 5, replicas);
    const wanted = list.map((node) => ids.get(node)!);
    const held = ring.table.map((row) => row[partition]!);
    const to = wanted.find((id) => !held.includes(id));
    if (to === undefined) continue;
    const replica = held.findIndex((id) => !wanted.includes(id));
    moves.push({ partition, replica, from: held[replica]!, to });
  }
  return moves;
}

/** What lies in the files of a device that is not running. */
async function keysIn(data: string): Promise<number[]> {
  await using store = await openStore({ directory: data, newIncarnation: () => 'unused' });
  const found = store.list().flatMap(({ keyspace, partition }) => {
    return store.scan(keyspace, partition, Buffer.alloc(0), 10);
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
])('%s', async (...[, example]) => {
  await using folder = await scratchFolder();
  const places = [...new Set([...nodesOf(example.before), ...nodesOf(example.after)])].sort(
    (a, b) => a - b,
  );
  const ports = await freePorts(places.length);
  const file = joinPath(folder.path, 'shriek.ring');
  const first = ringBefore(example, ports);
  const publish = async (ring: Ring): Promise<void> => {
    await fs.writeFile(`${file}.new`, encodeRing(ring).bytes);
    await fs.rename(`${file}.new`, file);
  };
  await publish(first);
  const nodes = places.map((place, id): Node => {
    const data = joinPath(folder.path, `n${place}`);
    const server = new ServerUnderTest({ device: `n${place}`, zone: id, port: ports[id]!, data });
    return { place, server };
  });
  const servers = nodes.map(({ server }) => server);
  const start = () => Promise.all(servers.map((server) => server.start(['--ring', file])));
  try {
    await start();
    await atRest(servers, 1);
    for (const key of keys) {
      const path = `/v1/shriek/${nameOf(key)}?consistency=all`;
      const { status } = await askServer(ports[0]!, { method: 'PUT', path, body: 'v' });
      expect(status).toBe(204);
    }
    expect(await distribution(nodes)).toEqual(example.before);
    await start();
    const moves = movesTo(first, example);
    for (const ring of moveVersions(first, moves)) {
      await publish(ring);
      await atRest(servers, ring.version);
    }
    expect(await distribution(nodes)).toEqual(example.after);
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
  }
});
