// The common part of all staging commands: stages under the lock, then reports what is staged and
// what comes next.
import { counted } from '@ringwright/base/counted';
import { formatAddress } from '@ringwright/base/server-address';
import type { BuilderState, PartitionSizes } from '@ringwright/builder/state/builder-state';
import type { Change, DeviceFields } from '@ringwright/builder/state/change';
import { stage } from '@ringwright/repository/stage-changes';
import { formatDevice } from '@ringwright/ring/device';
import { positionText } from '@ringwright/ring/partitioner/hash-ends';
import type { Answer, Context } from '../cli/command.ts';
import { sharedLines } from './composites.ts';
import { rampNotes } from './ramp-notes.ts';
import { windowText } from './ramps.ts';

const CHANGES_SHOWN_MAX = 100;

export async function stageAndAnswer(
  context: Context,
  ring: string,
  changesOf: (state: BuilderState) => readonly Change[],
): Promise<Answer> {
  const place = { rings: context.rings, ring };
  const { changes, staged, state, before } = await stage(place, authorOf(context), {
    command: context.command,
    changesOf,
  });
  const count = staged.reduce((sum, one) => sum + one.changes.length, 0);
  return {
    json: { ring, staged: changes, changes: count, changed: changes.length > 0 },
    lines: [
      ...changes
        .slice(0, CHANGES_SHOWN_MAX)
        .map((change) => `staged: ${describeChange(change, state)}`),
      changes.length > CHANGES_SHOWN_MAX &&
        `… and ${changes.length - CHANGES_SHOWN_MAX} more of the same kind`,
      ...rampNotes({ before, after: state }).slice(0, CHANGES_SHOWN_MAX),
      ...(await sharedLines(context.rings, ring, changes)).slice(0, CHANGES_SHOWN_MAX),
      changes.length === 0 && `nothing to change: ${ring} is already like that`,
      count > 0 && `${counted(count, 'change')} staged; nothing moves before the commit`,
    ],
    next: context.next(`${count === 0 ? 'status' : 'plan'} ${ring}`),
  };
}

export function authorOf(context: Pick<Context, 'user' | 'nowMs'>): {
  readonly user: string;
  readonly time: string;
} {
  return { user: context.user, time: new Date(context.nowMs()).toISOString() };
}

/** Describes a change in one line. `state`: one that contains the change's device. */
export function describeChange(change: Change, state: BuilderState): string {
  if (change.kind === 'set') {
    const { sizes, ...settings } = change.settings;
    const balance = sizes === undefined ? {} : { balance: balanceOf(sizes) };
    return `set ${settingsText({ ...settings, ...balance })}`;
  }
  if (change.kind === 'add') {
    const { id, weight } = change.device;
    const tokens = change.tokens?.map(positionText).join(', ');
    const tokensText = tokens === undefined ? '' : ` at ${tokens}`;
    const old = change.replaces === undefined ? undefined : state.devices[change.replaces];
    const replaced = old ? ` in place of d${old.id} ${formatDevice(old)}` : '';
    return `add d${id} ${formatDevice(change.device)} weight ${weight}${tokensText}${replaced}`;
  }
  if (change.kind === 'merge') return `merge partitions ${change.partitions.join(' and ')}`;
  if (change.kind === 'retire') return `retire the ranges before ${change.before}`;
  if (change.kind === 'split') {
    const places = change.at.map((at) => (typeof at === 'number' ? positionText(at) : at));
    return `split partition ${change.partition} at ${places.join(', ')}`;
  }
  if (change.kind === 'pin') {
    const { partition, on, off } = change.pin;
    const named = (ids: readonly number[]): string => ids.map((id) => `d${id}`).join(' ') || 'none';
    return `pin partition ${partition} on ${named(on)}, off ${named(off)}`;
  }
  const device = state.devices[change.id];
  const name = device ? `d${change.id} ${formatDevice(device)}` : `d${change.id}`;
  if (change.kind === 'remove') return `remove ${name}`;
  if (change.kind === 'hold') return `${name}: ${change.hold ?? 'no hold'}`;
  if (change.kind === 'ramp') {
    const { ramp } = change;
    if (ramp === null) return `stop the ramp of ${name}`;
    const steps = `to weight ${ramp.target} by ${ramp.step} a version`;
    return `ramp ${name} ${steps}, ${windowText(ramp)}`;
  }
  if (change.kind === 'set-weight') return `set weight of ${name} to ${change.weight}`;
  return `set ${fieldsOf(change.fields)} of ${name}`;
}

function balanceOf(sizes: PartitionSizes | null): string {
  if (sizes === null) return 'by counts';
  const { levels, swapBudget } = sizes;
  const known = levels.filter((level) => level !== null).length;
  const swaps = swapBudget === undefined ? '' : `, ${counted(swapBudget, 'move')} a version for it`;
  return `by bytes (sizes of ${known} of ${counted(levels.length, 'partition')})${swaps}`;
}

/** Formats settings as the options are typed. */
function settingsText({ restedThrough, ...settings }: Readonly<Record<string, unknown>>): string {
  const typed = Object.entries(settings).map(([name, value]) => {
    const option = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return name === 'balance' ? `balance ${String(value)}` : `--${option} ${String(value)}`;
  });
  const restedText = `--pretend-min-part-hours-passed up to version ${String(restedThrough)}`;
  return [...typed, ...(restedThrough === undefined ? [] : [restedText])].join(', ');
}

/** Formats fields as typed; `none` means that a key or an address is removed. */
function fieldsOf({ replication, key, ...fields }: DeviceFields): string {
  const copies = replication && formatAddress(replication);
  return [
    ...Object.entries(fields).map(([name, value]) => `${name} ${value === '' ? "''" : value}`),
    ...(key === undefined ? [] : [`key ${key || 'none'}`]),
    ...(copies === undefined ? [] : [`replication address ${copies ?? 'none'}`]),
  ].join(', ');
}
