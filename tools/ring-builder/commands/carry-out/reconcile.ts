// ring-builder reconcile: compares the head with the disks of its devices.

import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { text } from '../../cli/arguments.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import type { Verb } from '../../cli/verb.ts';
import { askMoves } from '../../moves/ask-moves.ts';
import { moveRows } from '../../moves/move-rows.ts';
import { stuckOf } from '../../moves/stuck-moves.ts';
import { countedTargets } from '../../servers/ring-targets.ts';
import { silentExit, silentLines } from '../../servers/silent-servers.ts';
import { listDisks } from './list-disks.ts';
import { type DiskFinding, type DiskFindingKind, reconcileRing } from './reconcile-ring.ts';

/** --json lists all findings. */
const FINDINGS_SHOWN_MAX = 50;

/** From the most to the least urgent. */
const kinds: readonly DiskFindingKind[] = [
  'no-complete-copy',
  'damaged',
  'absent',
  'partial',
  'unassigned',
  'duplicated',
];

export const verb: Verb = {
  examples: [['$0 reconcile cities', 'exit code 1 when the disks are not as the ring says']],
  run: async (args, context) => {
    const name = text(args, 'ring');
    const { ring, state, id } = await readVersion(context.rings, name, 'head');
    const targets = countedTargets(ring, state);
    const { listings, away } = await listDisks(ring, targets);
    const { findings, joining, slots, complete } = reconcileRing(ring, listings);
    const worst = findings.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
    const counts = kinds.map((kind) => of(kind, findings)).filter(({ count }) => count > 0);
    const first = worst[0];
    const said = await askMoves(ring, ring.moves.length > 0 ? targets : []);
    const stuck = stuckOf({ ring, state }, moveRows(ring, said), said);
    return {
      json: {
        ...{ ring: name, version: ring.version, id, slots, complete, joining, counts },
        findings: worst.map((one) => ({ ...one, command: context.next(one.command) })),
        away,
      },
      lines: [
        `${name} version ${ring.version}: ${
          listings.length === 0 && away.length > 0
            ? `no server answered, so nothing is known of its ${counted(slots, 'slot')}`
            : `${complete} of ${counted(slots, 'slot')} with a complete file`
        }`,
        ...(joining > 0
          ? [
              `${counted(joining, 'file')} beside that ${joining === 1 ? 'is' : 'are'} filled by moves, as planned`,
            ]
          : []),
        ...counts.map(
          ({ kind, count, bytes }) => `${kind}: ${counted(count, 'file')}, ${printBytes(bytes)}`,
        ),
        ...silentLines(away, 'operator'),
        ...(stuck === null ? [] : [stuck.text]),
        ...(worst.length === 0 ? [] : ['', ...table(worst.slice(0, FINDINGS_SHOWN_MAX))]),
        ...(worst.length > FINDINGS_SHOWN_MAX ? [`… ${worst.length} in all`] : []),
      ],
      next: context.next(
        first?.command ??
          (stuck?.isForGood === true ? stuck.command : null) ??
          (away.length > 0
            ? `servers ${name}`
            : `${ring.moves.length > 0 ? 'rollout' : 'status'} ${name}`),
      ),
      exit: findings.length > 0 || stuck !== null ? 1 : silentExit(away),
    };
  },
};

function of(
  kind: DiskFindingKind,
  findings: readonly DiskFinding[],
): { kind: DiskFindingKind; count: number; bytes: number } {
  const found = findings.filter((one) => one.kind === kind);
  return { kind, count: found.length, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function table(findings: readonly DiskFinding[]): string[] {
  return printTable(findings, [
    { head: 'PARTITION', cell: ({ partition }) => partition },
    { head: 'DEVICE', cell: ({ device }) => (device === null ? '-' : `d${device}`) },
    { head: 'FINDING', cell: ({ kind }) => kind },
    { head: 'BYTES', cell: ({ bytes }) => printBytes(bytes) },
    { head: 'WHY', cell: ({ why }) => why },
    { head: 'COMMAND', cell: ({ command }) => `ring-builder ${command}` },
  ]);
}
