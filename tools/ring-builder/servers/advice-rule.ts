// Advice on what to type next, and the rules that give it. Pure data.
import type { ErrorCode } from '@ringwright/base/errors';
import type { Ring } from '@ringwright/ring/ring';
import type { Standing } from './gone-for-good.ts';

/** A server that did not take a version, and its refusal, or PEER_UNREACHABLE and the like. */
export interface ServerFailure {
  readonly address: string;
  readonly devices: readonly number[];
  readonly code: ErrorCode;
  /** The server reported a ring of another history. */
  readonly isOther?: boolean;
  /** The id of the key that the server proved, if the ring names another one. */
  readonly key?: string;
}

export interface AdviceContext extends Standing {
  readonly ring: Standing['ring'] & Pick<Ring, 'version' | 'table'>;
  /** The highest version in the folder. */
  readonly head?: number;
  /** Whether the ring was ever sent to a server. */
  readonly pushed: boolean;
  /** Which servers this version reached, according to the log; absent: none. */
  readonly taken?: 'some' | 'all';
  /** off: this folder has no trust.json. missing: the version was made before it had one. */
  readonly signing: 'off' | 'missing' | 'on';
  /** The folder's access document and its missing signatures; null: none; absent: not read. */
  readonly access?: { readonly version: number; readonly missing: number } | null;
}

export interface Advice {
  /** For Context.next. */
  readonly command: string;
  /** What to do and what to know first, in one sentence. */
  readonly text: string;
}

type Failures = readonly [ServerFailure, ...ServerFailure[]];
export type AdviceRule = (context: AdviceContext, failures: Failures) => Advice;
