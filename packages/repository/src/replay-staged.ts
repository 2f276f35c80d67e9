// Carries staged changes from the state that they were staged on to another one. Pure.
import { isDeepStrictEqual } from 'node:util';
import { CodedError, resultOrErrorOf } from '@ringwright/base/coded-error';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change, Staged } from '@ringwright/builder/state/change';
import { liveCountOf } from '@ringwright/ring/partitioner/partitioner';

export interface Replayed {
  /** The staged commands that fit, with the device ids of the new state. */
  readonly staged: readonly Staged[];
  /** The other commands, each with the reason. */
  readonly refused: readonly { readonly command: string; readonly reason: string }[];
}

/**
 * Gives added devices the next free ids of the new state. Refuses a command as a whole if one of
 * its changes cannot be applied, sets a value that has been changed differently since, or concerns
 * a device whose own command did not fit. `without`: indexes of commands to leave out.
 */
export function replayStaged(
  staged: readonly Staged[],
  { from, onto }: { readonly from: BuilderState; readonly onto: BuilderState },
  without: ReadonlySet<number> = new Set(),
): Replayed {
  // Null: the device with this id is not in the new state.
  const ids = new Map<number, number | null>();
  const fitting: Staged[] = [];
  const refused: { command: string; reason: string }[] = [];
  let state = onto;
  for (const [index, entry] of staged.entries()) {
    const { command, changes } = entry;
    let next = state.devices.length;
    for (const change of changes) if (change.kind === 'add') ids.set(change.device.id, next++);
    const mapped = without.has(index) ? null : replayOne(changes, { from, onto, state, ids });
    if (mapped !== null && typeof mapped !== 'string') {
      state = mapped.state;
      fitting.push({ ...entry, command: renamed(entry, ids), changes: mapped.changes });
      continue;
    }
    for (const change of changes) if (change.kind === 'add') ids.set(change.device.id, null);
    if (mapped !== null) refused.push({ command, reason: mapped });
  }
  return { staged: fitting, refused };
}

/** Returns the changes with new ids and the state after them, or why they do not fit. */
function replayOne(
  changes: readonly Change[],
  context: {
    readonly from: BuilderState;
    readonly onto: BuilderState;
    readonly state: BuilderState;
    readonly ids: ReadonlyMap<number, number | null>;
  },
): { readonly changes: Change[]; readonly state: BuilderState } | string {
  const { ids, ...states } = context;
  if (changes.some((change) => devicesOf(change).some((id) => ids.get(id) === null))) {
    return 'it refers to a device whose command is left out';
  }
  const mapped = changes.map((change) => withIds(change, ids));
  const state = resultOrErrorOf(() => applyChanges(states.state, mapped));
  if (state instanceof CodedError) return state.message;
  return clash(mapped, { ...states, after: state }) ?? { changes: mapped, state };
}

/** Appends the new ids of devices to the command as typed, so that the log has both. */
function renamed({ command, changes }: Staged, ids: ReadonlyMap<number, number | null>): string {
  const named = [...new Set(changes.flatMap(devicesOf))].filter((id) => idIn(ids, id) !== id);
  if (named.length === 0) return command;
  return `${command} # ${named.map((id) => `d${id} is now d${idIn(ids, id)}`).join(', ')}`;
}

/** Returns the devices that a change refers to, except the one it adds. */
function devicesOf(change: Change): readonly number[] {
  if (change.kind === 'pin') return [...change.pin.on, ...change.pin.off];
  if (change.kind === 'add') return change.replaces === undefined ? [] : [change.replaces];
  return 'id' in change ? [change.id] : [];
}

function withIds(change: Change, ids: ReadonlyMap<number, number | null>): Change {
  if (change.kind === 'add') {
    const device = { ...change.device, id: idIn(ids, change.device.id) };
    const { replaces } = change;
    return { ...change, device, ...(replaces !== undefined && { replaces: idIn(ids, replaces) }) };
  }
  if (change.kind === 'pin') {
    const { partition, on, off } = change.pin;
    const mapped = (list: readonly number[]): number[] => list.map((id) => idIn(ids, id));
    return { kind: 'pin', pin: { partition, on: mapped(on), off: mapped(off) } };
  }
  return 'id' in change ? { ...change, id: idIn(ids, change.id) } : change;
}

function idIn(ids: ReadonlyMap<number, number | null>, id: number): number {
  return ids.get(id) ?? id;
}

/**
 * Detects that both sides set the same value differently, so that somebody must choose. `after`:
 * the new state with the changes.
 */
function clash(
  changes: readonly Change[],
  states: Readonly<Record<'from' | 'onto' | 'after', BuilderState>>,
): string | null {
  for (const { name, of } of changes.flatMap(valuesOf)) {
    const [was, is, willBe] = [of(states.from), of(states.onto), of(states.after)];
    if (isDeepStrictEqual(was, is) || isDeepStrictEqual(is, willBe)) continue;
    return `${name} was ${printed(was)} and is now ${printed(is)}`;
  }
  return null;
}

interface Value {
  readonly name: string;
  readonly of: (state: BuilderState) => unknown;
}

/** Returns the values that a change sets or removes. */
function valuesOf(change: Change): readonly Value[] {
  switch (change.kind) {
    case 'set-weight':
      return deviceValues(change.id, ['weight', 'ramp']);
    case 'ramp':
    case 'hold':
      return deviceValues(change.id, [change.kind]);
    case 'set-device':
      return deviceValues(change.id, Object.keys(change.fields));
    case 'pin': {
      const { partition } = change.pin;
      const of = ({ pins }: BuilderState): unknown =>
        pins?.find((pin) => pin.partition === partition);
      return [{ name: `the pin of partition ${partition}`, of }];
    }
    case 'set':
      // A newer measurement replaces an older one.
      return Object.keys(change.settings)
        .filter((name) => name !== 'sizes')
        .map((name) => (name === 'partitionPower' ? partitionCount : valueNamed(name)));
    default:
      return [];
  }
}

/** A state has its partitioner, and not the power that a command names. */
const partitionCount: Value = {
  name: 'the number of partitions',
  of: ({ partitioner }) => liveCountOf(partitioner),
};

function valueNamed(name: string): Value {
  return { name, of: (state) => memberOf(state, name) };
}

function deviceValues(id: number, members: readonly string[]): Value[] {
  return members.map((member) => {
    const of = ({ devices }: BuilderState): unknown => memberOf(devices[id] ?? {}, member);
    return { name: `the ${member} of d${id}`, of };
  });
}

function memberOf(whole: object, name: string): unknown {
  return Object.entries(whole).find(([key]) => key === name)?.[1];
}

function printed(value: unknown): string {
  return value === undefined ? 'not set' : JSON.stringify(value);
}
