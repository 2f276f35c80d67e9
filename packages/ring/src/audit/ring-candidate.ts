// What a server has of a ring, and what it knows about a ring that may follow. Plain data.
import type { Finding } from '@ringwright/base/finding';
import type { Ring } from '../ring.ts';
import type { AuthenticRing } from '../trust/authenticate-ring.ts';
import type { ChangeSize } from './large-change.ts';

export interface VersionId {
  readonly version: number;
  readonly id: string;
}

/** The rings that a server has of one keyspace. */
export interface LocalRingState {
  /** Undefined before the first ring, and when no ring file was intact. */
  readonly active:
    | {
        readonly ring: Pick<Ring, 'cluster' | 'partitioner' | 'version' | 'parent' | 'ancestors'>;
        readonly id: string;
      }
    | undefined;
  /** The highest version that was ever active, as stored on disk; unsigned rings have no epoch. */
  readonly highest: (VersionId & { readonly epoch?: number }) | undefined;
  /** The fork that no operator has settled. */
  readonly alarm: { readonly version: number } | null;
  /** The ring that an operator chose as the right one. */
  readonly chosen: VersionId | null;
  /** The highest epoch of a trusted root; 0 when rings need no signatures. */
  readonly epochMax: number;
}

/** A ring that may follow, with as much of it as is known. */
export interface RingCandidate {
  readonly head: VersionId & { readonly keyspace: string };
  readonly manifest?: Pick<Ring, 'cluster' | 'parent' | 'ancestors'>;
  /** Null when rings need no signatures. */
  readonly authentic?: Pick<AuthenticRing, 'signing' | 'trust'> | null;
  readonly opened?: {
    readonly ring: Pick<Ring, 'partitioner'>;
    readonly findings: readonly Finding[];
    /** How much it changes of the active ring; null when that is not its parent. */
    readonly change: ChangeSize | null;
  };
}
