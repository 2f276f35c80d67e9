// What is wrong with a ring on its servers: one line each, with the command that shows more or
// helps.
import type { ErrorCode } from '@ringwright/base/errors';

/** The worst first. `down` alone means no answer; the others are negative answers. */
const troubleKinds = [
  'fork',
  'damaged',
  'log lost',
  'put back',
  'unprotected',
  'unwritable',
  'disk full',
  'not ready',
  'unreadable',
  'inactive',
  'unsigned',
  'trust behind',
  'drops held',
  'no beacon',
  'apart',
  'clock',
  'stalled',
  'no access',
  'down',
  'disk low',
  'trust ends',
  'certificate ends',
] as const;
export type TroubleKind = (typeof troubleKinds)[number];

export interface Trouble {
  readonly ring: string;
  /** Null if the trouble concerns the ring, not a single server. */
  readonly address: string | null;
  readonly kind: TroubleKind;
  readonly why: string;
  /** For a server that does not have the head: the code that selects the advice (advice.ts). */
  readonly code?: ErrorCode;
  /** For Context.next. */
  readonly command: string;
  /** What to do and what to know first. */
  readonly hint?: string;
}

export function byWeight(troubles: readonly Trouble[]): Trouble[] {
  return troubles.toSorted((a, b) => troubleKinds.indexOf(a.kind) - troubleKinds.indexOf(b.kind));
}

/** Returns each hint once, the worst first. */
export function hintsOf(troubles: readonly Trouble[]): string[] {
  return [...new Set(troubles.flatMap(({ hint }) => (hint === undefined ? [] : [hint])))];
}

/** 0: all is well. 1: something is wrong. 4: some servers were not reached, the rest is well. */
export function exitOf(troubles: readonly Trouble[]): 0 | 1 | 4 {
  if (troubles.some(({ kind }) => kind !== 'down')) return 1;
  return troubles.length > 0 ? 4 : 0;
}
