// Commands to type to go on without certain servers, as one line for a shell. Pure.
import type { Component } from '@ringwright/builder/state/builder-state';
import { changeCommand } from '@ringwright/builder/state/composition';
import type { Ring } from '@ringwright/ring/ring';

type MovingRing = Pick<Ring, 'keyspace' | 'moves'>;

/** The devices of a composite ring are changed in its components. */
export interface ChangedRing extends MovingRing {
  readonly components?: readonly Component[] | undefined;
}

export interface Standing {
  readonly ring: MovingRing & Pick<Ring, 'devices' | 'replicas'>;
  /** Set for a composite ring. */
  readonly components?: readonly Component[];
  /** Removed devices that the ring still names, because moves still need them. */
  readonly removed?: readonly number[];
}

/** Further devices are not listed. */
const DEVICES_NAMED_MAX = 8;

/** Returns commands that remove devices from a ring. Moves to them are canceled first. */
export function commandsWithout(
  changed: ChangedRing,
  devices: readonly number[],
): [first: string, ...string[]] {
  const removes = ownersOf(changed, devices).map(removeCommand);
  const [first = `status ${changed.keyspace}`, ...rest] = [
    ...cancelCommands(changed, devices),
    ...removes,
  ];
  return [first, ...rest];
}

export function removeCommand({ ring, devices }: Owner): string {
  return `remove ${ring} ${deviceNames(devices)}`;
}

/** Returns the command that brings the ring to servers again. */
export function resumeCommand({ keyspace, moves }: MovingRing): string {
  return `${moves.length > 0 ? 'rollout' : 'push'} ${keyspace}`;
}

/** Returns one command or none. */
export function cancelCommands(
  { keyspace, moves }: MovingRing,
  devices: readonly number[],
): string[] {
  const joining = devices.filter((id) => moves.some(({ to }) => to === id));
  return joining.length === 0 ? [] : [`moves ${keyspace} cancel ${deviceNames(joining)}`];
}

/** Returns the same commands followed by commit and rollout. */
export function permanentRemovalCommands(
  changed: ChangedRing,
  devices: readonly number[],
): readonly string[] {
  const leave = ownersOf(changed, devices).flatMap((owner) => [
    removeCommand(owner),
    `commit ${owner.ring} -m 'will not come back'`,
  ]);
  const first = cancelCommands(changed, devices);
  return [...first, ...leave, ...carriedOut(changed, ' --skip-down')];
}

/**
 * Returns the commands after the commits. `how`: an option of the rollout that finishes the moves
 * in flight.
 */
export function carriedOut({ keyspace, moves, components }: ChangedRing, how = ''): string[] {
  const rollout = `rollout ${keyspace}`;
  if (components === undefined) return [rollout];
  // A composite ring is composed anew only when nothing is in flight.
  const rest = moves.length === 0 ? [] : [`${rollout}${how}`];
  return [...rest, changeCommand({ ring: keyspace, components }), rollout];
}

/**
 * Returns the commands as a sentence, with the alternative of a replacement. `devices`: at least
 * one.
 */
export function ifGoneForGood(changed: ChangedRing, devices: readonly number[]): string {
  return (
    `if it will not come back: ${asCommands(permanentRemovalCommands(changed, devices))}; ` +
    `to replace it: ${replaceText(changed, devices)} instead of the remove`
  );
}

/** For when too few other devices are left for a remove. `devices`: at least one. */
function ifReplaced(changed: ChangedRing, devices: readonly number[]): string {
  return `if it will not come back, replace it: ${replaceText(changed, devices)}`;
}

function replaceText(changed: ChangedRing, devices: readonly number[]): string {
  const commands = ownersOf(changed, devices).map(({ ring, devices: [first, ...rest] }) => {
    return asCommands([`replace ${ring} ${rest.length === 0 ? `d${first}` : 'OLD'} NEW`]);
  });
  return commands.join(' or ');
}

export interface Owner {
  readonly ring: string;
  /** Device ids within that ring. */
  readonly devices: readonly number[];
}

/** Returns the rings in which the devices are removed or replaced. */
export function ownersOf(
  { keyspace, components }: ChangedRing,
  devices: readonly number[],
): Owner[] {
  const all = components ?? [{ ring: keyspace, devices: null }];
  return all
    .map(({ ring, devices: ids }): Owner => {
      const ownIds = devices.map((id) => ids?.indexOf(id) ?? id).filter((id) => id >= 0);
      return { ring, devices: ownIds };
    })
    .filter((owner) => owner.devices.length > 0);
}

/** Returns the end of a sentence: `; if it will not come back: …`. */
export function withoutForGood(context: Standing, away: readonly number[]): string {
  const { ring, components, removed = [] } = context;
  const gone = away.filter((id) => !removed.includes(id));
  const others = ring.devices.filter((device) => device !== null && !away.includes(device.id));
  // Advice to remove every device would be useless.
  if (others.length === 0) return '';
  if (gone.length === 0) return components === undefined ? ifRemoved(ring, away) : '';
  if (gone.length > DEVICES_NAMED_MAX) return '; remove those that will not come back';
  const changed = { ...ring, components };
  const gives = canSpare(context, away) ? ifGoneForGood(changed, gone) : ifReplaced(changed, gone);
  return `; ${ifMoved(changed, gone)}; ${gives}`;
}

/** The ring names no server at a new address, so this program does not know of it. */
function ifMoved(changed: ChangedRing, devices: readonly number[]): string {
  const sets = ownersOf(changed, devices).map(({ ring, devices: [first, ...rest] }) => {
    const device = rest.length === 0 ? `d${first}` : 'DEVICE';
    return asCommands([`set-device ${ring} ${device} --ip IP --port PORT`]);
  });
  return `if it has another address now, with its disk: ${sets.join(' or ')}, then commit`;
}

/** A split may fill partitions on devices that were removed with it. That has to end first. */
function ifRemoved(ring: MovingRing, removed: readonly number[]): string {
  const cancel = cancelCommands(ring, removed);
  if (cancel.length === 0) return '';
  const { keyspace } = ring;
  const rest = [`commit ${keyspace} -m 'will not come back'`, `rollout ${keyspace}`];
  return `; if it will not come back: ${asCommands([...cancel, ...rest])}`;
}

/** Whether each replica still has a device of its own; in a composite ring, per component. */
function canSpare({ ring, components }: Standing, away: readonly number[]): boolean {
  const left = ring.devices.flatMap((one) =>
    one !== null && one.weight > 0 && !away.includes(one.id) ? [one.id] : [],
  );
  const parts = components ?? [{ replicas: ring.replicas, devices: left }];
  return parts.every(({ replicas, devices }) => {
    return left.filter((id) => devices.includes(id)).length >= replicas;
  });
}

/** Joins commands into one line for a shell. */
export function asCommands(commands: readonly string[]): string {
  return commands.map((one) => `ring-builder ${one}`).join(' && ');
}

export function deviceNames(devices: readonly number[]): string {
  return devices.map((id) => `d${id}`).join(' ');
}
