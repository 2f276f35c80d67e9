// Tests whether a ring may follow. Every case is judged by its head, by the first bytes of its
// file, and by the whole file.
import { ringVersionJumpMax } from '@ringwright/base/limits';
import { describe, expect, test } from 'vitest';
import { testRoot } from '../../../../test/support/signing.ts';
import type { Trust } from '../trust/trust-root.ts';
import { judgeRing, type RingVerdict } from './judge-ring.ts';
import type { ChangeSize } from './large-change.ts';
import type { LocalRingState, RingCandidate } from './ring-candidate.ts';

const hex = (digit: string): string => digit.repeat(64);
const [a, b, c] = [hex('a'), hex('b'), hex('c')];
const [d, e, f] = [hex('d'), hex('e'), hex('f')];

/** A ring in a row of a table. Fields that are left out are as in the active ring. */
interface Sketch {
  readonly version: number;
  readonly id: string;
  readonly parent?: string | null;
  readonly ancestors?: readonly string[];
  readonly cluster?: string;
  readonly suffix?: string;
  readonly epoch?: number;
  readonly says?: 'small' | 'large';
  readonly moved?: number;
  readonly isUnsound?: boolean;
}

const partitioner = (suffix = '') => ({ kind: 'md5-shift', power: 2, prefix: '', suffix }) as const;
const trust: Trust = {
  id: f,
  root: testRoot(),
  keys: { root: new Map(), ring: new Map(), beacon: new Map() },
};
const sizeOf = (moved: number): ChangeSize => ({
  ...{ slots: 100, moved, unexplained: moved, given: 0, underQuorum: 0, thinned: 0, retired: 0 },
  ...{ leftBehind: 0, replicas: { before: 3, after: 3 }, joins: null, leaves: null },
});

function asHead({ version, id }: Sketch): RingCandidate {
  return { head: { keyspace: 'cities', version, id } };
}

function asStart(sketch: Sketch): RingCandidate {
  const { parent = null, ancestors, cluster = 'test', epoch, says = 'small' } = sketch;
  const signing = { root: f, logHead: null, large: says === 'large', override: null };
  const authentic = epoch === undefined ? null : { trust, signing: { ...signing, epoch } };
  return { ...asHead(sketch), manifest: { parent, ancestors, cluster }, authentic };
}

function asFile(sketch: Sketch): RingCandidate {
  const { suffix, isUnsound = false, moved } = sketch;
  const findings = isUnsound ? [{ code: 'SLOT_HOLE', message: 'slot (0, 0) has no device' }] : [];
  const change = moved === undefined ? null : sizeOf(moved);
  return {
    ...asStart(sketch),
    opened: { ring: { partitioner: partitioner(suffix) }, findings, change },
  };
}

function told(verdict: RingVerdict): string {
  switch (verdict.kind) {
    case 'same':
      return 'same';
    case 'adopt':
      return verdict.beginsEpoch ? 'adopt, new epoch' : 'adopt';
    case 'refuse':
      return verdict.error.code;
    case 'fork':
      return `fork at ${verdict.fork.version}, ${verdict.error.code}`;
  }
}

const activeAt = (version: number, id: string, parent: string) => ({
  ring: { cluster: 'test', partitioner: partitioner(), version, parent },
  id,
});

/** Version 7 is active; nothing is signed. */
const plain: LocalRingState = {
  active: activeAt(7, b, a),
  highest: { version: 7, id: b },
  ...{ alarm: null, chosen: null, epochMax: 0 },
};
const naming: LocalRingState = {
  ...plain,
  active: { id: b, ring: { ...activeAt(7, b, a).ring, ancestors: [d] } },
};
const inEpoch = (epoch: number, epochMax = epoch): LocalRingState => ({
  ...plain,
  highest: { version: 7, id: b, epoch },
  epochMax,
});
/** The file of version 7 is damaged; version 6 is active. */
const fallenBack: LocalRingState = { ...plain, active: activeAt(6, a, f) };
const fileless: LocalRingState = { ...plain, active: undefined };
const empty: LocalRingState = { ...fileless, highest: undefined };
const alarmed: LocalRingState = { ...plain, alarm: { version: 7 } };
const chosenFor = (version: number, id: string): LocalRingState => ({
  ...plain,
  chosen: { version, id },
});

type Row = readonly [
  name: string,
  standing: LocalRingState,
  sketch: Sketch,
  head: string,
  start: string,
  file: string,
];
const child: Sketch = { version: 8, id: c, parent: b };
const [older, fork, foreign] = ['RING_OLDER', 'RING_FORK', 'RING_FOREIGN'];
const lost = 'RING_FORK_SETTLED';
const [twin, twinBelow] = ['fork at 7, RING_FORK', 'fork at 6, RING_FORK'];

const rows: Record<string, readonly Row[]> = {
  'rings of the line': [
    ['the active ring', plain, { version: 7, id: b, parent: a }, 'same', 'same', 'same'],
    ['its child', plain, child, 'adopt', 'adopt', 'adopt'],
    [
      'two versions on, after a missed push',
      plain,
      { version: 9, id: d, parent: c },
      'adopt',
      'adopt',
      'adopt',
    ],
    [
      'two versions on, from a twin',
      plain,
      { version: 9, id: d, parent: c, ancestors: [e] },
      ...(['adopt', twin, twin] as const),
    ],
    [
      'two versions on, from the active ring',
      plain,
      { version: 9, id: d, parent: c, ancestors: [b, a] },
      ...(['adopt', 'adopt', 'adopt'] as const),
    ],
    [
      'further on than it names ancestors',
      plain,
      { version: 11, id: d, parent: c, ancestors: [e] },
      ...(['adopt', 'adopt', 'adopt'] as const),
    ],
    [
      'a twin of an ancestor',
      naming,
      { version: 5, id: e },
      ...(['fork at 5, RING_FORK', 'fork at 5, RING_FORK', 'fork at 5, RING_FORK'] as const),
    ],
    [
      'the largest allowed version jump',
      plain,
      { version: 7 + ringVersionJumpMax, id: d },
      'adopt',
      'adopt',
      'adopt',
    ],
    [
      'a larger version jump',
      plain,
      { version: 8 + ringVersionJumpMax, id: d },
      ...(['adopt', 'RING_VERSION_JUMP', 'RING_VERSION_JUMP'] as const),
    ],
    ['an older version', plain, { version: 5, id: e }, older, older, older],
    ['its parent', plain, { version: 6, id: a }, older, older, older],
    ['a twin of its parent', plain, { version: 6, id: e }, twinBelow, twinBelow, twinBelow],
    ['the same version twice', plain, { version: 7, id: e }, twin, twin, twin],
    ['the child of its twin', plain, { ...child, parent: e }, 'adopt', twin, twin],
    ['a child without a parent', plain, { ...child, parent: null }, 'adopt', fork, fork],
  ],
  'other rings of the name': [
    ['a child of another cluster', plain, { ...child, cluster: 'x' }, 'adopt', foreign, foreign],
    [
      'a twin of another cluster',
      plain,
      { version: 7, id: e, cluster: 'x' },
      twin,
      foreign,
      foreign,
    ],
    [
      'a twin of the parent, of another cluster',
      plain,
      { version: 6, id: e, cluster: 'x' },
      twinBelow,
      foreign,
      foreign,
    ],
    [
      'a twin of the parent, with another partitioner',
      plain,
      { version: 6, id: e, suffix: 'ff' },
      twinBelow,
      twinBelow,
      foreign,
    ],
    [
      'the parent, before partitions were split',
      plain,
      { version: 6, id: a, suffix: 'ff' },
      older,
      older,
      older,
    ],
    [
      'a child with another partitioner',
      plain,
      { ...child, suffix: 'ff' },
      'adopt',
      'adopt',
      foreign,
    ],
    [
      'a twin with another partitioner',
      plain,
      { version: 7, id: e, suffix: 'ff' },
      twin,
      twin,
      foreign,
    ],
  ],
  'the content of a ring': [
    [
      'an unsound child',
      plain,
      { ...child, isUnsound: true },
      'adopt',
      'adopt',
      'RING_AUDIT_FAILED',
    ],
    ['an unsound twin', plain, { version: 7, id: e, isUnsound: true }, twin, twin, twin],
    ['a small change', inEpoch(1), { ...child, epoch: 1, moved: 5 }, 'adopt', 'adopt', 'adopt'],
    [
      'an undeclared large change',
      inEpoch(1),
      { ...child, epoch: 1, moved: 6 },
      'adopt',
      'adopt',
      'BRAKE',
    ],
    [
      'a declared large change, whose signatures were counted',
      inEpoch(1),
      { ...child, epoch: 1, moved: 6, says: 'large' },
      ...(['adopt', 'adopt', 'adopt'] as const),
    ],
    [
      'a large change of an unsigned ring',
      plain,
      { ...child, moved: 99 },
      'adopt',
      'adopt',
      'adopt',
    ],
    [
      'an unsound large change',
      inEpoch(1),
      { ...child, epoch: 1, moved: 6, isUnsound: true },
      ...(['adopt', 'adopt', 'RING_AUDIT_FAILED'] as const),
    ],
  ],
  epochs: [
    [
      'the first signed ring',
      { ...plain, epochMax: 1 },
      { ...child, epoch: 1 },
      'adopt',
      'adopt',
      'adopt',
    ],
    [
      'a signed ring of an older version',
      { ...plain, epochMax: 1 },
      { version: 5, id: e, epoch: 1 },
      older,
      older,
      older,
    ],
    ['a child of an ended epoch', inEpoch(2), { ...child, epoch: 1 }, 'adopt', older, older],
    ['a twin of an ended epoch', inEpoch(2), { version: 7, id: e, epoch: 1 }, twin, older, older],
    ...(
      [
        ['a new epoch, far below', { version: 2, id: e, epoch: 2 }, 'adopt, new epoch'],
        ['a new epoch, beside the active', { version: 7, id: e, epoch: 2 }, 'adopt, new epoch'],
        ['of another cluster', { ...child, epoch: 2, cluster: 'x' }, foreign],
        ['a child while another epoch is expected', { ...child, epoch: 1 }, 'adopt'],
        [
          'an older version while another epoch is expected',
          { version: 5, id: e, epoch: 1 },
          older,
        ],
        [
          'the active ring while another epoch is expected',
          { version: 7, id: b, epoch: 1 },
          'same',
        ],
      ] as const
    ).map(
      ([name, sketch, verdict]): Row => [
        name,
        inEpoch(1, 2),
        sketch,
        'adopt, new epoch',
        verdict,
        verdict,
      ],
    ),
    [
      'a new epoch, unsound',
      inEpoch(1, 2),
      { ...child, epoch: 2, isUnsound: true },
      ...(['adopt, new epoch', 'adopt, new epoch', 'RING_AUDIT_FAILED'] as const),
    ],
    [
      'a new epoch with an undeclared large change',
      inEpoch(1, 2),
      { ...child, epoch: 2, moved: 6 },
      ...(['adopt, new epoch', 'adopt, new epoch', 'BRAKE'] as const),
    ],
  ],
  'servers that lost files': [
    ['the lost file', fallenBack, { version: 7, id: b, parent: a }, 'adopt', 'adopt', 'adopt'],
    [
      'the ring that is active',
      fallenBack,
      { version: 6, id: a, parent: f },
      'same',
      'same',
      'same',
    ],
    ['a version below both', fallenBack, { version: 4, id: e }, older, older, older],
    ['a twin of the lost one', fallenBack, { version: 7, id: e, parent: a }, twin, twin, twin],
    ['the child of the lost one', fallenBack, child, 'adopt', 'adopt', 'adopt'],
    ['the child of its twin', fallenBack, { ...child, parent: e }, 'adopt', twin, twin],
    ['all lost: its own', fileless, { version: 7, id: b }, 'adopt', 'adopt', 'adopt'],
    ['all lost: one below', fileless, { version: 6, id: a }, older, older, older],
    ['all lost: another of that version', fileless, { version: 7, id: e }, fork, fork, fork],
    ['all lost: the child of another', fileless, { ...child, parent: e }, 'adopt', fork, fork],
    ['all lost: further on', fileless, { version: 9, id: d, parent: c }, 'adopt', 'adopt', 'adopt'],
    [
      "all lost, another cluster's epoch is higher: one below",
      { ...inEpoch(1, 2), active: undefined },
      { version: 5, id: e, epoch: 1 },
      ...(['adopt, new epoch', older, older] as const),
    ],
    [
      'all lost: further on, of another',
      fileless,
      { version: 9, id: d, parent: c, ancestors: [e] },
      ...(['adopt', fork, fork] as const),
    ],
    ['nothing was here', empty, { version: 5, id: e, cluster: 'x' }, 'adopt', 'adopt', 'adopt'],
    [
      'nothing was here, unsound',
      empty,
      { version: 5, id: e, isUnsound: true },
      ...(['adopt', 'adopt', 'RING_AUDIT_FAILED'] as const),
    ],
  ],
  'after a fork': [
    ['the child of ours', alarmed, child, 'adopt', 'adopt', 'adopt'],
    ['one further on', alarmed, { version: 9, id: d, parent: c }, 'adopt', fork, fork],
    [
      'one further on, of ours',
      alarmed,
      { version: 9, id: d, parent: c, ancestors: [b] },
      ...(['adopt', 'adopt', 'adopt'] as const),
    ],
    [
      'our lost file',
      { ...plain, active: activeAt(5, d, f), alarm: { version: 7 } },
      { version: 7, id: b, parent: a },
      ...(['adopt', 'adopt', 'adopt'] as const),
    ],
    [
      'all lost, further on',
      { ...fileless, alarm: { version: 7 } },
      { version: 9, id: d, parent: c },
      ...(['adopt', fork, fork] as const),
    ],
    [
      'a child where no file and no version is known',
      { ...empty, alarm: { version: 7 } },
      child,
      'adopt',
      'adopt',
      'adopt',
    ],
    [
      'an operator settled the fork for it',
      chosenFor(7, e),
      { version: 7, id: e },
      'adopt',
      'adopt',
      'adopt',
    ],
    [
      'settled for one further on',
      { ...chosenFor(9, d), alarm: { version: 7 } },
      { version: 9, id: d, parent: c },
      ...(['adopt', 'adopt', 'adopt'] as const),
    ],
    ['settled for ours', chosenFor(7, b), { version: 7, id: b }, 'same', 'same', 'same'],
    ['settled for another', chosenFor(7, e), { version: 7, id: f }, twin, twin, twin],
    ['settled against it', chosenFor(7, b), { version: 7, id: e }, lost, lost, lost],
    ['settled against its parent', chosenFor(7, b), { ...child, parent: e }, 'adopt', lost, lost],
    [
      'settled against its ancestor',
      chosenFor(7, b),
      { version: 9, id: d, parent: c, ancestors: [e] },
      ...(['adopt', lost, lost] as const),
    ],
    ['a fork after the decision', chosenFor(6, a), { version: 7, id: e }, twin, twin, twin],
    ['settled for one below', chosenFor(6, e), { version: 6, id: e }, older, older, older],
    [
      "settled for another cluster's",
      chosenFor(7, e),
      { version: 7, id: e, cluster: 'x' },
      ...(['adopt', foreign, foreign] as const),
    ],
    [
      'settled for an unsound one',
      chosenFor(7, e),
      { version: 7, id: e, isUnsound: true },
      ...(['adopt', 'adopt', 'RING_AUDIT_FAILED'] as const),
    ],
  ],
};

describe.each(Object.entries(rows))('%s', (_, cases) => {
  test.each(cases)('the verdicts are as listed: %s', (...[, standing, sketch, ...wanted]) => {
    const candidates = [asHead(sketch), asStart(sketch), asFile(sketch)];
    expect(candidates.map((one) => told(judgeRing(standing, one)))).toEqual(wanted);
  });
});

test('a fork names the version and both ids', () => {
  const verdict = judgeRing(plain, asFile({ version: 8, id: c, parent: e }));
  expect(verdict).toMatchObject({ kind: 'fork', fork: { version: 7, id: b, other: e } });
});

test.each<[sketch: Sketch, message: RegExp, hint: string, details: object]>([
  [
    { version: 5, id: e },
    /^version 5 \(e{12}\) refused: 7 is the highest version seen$/,
    'push the head; to return to an old placement, revert makes a new version',
    { given: { keyspace: 'cities', version: 5, id: e }, highest: { version: 7, id: b } },
  ],
  [
    { version: 7, id: e },
    /^ring 'cities' version 7 is active with id b{12}, but was sent with id e{12}$/,
    'two folders publish this ring; find out which history is the right one',
    { active: 7, given: 7, activeId: b, givenId: e },
  ],
  [
    { ...child, cluster: 'x' },
    /^ring 'cities' version 8 belongs to cluster 'x', this server to 'test'$/,
    '',
    { active: 7, given: 8, activeId: b, givenId: c },
  ],
  [
    { ...child, isUnsound: true },
    /^ring 'cities' version 8: slot \(0, 0\) has no device$/,
    '',
    { findings: [{ code: 'SLOT_HOLE' }] },
  ],
])('a refusal names both values: case %#', (...[sketch, message, hint, details]) => {
  const error = { message: expect.stringMatching(message) as string, hint, details };
  expect(judgeRing(plain, asFile(sketch))).toMatchObject({ error });
});

test('an adopted ring never goes back or changes the line, and its head is not refused', () => {
  let adopted = 0;
  for (const standing of standings()) {
    const { highest, epochMax } = standing;
    for (const sketch of sketches(epochMax)) {
      const verdict = judgeRing(standing, asFile(sketch));
      if (verdict.kind !== 'adopt') continue;
      adopted += 1;
      const what = JSON.stringify({ standing, sketch });
      expect(judgeRing(standing, asHead(sketch)).kind, what).toBe('adopt');
      if (highest === undefined || verdict.beginsEpoch) continue;
      expect(sketch.version, what).toBeGreaterThanOrEqual(highest.version);
      if (sketch.version === highest.version) expect(sketch.id, what).toBe(highest.id);
      if (sketch.version === highest.version + 1) expect(sketch.parent, what).toBe(highest.id);
      if (sketch.version === highest.version + 2)
        expect(sketch.ancestors, what).toEqual([highest.id]);
    }
  }
  expect(adopted).toBeGreaterThan(50);
});

/** The ids that a version may have, by version. No id belongs to two versions. */
const idsOf = [[null], [a, d], [b, e], [c, f]] as const;

function sketches(epochMax: number): Sketch[] {
  const versions = [1, 2, 3].flatMap((version) =>
    (idsOf[version] ?? []).flatMap((id) =>
      (idsOf[version - 1] ?? []).flatMap((parent) =>
        (idsOf[version - 2] ?? [null]).map((before) => ({
          ...{ version, id: id ?? '', parent },
          ...(before !== null && { ancestors: [before] }),
        })),
      ),
    ),
  );
  if (epochMax === 0) return versions;
  const epochs = [1, 2].slice(0, epochMax);
  return versions.flatMap((one) => epochs.map((epoch) => ({ ...one, epoch })));
}

/** Returns the standings that two versions with two ids each, and two epochs, can lead to. */
function standings(): LocalRingState[] {
  const actives = [undefined, activeAt(1, a, f), activeAt(2, b, a), activeAt(2, e, a)];
  const disks = [1, 2].flatMap((version) =>
    (idsOf[version] ?? []).map((id) => ({ version, id: id ?? '' })),
  );
  return actives.flatMap((active) =>
    disks.flatMap((disk): LocalRingState[] => {
      // The active ring is the one on disk, or an older one.
      const isOlder = (active?.ring.version ?? 0) < disk.version;
      if (!isOlder && active?.id !== disk.id) return [];
      const unsigned = { ...plain, active, highest: disk };
      const signed = [1, 2].flatMap((epoch) =>
        [1, 2].map((epochMax) => ({ ...unsigned, epochMax, highest: { ...disk, epoch } })),
      );
      return [unsigned, ...signed, { ...unsigned, alarm: { version: 1 } }];
    }),
  );
}
