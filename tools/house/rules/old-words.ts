// The words that the glossary has replaced, and their replacements. Pure data.

interface OldWord {
  /** Parts of a name: `settle` is a part of `settleKey` and of `onSettled`. */
  readonly pieces: readonly string[];
  readonly instead: string;
  /**
   * Names that stay: fields of messages, files and answers, which no rename changes, and the one
   * meaning that the word still has.
   */
  readonly stay?: readonly string[];
  /** Whether tests may use it. */
  readonly isInTests?: true;
}

export const oldWords: readonly OldWord[] = [
  { pieces: ['mover', 'movers'], instead: 'reconciler' },
  {
    pieces: ['brake', 'brakes', 'braked'],
    instead: 'change guard or drop guard',
    stay: ['brake', 'BRAKE'],
  },
  { pieces: ['stranger', 'strangers'], instead: 'unknown peer', stay: ['stranger'] },
  { pieces: ['seal', 'seals', 'sealed', 'sealing'], instead: 'keyed checksum', stay: ['seal'] },
  { pieces: ['pace', 'paces', 'paced'], instead: 'throttle or rate', stay: ['copyPace'] },
  { pieces: ['reclaim', 'reclaims', 'reclaimed'], instead: 'catch up' },
  { pieces: ['shelf', 'shelves'], instead: 'ring cache' },
  { pieces: ['befall', 'befalls'], instead: 'fault' },
  { pieces: ['fate', 'fates'], instead: 'fault or schedule' },
  { pieces: ['scene', 'scenes'], instead: 'scenario' },
  { pieces: ['vacuous', 'vacuity'], instead: 'coverage' },
  {
    pieces: ['told', 'said', 'heard', 'hear', 'unheard', 'untold', 'plight', 'plights', 'deaf'],
    instead: 'the noun of what it is: status, answer, reply, report, failure',
    stay: ['said', 'unheard', 'deaf'],
    isInTests: true,
  },
  {
    pieces: ['settle', 'settles', 'settled', 'settling'],
    instead: 'what it is: converge, drain, finish, complete; only an operator settles a fork',
    stay: [
      ...['settle', 'settled', 'allSettled', 'ringSettle', 'RING_FORK_SETTLED', 'onSettled'],
      ...['settleOn', 'settleAndSend', 'SettleWith', 'SettleOutcome'],
    ],
  },
];

/** Whole names that must not return, each with its replacement. */
export const oldNames: readonly (readonly [string, string])[] = [
  ['spreadRecord', 'quorumWrite'],
  ['gatherReads', 'quorumRead'],
  ['decideKey', 'propose'],
  ['Promises', 'PreparedBallots'],
  ['Turns', 'KeyedMutex'],
  ['DeviceLife', 'DeviceGeneration'],
  ['Rest', 'Cooldown'],
  ['Soon', 'MaybePromise'],
  ['inWaves', 'mapConcurrent'],
  ['orCoded', 'resultOrError'],
  ['onlyMissing', 'nullIfMissing'],
  ['wasPutBack', 'isRestored'],
  ['bearYoung', "the name of V8's flag"],
];
