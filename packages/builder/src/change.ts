// A staged change: what an operator asked for and a commit will apply, in order. Pure data.
import type { Device } from '@ringwright/ring/device';

export type Change =
  | { readonly kind: 'add'; readonly device: Device }
  | { readonly kind: 'remove'; readonly id: number }
  | { readonly kind: 'set-weight'; readonly id: number; readonly weight: number }
  | {
      readonly kind: 'set-device';
      readonly id: number;
      readonly fields: Partial<Pick<Device, 'region' | 'zone' | 'ip' | 'port' | 'device' | 'meta'>>;
    }
  | {
      readonly kind: 'set';
      readonly settings: {
        readonly replicas?: number;
        readonly minPartHours?: number;
        readonly overload?: number;
      };
    };
