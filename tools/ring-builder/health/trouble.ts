// What is wrong with a ring on its servers: one line each, with the command that looks or helps.
import type { ErrorCode } from '@ringwright/base/errors';

/** The worst first. Only `down` is no answer at all: the others are answers that say no. */
const troubleKinds = [
  'fork',
  'damaged',
  'log lost',
  'put back',
  'unprotected',
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
  /** Null when it is the ring's, not one server's. */
  readonly address: string | null;
  readonly kind: TroubleKind;
  readonly why: string;
  /** Of a server that has not the head, by which it is advised (advice.ts). */
  readonly code?: ErrorCode;
  /** For Context.next. */
  readonly command: string;
  /** What to do and to know before. */
  readonly hint?: string;
}

export function byWeight(troubles: readonly Trouble[]): Trouble[] {
  return troubles.toSorted((a, b) => troubleKinds.indexOf(a.kind) - troubleKinds.indexOf(b.kind));
}

/** Each once, the worst first. */
export function hintsOf(troubles: readonly Trouble[]): string[] {
  return [...new Set(troubles.flatMap(({ hint }) => (hint === undefined ? [] : [hint])))];
}

/** 0 all is well · 1 something is wrong · 4 the rest is well, but somebody was not reached. */
export function exitOf(troubles: readonly Trouble[]): 0 | 1 | 4 {
  if (troubles.some(({ kind }) => kind !== 'down')) return 1;
  return troubles.length > 0 ? 4 : 0;
}
