// One operation of a history: what a client asked for, and what it got.
import type { Stamp } from '@ringwright/base/stamp';

export interface Operation {
  readonly kind: 'write' | 'delete' | 'read';
  readonly key: string;
  /** Value written or read; null for a delete, and for a read that found nothing. */
  readonly value: string | null;
  readonly invokedMs: number;
  readonly returnedMs: number;
  /**
   * rejected: certainly not stored. unknown: may appear later, once. superseded: stored, but older.
   */
  readonly outcome: 'acked' | 'superseded' | 'rejected' | 'unknown';
  /** Null if the answer contained none. */
  readonly stamp: Stamp | null;
  /** The stamp of the write that superseded it. */
  readonly newer?: Stamp | null;
  readonly port: number;
  /** Default: quorum. */
  readonly level?: 'one' | 'quorum' | 'all';
  /** The session whose token was sent with it. */
  readonly session?: string;
  /** Code of the refusal, or what broke the connection. */
  readonly reason?: string;
}
