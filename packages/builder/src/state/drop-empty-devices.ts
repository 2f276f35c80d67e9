// Turns removed devices that are out of the ring for good into holes. Pure.
import type { Ring } from '@ringwright/ring/ring';
import type { BuilderState } from './builder-state.ts';

/** The state in which every removed device without slot and without move in `ring` is a hole. */
export function dropEmptyDevices(state: BuilderState, ring: Ring | null): BuilderState {
  if (!state.devices.some((device) => device?.state === 'removed')) return state;
  const used = new Uint8Array(state.devices.length);
  for (const row of ring?.table ?? []) for (const id of row) used[id] = 1;
  for (const move of ring?.moves ?? []) {
    if (move.from !== null) used[move.from] = 1;
    used[move.to] = 1;
  }
  const devices = state.devices.map((device) =>
    device?.state === 'removed' && used[device.id] === 0 ? null : device,
  );
  return { ...state, devices };
}
