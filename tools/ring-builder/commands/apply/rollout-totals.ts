// Totals of one rollout, and their wording. Pure.
import { counted } from '@ringwright/base/counted';
import { linesOf } from '../../cli/command.ts';
import { printBytes, printSeconds } from '../../cli/print-bytes.ts';

/** Data loaded for moves, as the joiners count it. */
export interface Loaded {
  /** Bytes that crossed the network, and copies that passed every check. */
  readonly bytes: number;
  readonly verified: number;
  /** Slots of a split or merge, which devices fill from their own files of the parents. */
  readonly filled: { readonly slots: number; readonly bytes: number };
}

export interface RolloutTotals extends Loaded {
  moved: number;
  bytes: number;
  verified: number;
  filled: Loaded['filled'];
  copyMs: number;
  versions: number;
  waves: number;
  /**
   * Consecutive rounds in which loaded moves had no receipts, because their joiners had just died.
   */
  unproved: number;
  /** Addresses of unreachable servers that still have old files to drop. */
  leftTo: ReadonlySet<string>;
  /** The unreachable servers last reported, as text. */
  shownAway: string;
}

export const nothingLoaded: Loaded = { bytes: 0, verified: 0, filled: { slots: 0, bytes: 0 } };

export const noTotals: RolloutTotals = {
  ...{ ...nothingLoaded, moved: 0, copyMs: 0 },
  ...{ versions: 0, waves: 0, unproved: 0 },
  leftTo: new Set(),
  shownAway: '',
};

export function addLoaded(a: Loaded, b: Loaded): Loaded {
  return {
    bytes: a.bytes + b.bytes,
    verified: a.verified + b.verified,
    filled: { slots: a.filled.slots + b.filled.slots, bytes: a.filled.bytes + b.filled.bytes },
  };
}

/** Returns the end of the first line of an answer, and the lines below it. */
export function totalsText(totals: Readonly<RolloutTotals>): {
  readonly all: string;
  readonly lines: readonly string[];
} {
  const { moved, bytes, verified, filled, copyMs, versions } = totals;
  const time = timeOf(copyMs);
  const copied = moved - filled.slots;
  const parts = [
    ...(copied > 0 || verified > 0
      ? [`${counted(copied, 'slot')} moved, ${counted(verified, 'copy', 'copies')} verified`]
      : []),
    ...(filled.slots > 0
      ? [`${counted(filled.slots, 'slot')} filled from the files of their parents`]
      : []),
  ];
  return {
    // Versions that complete a removal load nothing.
    all:
      parts.length === 0 ? `${counted(versions, 'new version')}, no slot moved` : parts.join('; '),
    lines: linesOf([
      copied > 0 && `${printBytes(bytes)} copied${time}`,
      filled.slots > 0 &&
        `${printBytes(filled.bytes)} filled${time} on the devices of the parents: nothing crossed the network`,
    ]),
  };
}

/** Returns no time if the copies were ready almost at once: it would not tell their speed. */
function timeOf(copyMs: number): string {
  return copyMs < 1_000 ? '' : ` in ${printSeconds(copyMs / 1_000)}`;
}
