// What a server reports, and what its cluster demands: the input of health's judgement. Pure data.
import type { CodedError } from '@ringwright/base/coded-error';
import type { RingStatus, ServerStatus } from '../servers/server-status.ts';
import type { Trouble, TroubleKind } from './trouble.ts';

export interface ServerReport {
  readonly address: string;
  readonly devices: readonly number[];
  /** Servers that have the ring and have run long enough to know each other. */
  readonly others: ReadonlySet<string>;
  /** The peers that it reports, by their request addresses. */
  readonly peers: ServerStatus['peers'];
  /** How many servers of the ring have a connection to it. */
  readonly seenBy: number;
  readonly demands: Demands;
  /** The whole status, and its part on the ring. */
  readonly status: ServerStatus | CodedError;
  readonly ringStatus: RingStatus | CodedError;
}

/** What some server of the ring demands. A server that does not demand it lets everybody in. */
export interface Demands {
  readonly trust: boolean;
  readonly tls: boolean;
  /** Signed rings, demanded by a server that runs without --insecure-listen. */
  readonly access: boolean;
}

/** Makes a trouble of the server that is being judged. */
export type Make = (kind: TroubleKind, why: string, command: string) => Trouble;
