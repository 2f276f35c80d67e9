// The parts of a diff that need more than the rings: builder settings and traffic per tier. Pure.
import type { Json } from '@ringwright/base/canonical-json';
import { type TierKind, tierKinds, tierNamesById } from '@ringwright/builder/state/tier-name';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { MovedSlot, SettingChange } from '@ringwright/ring/diff-rings';
import type { Ring } from '@ringwright/ring/ring';

/** Compares settings and device states that only the builder state has. */
export function stateSettings(
  { state: before }: StoredVersion,
  { state: after }: StoredVersion,
): SettingChange[] {
  if (before === null || after === null) return [];
  const plain = new Set(['devices', 'ring', 'cluster', 'partitioner', 'replicas', 'swift']);
  const was = new Map<string, unknown>(Object.entries(before));
  const is = new Map<string, unknown>(Object.entries(after));
  const names = [...new Set([...was.keys(), ...is.keys()])].filter((name) => !plain.has(name));
  const settings = names.map((name) => [name, json(was.get(name)), json(is.get(name))] as const);
  const states = after.devices.flatMap((device, id) => {
    const then = before.devices[id] ?? null;
    if (device === null || then === null || then.state === device.state) return [];
    return [[`state of d${id}`, then.state, device.state] as const];
  });
  return [...settings, ...states]
    .filter(([, old, now]) => JSON.stringify(old) !== JSON.stringify(now))
    .map(([name, old, now]) => ({ name, before: old, after: now }));
}

/** Members of the state are plain JSON; a missing one is null. */
function json(value: unknown): Json {
  return (value ?? null) as Json;
}

export interface TierTraffic {
  readonly tier: TierKind;
  readonly name: string;
  readonly slotsIn: number;
  readonly slotsOut: number;
}

/**
 * Counts slots that moved between regions, zones and servers; names without any are omitted. A
 * device counts where the later ring has it; a removed one, where it was.
 */
export function tierTraffic(
  { before, after }: { readonly before: Ring; readonly after: Ring },
  moved: readonly MovedSlot[],
): TierTraffic[] {
  return tierKinds.slice(0, -1).flatMap((tier) => {
    const [was, is] = [before, after].map(({ devices }) => tierNamesById(devices, tier));
    const found = new Map<string, { slotsIn: number; slotsOut: number }>();
    const of = (name: string): { slotsIn: number; slotsOut: number } => {
      const known = found.get(name) ?? { slotsIn: 0, slotsOut: 0 };
      found.set(name, known);
      return known;
    };
    const nameOf = (id: number): string => is?.[id] || was?.[id] || 'gone';
    for (const { from, to } of moved) {
      const [left, joined] = [nameOf(from), nameOf(to)];
      if (left === joined) continue;
      of(left).slotsOut += 1;
      of(joined).slotsIn += 1;
    }
    return [...found].map(([name, traffic]) => ({ tier, name, ...traffic }));
  });
}
