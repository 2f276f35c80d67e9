// What one rollout has done so far, and the words for it. Pure.
import { counted } from '@ringwright/base/counted';
import { printBytes, printSeconds } from '../../cli/print-bytes.ts';

/** Of moves: what came for them, as their devices count it. */
export interface Loaded {
  /** What crossed the network, and copies of which every check was passed. */
  readonly bytes: number;
  readonly verified: number;
  /** Slots of a split or merge, which devices fill from the files of the parents that they have. */
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
  /** Rounds on end in which loaded moves had no receipts, because their joiners had just died. */
  unproved: number;
  /** Addresses of servers that could not be reached, to which old files were left. */
  leftTo: ReadonlySet<string>;
  /** Servers that were told of as away. */
  toldAway: string;
}

export const nothingLoaded: Loaded = { bytes: 0, verified: 0, filled: { slots: 0, bytes: 0 } };

export const noTotals: RolloutTotals = {
  ...{ ...nothingLoaded, moved: 0, copyMs: 0 },
  ...{ versions: 0, waves: 0, unproved: 0 },
  leftTo: new Set(),
  toldAway: '',
};

export function addLoaded(a: Loaded, b: Loaded): Loaded {
  return {
    bytes: a.bytes + b.bytes,
    verified: a.verified + b.verified,
    filled: { slots: a.filled.slots + b.filled.slots, bytes: a.filled.bytes + b.filled.bytes },
  };
}

/** The end of the first line of an answer, and the lines below it. */
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
    // Ends of removals load nothing.
    all:
      parts.length === 0 ? `${counted(versions, 'new version')}, no slot moved` : parts.join('; '),
    lines: [
      ...(copied > 0 ? [`${printBytes(bytes)} copied${time}`] : []),
      ...(filled.slots > 0
        ? [
            `${printBytes(filled.bytes)} filled${time}, where the parents lie: none crossed the network`,
          ]
        : []),
    ],
  };
}

/** Nothing where most was there at the first look: a time would say little of the copies. */
function timeOf(copyMs: number): string {
  return copyMs < 1_000 ? '' : ` in ${printSeconds(copyMs / 1_000)}`;
}
