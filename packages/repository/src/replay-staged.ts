// Staged changes carried from the state they were staged on to another one. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { applyChanges } from '@ringwright/builder/apply-changes';
import type { BuilderState } from '@ringwright/builder/builder-state';
import type { Change } from '@ringwright/builder/change';
import type { Staged } from './builder-file.ts';

export interface Replayed {
  /** The staged commands that fit, their device ids those of the new state. */
  readonly staged: readonly Staged[];
  /** The others, each with the reason. */
  readonly refused: readonly { readonly command: string; readonly reason: string }[];
}

/**
 * Devices that were added get the next free ids of the new state. A command is refused as a whole:
 * when a change of it cannot be applied, or sets what has been set otherwise since.
 */
export function replayStaged(
  staged: readonly Staged[],
  from: BuilderState,
  onto: BuilderState,
): Replayed {
  const ids = new Map<number, number>();
  const fitting: Staged[] = [];
  const refused: { command: string; reason: string }[] = [];
  let before = from;
  let state = onto;
  for (const { command, changes } of staged) {
    const reason = changes.map((change) => clash(change, from, onto)).find((one) => one !== null);
    let next = state.devices.length;
    const mapped = changes.map((change) => {
      if (change.kind === 'add') ids.set(change.device.id, next++);
      return withIds(change, ids);
    });
    before = applyChanges(before, changes);
    const applied = reason ?? tryToApply(state, mapped);
    if (typeof applied === 'string') {
      for (const change of changes) if (change.kind === 'add') ids.delete(change.device.id);
      refused.push({ command, reason: applied });
      continue;
    }
    state = applied;
    fitting.push({ command, changes: mapped });
  }
  return { staged: fitting, refused };
}

function withIds(change: Change, ids: ReadonlyMap<number, number>): Change {
  if (change.kind === 'add') {
    return { ...change, device: { ...change.device, id: idIn(ids, change.device.id) } };
  }
  if (change.kind === 'pin') {
    const { partition, on, off } = change.pin;
    const mapped = (list: readonly number[]): number[] => list.map((id) => idIn(ids, id));
    return { kind: 'pin', pin: { partition, on: mapped(on), off: mapped(off) } };
  }
  return 'id' in change ? { ...change, id: idIn(ids, change.id) } : change;
}

function idIn(ids: ReadonlyMap<number, number>, id: number): number {
  return ids.get(id) ?? id;
}

/** Both sides set the same thing to different values: somebody has to choose. */
function clash(change: Change, from: BuilderState, onto: BuilderState): string | null {
  if (change.kind === 'set-weight') {
    const [was, is] = [from.devices[change.id]?.weight, onto.devices[change.id]?.weight];
    if (was === undefined || was === is || is === change.weight) return null;
    return `the weight of d${change.id} was ${was} and is ${is} by now`;
  }
  if (change.kind !== 'set') return null;
  for (const [name, wanted] of Object.entries(change.settings)) {
    const [was, is] = [settingOf(from, name), settingOf(onto, name)];
    const same = JSON.stringify(was) === JSON.stringify(is);
    if (!same && is !== wanted)
      return `${name} was ${JSON.stringify(was)} and is ${JSON.stringify(is)} by now`;
  }
  return null;
}

function settingOf(state: BuilderState, name: string): unknown {
  return Object.entries(state).find(([key]) => key === name)?.[1];
}

function tryToApply(state: BuilderState, changes: readonly Change[]): BuilderState | string {
  try {
    const unmapped = changes.find((change) => 'id' in change && change.id >= state.devices.length);
    const added = changes.some(({ kind }) => kind === 'add');
    if (unmapped !== undefined && !added) return 'it is about a device whose command did not fit';
    return applyChanges(state, changes);
  } catch (error) {
    if (error instanceof CodedError) return error.message;
    throw error;
  }
}
