// Turns removed devices into holes once they no longer appear in the ring. Pure.
import type { Ring } from '@ringwright/ring/ring';
import type { BuilderState } from './builder-state.ts';

/** Returns the state with a hole for every removed device without slot and move in `ring`. */
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
