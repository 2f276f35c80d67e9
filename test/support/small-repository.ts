// A repository with a ring of four partitions and four devices, and what its commits need.
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { createRing } from '@ringwright/repository/add-ring';
import type { VersionToCommit } from '@ringwright/repository/commit-version';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import { stage } from '@ringwright/repository/stage-changes';
import { directRing } from '@ringwright/ring/advance-ring';
import { firstRing } from '@ringwright/ring/first-ring';
import type { Ring } from '@ringwright/ring/ring';

export const author = { user: 'ada', time: '2026-11-21T03:00:00.000Z' };

const partitioner = { kind: 'md5-shift', power: 2, prefix: '', suffix: '' } as const;
const settings = { ring: 'cities', cluster: 'default', replicas: 2, minPartHours: 0, overload: 0 };

export const emptyState: BuilderState = { ...settings, partitioner, devices: [] };

export async function scratchRings(): Promise<string> {
  const rings = await mkdtemp(join(tmpdir(), 'ringwright-repository-'));
  await createRing(rings, emptyState, 'ring-builder create cities');
  return rings;
}

export function device(id: number) {
  return {
    id,
    region: 1,
    zone: id,
    ip: `10.0.0.${id}`,
    port: 6200,
    device: 'sdb',
    weight: 100,
    meta: '',
  };
}

export async function stageDevices(rings: string, count = 4): Promise<void> {
  const devices = Array.from({ length: count }, (_, index) => index);
  await stage({ rings, ring: 'cities' }, author, {
    command: 'ring-builder add cities …',
    changesOf: ({ devices: there }) =>
      devices.map((index) => ({ kind: 'add', device: device(there.length + index) })),
  });
}

/**
 * Returns what a commit of the first version passes on, or of the next one with two rows swapped.
 */
export async function nextVersion(rings: string): Promise<VersionToCommit> {
  const { head, state, stagedDigest, staged } = await openRing(rings, 'cities');
  const added = staged.flatMap(({ changes }) =>
    changes.flatMap((change) => (change.kind === 'add' ? [change.device] : [])),
  );
  const devices = [...state.devices, ...added.map((one) => ({ ...one, state: 'active' as const }))];
  const ring = head === null ? versionOne(added) : await versionAfter(rings);
  return {
    ring,
    state: { ...state, devices },
    entry: { ...author, kind: 'commit', message: 'a change', moves: 0, figures: {}, details: {} },
    expected: { head, stagedDigest },
  };
}

function versionOne(devices: Ring['devices']): Ring {
  const table = [Uint16Array.of(0, 1, 2, 3), Uint16Array.of(1, 2, 3, 0)];
  const { ring: keyspace, cluster, replicas } = settings;
  return firstRing({ keyspace, cluster, partitioner, partitions: 4, replicas, devices, table });
}

async function versionAfter(rings: string): Promise<Ring> {
  const { ring, id } = await readVersion(rings, 'cities', 'head');
  return directRing(ring, id, { table: [...ring.table].reverse() });
}

/** Returns every file below a folder with its content, to check that nothing changed. */
export async function filesOf(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found.set(path, await readFile(path, 'latin1'));
  }
  return found;
}
