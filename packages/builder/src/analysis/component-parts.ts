// Divides a composite ring into its components: the rows of each, with its own devices. Pure.
import type { Ring } from '@ringwright/ring/ring';
import type { BuilderState, Component } from '../state/builder-state.ts';

export interface ComponentPart {
  readonly component: Component;
  /** Replica index of its first row in the composite ring. */
  readonly firstRow: number;
  /** Its rows and their moves. Devices keep their ids in the composite ring. */
  readonly ring: Ring;
  /** Includes the component's settings if they were passed; otherwise weights alone decide. */
  readonly state: BuilderState;
}

/** Settings besides weights that determine shares. Only the component itself has them. */
export type PartSettings = Pick<BuilderState, 'overload' | 'zonesMin'>;

/** Returns no parts unless the ring is composite. `settings`: in the order of the components. */
export function componentParts(
  ring: Ring,
  state: BuilderState,
  settings: readonly (PartSettings | null)[] = [],
): ComponentPart[] {
  const { components = [], ...stateFields } = state;
  let nextRow = 0;
  return components.map((component, at) => {
    const { replicas } = component;
    const firstRow = nextRow;
    nextRow += replicas;
    const ids = new Set(component.devices);
    const devices = state.devices.map((device) => (device && ids.has(device.id) ? device : null));
    const moves = ring.moves.flatMap((move) => {
      const replica = move.replica - firstRow;
      return replica >= 0 && replica < replicas ? [{ ...move, replica }] : [];
    });
    return {
      ...{ component, firstRow },
      ring: { ...ring, replicas, moves, table: ring.table.slice(firstRow, nextRow) },
      state: { ...stateFields, ...settings[at], replicas, devices },
    };
  });
}
