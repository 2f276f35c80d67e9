// ring-builder status: the head, what is staged, and the next command to type.
import { applyChanges } from '@ringwright/builder/apply-changes';
import { stagedChanges } from '@ringwright/repository/builder-file';
import { type OpenedRing, openRing } from '@ringwright/repository/open-ring';
import { readVersion } from '@ringwright/repository/read-version';
import { text } from '../arguments.ts';
import { nameDevice } from '../device-reference.ts';
import { lastPushed } from '../prepare-plan.ts';
import { printTable } from '../print-table.ts';
import { describeChange } from '../stage-verb.ts';
import type { Verb } from '../verb.ts';

const DEVICES_SHOWN_MAX = 50;

export const verb: Verb = {
  examples: [['$0 status cities', 'devices as they will be, what is staged, what to type next']],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const opened = await openRing(context.rings, ring);
    const { head, entries, staged } = opened;
    const changes = stagedChanges(staged);
    const stored = head === null ? null : await readVersion(context.rings, ring, 'head');
    const inFlight = stored?.ring.moves.length ?? 0;
    const pushed = lastPushed(entries);
    const next = context.next(nextWords(opened, { inFlight, pushed, changes: changes.length }));
    const state = applyChanges(opened.state, changes);
    const devices = state.devices.filter((device) => device !== null);
    return {
      json: {
        ring,
        head: head?.version ?? null,
        id: head?.id ?? null,
        staged,
        changes: changes.length,
        inFlight,
        pushed,
        devices,
        next,
      },
      lines: [
        head === null
          ? `${ring}: no version yet`
          : `${ring}: version ${head.version} (${head.id.slice(0, 12)}), ${inFlight} moves in flight`,
        pushed === null ? 'never pushed to servers' : `pushed up to version ${pushed}`,
        '',
        ...printTable(devices.slice(0, DEVICES_SHOWN_MAX), [
          { head: 'DEVICE', cell: nameDevice },
          { head: 'WEIGHT', cell: ({ weight }) => weight },
          { head: 'STATE', cell: (device) => device.state },
        ]),
        ...(devices.length > DEVICES_SHOWN_MAX ? [`… ${devices.length} devices in all`] : []),
        '',
        ...(changes.length === 0 ? ['nothing is staged'] : []),
        ...changes.map((change) => `staged: ${describeChange(change, state)}`),
      ],
      next,
    };
  },
};

function nextWords(
  { ring, head, state }: OpenedRing,
  found: { inFlight: number; pushed: number | null; changes: number },
): string {
  if (found.inFlight > 0) return `rollout ${ring}`;
  if (found.changes > 0) return `plan ${ring}`;
  if (head === null) {
    return state.devices.length > 0 ? `plan ${ring}` : `add ${ring} r1z1-10.0.0.1:6200/sdb 100`;
  }
  // Removed devices leave the ring at the end of a rollout.
  const leaving = state.devices.some((device) => device?.state === 'removed');
  if (leaving && found.pushed !== null) return `rollout ${ring}`;
  return found.pushed === head.version ? `log ${ring}` : `push ${ring}`;
}
