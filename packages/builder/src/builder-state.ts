// What the builder knows beyond the ring: settings and devices. In builder.json and in ring files.
import type { Device } from '@ringwright/ring/device';
import type { Partitioner } from '@ringwright/ring/partitioner';

export interface BuilderDevice extends Device {
  /** `removed`: gone or failed, given nothing; it becomes a hole when its last slot has moved away. */
  readonly state: 'active' | 'removed';
}

export interface BuilderState {
  readonly ring: string;
  readonly cluster: string;
  readonly partitioner: Partitioner;
  readonly replicas: number;
  /** A partition that moved may not move again for this many hours; 0 switches the rule off. */
  readonly minPartHours: number;
  /** How far above its weighted share a device may go for the sake of dispersion: 0.1 is 10 %. */
  readonly overload: number;
  /** By device id; null is a hole, never filled again. */
  readonly devices: readonly (BuilderDevice | null)[];
}
