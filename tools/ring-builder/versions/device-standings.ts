// The devices of a ring as status shows them: what is in force, and what is staged. Pure.
import type { BuilderDevice, BuilderState } from '@ringwright/builder/state/builder-state';
import type { Ring } from '@ringwright/ring/ring';

/** What is in force; null: the device is staged to join. */
type Committed = Pick<BuilderDevice, 'weight' | 'state' | 'hold'> | null;

export interface DeviceStanding extends BuilderDevice {
  readonly committed: Committed;
  /** The device is meant to be empty, is empty, and no move goes to it: it may be removed. */
  readonly drained: boolean;
}

/** `staged`: the state with staged changes applied. */
export function deviceStandings(
  { devices }: BuilderState,
  committed: BuilderState,
  head: Pick<Ring, 'table' | 'moves'> | null,
): DeviceStanding[] {
  // Devices of a composite ring are removed in its components.
  const holders = head === null || committed.components ? null : holdersOf(head);
  return devices
    .filter((device) => device !== null)
    .map((device) => {
      const before = committed.devices[device.id] ?? null;
      const isEmpty = holders !== null && !holders.has(device.id);
      const isDraining =
        before?.state === 'active' && before.weight === 0 && before.ramp === undefined;
      return { ...device, committed: committedOf(before), drained: isEmpty && isDraining };
    });
}

function holdersOf({ table, moves }: Pick<Ring, 'table' | 'moves'>): ReadonlySet<number> {
  const found = new Set(moves.map(({ to }) => to));
  for (const row of table) for (const device of row) found.add(device);
  return found;
}

function committedOf(device: BuilderDevice | null): Committed {
  if (device === null) return null;
  const { weight, state, hold } = device;
  return { weight, state, ...(hold !== undefined && { hold }) };
}

/** Returns `1`, or `1 -> 2 (staged)`. */
export function standingText(device: DeviceStanding, field: 'weight' | 'state'): string {
  const { committed, drained } = device;
  const staged = standing(device, field);
  if (committed === null) return field === 'state' ? 'joins (staged)' : `${staged} (staged)`;
  const before = standing(committed, field);
  if (before !== staged) return `${before} -> ${staged} (staged)`;
  return drained && field === 'state' ? `${staged}, drained` : staged;
}

/** For an active device with a hold, returns the hold as its state. */
function standing(device: NonNullable<Committed>, field: 'weight' | 'state'): string {
  if (field === 'weight') return `${device.weight}`;
  return device.state === 'active' ? (device.hold ?? 'active') : device.state;
}

/** `remove`: returns the command that stages the removal of these devices. */
export function drainedLines(
  devices: readonly DeviceStanding[],
  remove: (names: string) => string,
): string[] {
  const names = devices.filter(({ drained }) => drained).map(({ id }) => `d${id}`);
  return names.length === 0 ? [] : [`drained, may leave: ${remove(names.join(' '))}`];
}
