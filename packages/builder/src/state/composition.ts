// A composite ring: its rows are the rows of other rings, one after the other. Pure.
import { assert } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { samePartitioner, settingsText } from '@ringwright/ring/partitioner/partitioner-settings';
import { deviceIn, noDeviceIn, type Ring, type SlotRow } from '@ringwright/ring/ring';
import { zeroRow } from '@ringwright/ring/slot-rows';
import type { BuilderState, Component } from './builder-state.ts';
import { takeDevices } from './component-devices.ts';
import { createState } from './create-state.ts';

/** The newest version of a component ring. */
export interface ComponentHead {
  readonly ring: Ring;
  readonly id: string;
  readonly state: BuilderState;
  /** Ring id of an earlier version; null when the log does not name it. */
  readonly idOf: (version: number) => string | null;
}

interface Composition {
  readonly state: BuilderState;
  readonly table: readonly SlotRow[];
}

/**
 * Returns the state and the table of a composite ring. `before` is its present state. Devices keep
 * their ids, and devices that no component has any more are marked removed. Throws COMPONENTS_UNFIT
 * when the components do not fit together, and COMPONENTS_OTHER when they are not the components of
 * `before`, or are older.
 */
export function compose(
  name: string,
  heads: readonly ComponentHead[],
  before: BuilderState | null,
): Composition {
  requireFit(heads);
  requireSame(name, heads, before?.components);
  const devices = [...(before?.devices ?? [])];
  const deviceIds = takeDevices(devices, heads, before?.components);
  const components = heads.map((head, at): Component => {
    const { keyspace: ring, version, replicas } = head.ring;
    return { ring, version, id: head.id, replicas, devices: deviceIds[at] ?? [] };
  });
  const [{ ring: first }] = heads as [ComponentHead];
  const settings = createState({
    ring: name,
    cluster: first.cluster,
    partitioner: first.partitioner,
    replicas: components.reduce((sum, { replicas }) => sum + replicas, 0),
    minPartHours: Math.max(...heads.map(({ state }) => state.minPartHours)),
    overload: 0,
  });
  const table = heads.flatMap(({ ring }, at) =>
    ring.table.map((row) => rowOf(row, components[at]?.devices ?? [], devices.length)),
  );
  return { state: { ...settings, devices, components }, table };
}

/** Throws RING_COMPOSED for a composite ring: only a change to its components changes it. */
export function requireNotComposed(state: BuilderState): void {
  const { ring, components } = state;
  if (components === undefined) return;
  const names = components.map((component) => component.ring);
  throw new CodedError('RING_COMPOSED', `${ring} is composed of ${names.join(' and ')}`, {
    hint: `change those, then ring-builder ${changeCommand(state)}`,
    details: { ring, components: names },
  });
}

/**
 * Returns the command that shows the next change of a ring. A composite ring has no plan of its
 * own, so the command composes it again.
 */
export function changeCommand({
  ring,
  components,
}: {
  readonly ring: string;
  readonly components?: readonly Component[] | undefined;
}): string {
  if (components === undefined) return `plan ${ring}`;
  return ['compose', ring, ...components.map((component) => component.ring)].join(' ');
}

function rowOf(row: SlotRow, ids: readonly (number | null)[], deviceCount: number): SlotRow {
  const newRow = zeroRow(row.length, deviceCount);
  for (let partition = 0; partition < row.length; partition += 1) {
    const device = deviceIn(row, partition);
    const id = device === undefined ? noDeviceIn(newRow) : ids[device];
    assert(id !== undefined && id !== null, `device ${device} has an id in the composite ring`);
    newRow[partition] = id;
  }
  return newRow;
}

function requireFit(heads: readonly ComponentHead[]): void {
  const [first] = heads;
  assert(first !== undefined, 'a ring is composed of something');
  for (const { ring } of heads) {
    const name = `${ring.keyspace} version ${ring.version}`;
    if (!samePartitioner(ring.partitioner, first.ring.partitioner)) {
      const [one, other] = [first.ring, ring].map(({ keyspace, partitioner }) => {
        return `${keyspace} has ${settingsText(partitioner)}`;
      });
      throw unfit(`${one}, ${other}`, 'a key must have the same partition in all of them');
    }
    if (ring.cluster !== first.ring.cluster) {
      const { cluster, keyspace } = first.ring;
      throw unfit(`${keyspace} belongs to cluster ${cluster}, ${ring.keyspace} to ${ring.cluster}`);
    }
    if (!Number.isInteger(ring.replicas)) throw unfit(`${name} has ${ring.replicas} replicas`);
    if (ring.moves.length > 0) {
      const hint = `ring-builder rollout ${ring.keyspace}`;
      throw unfit(
        `${name} has ${counted(ring.moves.length, 'move')} in flight, but must have none`,
        hint,
      );
    }
  }
}

function requireSame(
  name: string,
  heads: readonly ComponentHead[],
  components: readonly Component[] | undefined,
): void {
  if (components === undefined) return;
  const [was, is] = [
    components.map(({ ring }) => ring),
    heads.map(({ ring }) => ring.keyspace),
  ].map((names) => names.join(' '));
  if (was !== is) throw other(`${name} is composed of ${was}, not of ${is}`);
  for (const [at, { ring, idOf }] of heads.entries()) {
    const { version = 0, id = '', replicas = 0 } = components[at] ?? {};
    const { keyspace } = ring;
    const composedText = `${name} has version ${version} of ${keyspace}`;
    if (ring.version < version) throw other(`${composedText}, which is now at ${ring.version}`);
    const found = ring.version === version ? heads[at]?.id : idOf(version);
    if (found !== id) {
      const ids = `(${id.slice(0, 12)}), which is now ${found?.slice(0, 12) ?? 'missing'}`;
      throw other(`${composedText} ${ids}: this is another ring with that name`);
    }
    if (ring.replicas !== replicas) {
      throw unfit(`${keyspace} had ${replicas} replicas in ${name}, and has ${ring.replicas} now`);
    }
  }
}

function unfit(message: string, hint?: string): CodedError {
  return new CodedError('COMPONENTS_UNFIT', message, { hint });
}

function other(message: string): CodedError {
  return new CodedError('COMPONENTS_OTHER', message, {
    hint: 'name the same rings in the same order, at the same versions or newer ones; or compose a ring with another name',
  });
}
