// Returns the status of a healthy server for its ring, for tests that need no server.
import type { Ring } from '@ringwright/ring/ring';
import type { RingStatus } from '../../tools/ring-builder/servers/server-status.ts';
import { idOf } from './served-ring.ts';

export function wellOf(ring: Ring, device: number): RingStatus {
  const { version, keyspace } = ring;
  const id = idOf(ring);
  return {
    ...{ ring: keyspace, version, id, sinceMs: 0, disk: { version, id }, requests: [], device },
    ...{
      serving: 3,
      notReady: 0,
      damaged: [],
      failing: [],
      rate: null,
      lentMs: null,
      lacksSignature: false,
      otherLoads: [],
      loads: [],
      paused: [],
      first: [],
      surplus: 0,
    },
    ...{ held: { drops: 0, quarantines: 0 }, draining: [], rows: 0, bytes: 0, fork: null },
    ...{ freshness: { state: 'none', version: null }, refusal: '', refusalCode: null },
  };
}
