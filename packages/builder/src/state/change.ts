// A staged change: what an operator asked for and a commit will apply, in order. Pure data.
import type { Device } from '@ringwright/ring/device';
import type { DeviceHold, PartitionSizes, Pin, WeightRamp } from './builder-state.ts';

export type Change =
  | {
      readonly kind: 'add';
      readonly device: Device;
      readonly tokens?: readonly number[];
      /** A device that leaves: the new one takes its slots, its tokens and its place in pins. */
      readonly replaces?: number;
    }
  | { readonly kind: 'remove'; readonly id: number }
  | { readonly kind: 'set-weight'; readonly id: number; readonly weight: number }
  | {
      readonly kind: 'set-device';
      readonly id: number;
      /** An empty key takes the key away, and null the replication address. */
      readonly fields: Partial<
        Pick<Device, 'region' | 'zone' | 'ip' | 'port' | 'device' | 'meta' | 'key'>
      > & { readonly replication?: Device['replication'] | null };
    }
  | { readonly kind: 'hold'; readonly id: number; readonly hold: DeviceHold | null }
  | { readonly kind: 'ramp'; readonly id: number; readonly ramp: WeightRamp | null }
  /** Behind which hashes, or before which keys, a partition is cut. */
  | {
      readonly kind: 'split';
      readonly partition: number;
      readonly at: readonly (number | string)[];
    }
  | { readonly kind: 'merge'; readonly partitions: readonly [number, number] }
  /** Ranges that lie before a key are given up with their records. */
  | { readonly kind: 'retire'; readonly before: string }
  /** Replaces what is pinned of the partition; empty lists unpin it. */
  | { readonly kind: 'pin'; readonly pin: Pin }
  | {
      readonly kind: 'set';
      readonly settings: {
        readonly replicas?: number;
        readonly minPartHours?: number;
        readonly overload?: number;
        /** 0 gives the rule up. */
        readonly zonesMin?: number;
        readonly restedThrough?: number;
        /** All partitions are split, or merged, to 2 to this power. */
        readonly partitionPower?: number;
        /** Null: counts decide alone again. */
        readonly sizes?: PartitionSizes | null;
      };
    };
