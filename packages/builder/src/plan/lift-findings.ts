// Devices that hold more between the versions of a change than before and after it. Pure.
import type { Finding } from '@ringwright/base/finding';
import { someOf } from '../state/some-of.ts';
import type { LaterWaves } from './plan.ts';

/** Devices named in the message; the details name all. */
const NAMED_MAX = 3;

export interface LiftedDevice {
  readonly id: number;
  readonly before: number;
  /** The most slots it holds after any of the versions. */
  readonly most: number;
  readonly after: number;
}

/** Returns the devices, largest lift first. `held`: slots before the first wave, by device id. */
function liftedDevices(held: Int32Array, waves: LaterWaves): LiftedDevice[] {
  if (waves.length < 2) return [];
  const ids = [...new Set(waves.flatMap((moves) => moves.map(({ to }) => to)))];
  const [most, after] = [held.slice(), held.slice()];
  for (const moves of waves) {
    for (const { from, to } of moves) {
      after[to]! += 1;
      if (from !== null) after[from]! -= 1;
    }
    for (const id of ids) most[id] = Math.max(most[id]!, after[id]!);
  }
  return ids
    .map((id) => ({ id, before: held[id]!, most: most[id]!, after: after[id]! }))
    .filter((device) => liftOf(device) > 0)
    .sort((a, b) => liftOf(b) - liftOf(a) || a.id - b.id);
}

function liftOf({ before, most, after }: LiftedDevice): number {
  return most - Math.max(before, after);
}

export function liftFindings(held: Int32Array, waves: LaterWaves): Finding[] {
  const lifted = liftedDevices(held, waves);
  if (lifted.length === 0) return [];
  const words = lifted.map(
    ({ id, before, most, after }) => `d${id} ${most} slots (${before} now, ${after} afterwards)`,
  );
  return [
    {
      code: 'DEVICES_LIFTED',
      message:
        `during this change, devices hold more than before and after: ` +
        `${someOf(words, NAMED_MAX)}, because new slots and those of removed devices move first`,
      details: { devices: lifted },
    },
  ];
}
