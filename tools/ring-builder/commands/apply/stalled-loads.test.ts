// Tests that a rollout that ends because of a full disk names the disk, its free and needed space,
// and the next commands.
import { CodedError } from '@ringwright/base/coded-error';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { type MoveRow, moveRows, type StatusByDevice } from '../../moves/move-rows.ts';
import type { RingStatus, Room } from '../../servers/server-status.ts';
import { stalledLoads } from './stalled-loads.ts';

// The only slot of partition 2 moves from d2 to d1.
const [, ring] = moveVersions(servedRing({ replicas: 1 }), [
  { partition: 2, replica: 0, from: 2, to: 1 },
]);
const [move] = ring.moves;
const room = (freeBytes: number, neededBytes: number): Room => ({ freeBytes, neededBytes });

/** Returns the status of d1 and d2: a failed load, and the free bytes of the disk. */
function saying(why: Room | string, freeBytes: number): StatusByDevice {
  const told = typeof why === 'string' ? { reason: why } : { reason: 'a full disk', room: why };
  const load = { ...move, stage: 'failed', bytes: 0, bytesTotal: 0, rows: 0, ...told };
  const status = { first: [], paused: [], draining: [], failing: [], loads: [load], freeBytes };
  return new Map([1, 2].map((id) => [id, status as unknown as RingStatus]));
}

function stall(statuses: StatusByDevice) {
  const rows: readonly MoveRow[] = moveRows(ring, statuses);
  return stalledLoads({ ring, state: null }, statuses, { rows, stallMs: 60_000 });
}

test('a full disk of the joiner is named with its space and both ways out', () => {
  const { code, message, hint, details } = stall(saying(room(230_649_856, 290_000_000), 230e6));
  expect(code).toBe('ROLLOUT_STALLED');
  expect(message).toBe(
    '0 of 1 move available and nothing has changed for 60 s: the disk of d1 (127.0.0.1:6201) ' +
      'has 230.6 MB free and needs 290.0 MB, 59.4 MB more',
  );
  expect(hint).toMatch(
    /^free space on the disk of d1, where 268.4 MB must stay free, then ring-builder rollout cities; /,
  );
  expect(hint).toContain(
    'or continue without it: ring-builder moves cities cancel d1 && ' +
      "ring-builder set-weight cities d1 WEIGHT && ring-builder commit cities -m 'a disk is full'",
  );
  expect(details).toMatchObject({ disks: { 1: { neededBytes: 290_000_000 } } });
});

test('for a joiner without slots the hint suggests remove instead of a lower weight', () => {
  const table = ring.table.map((row) => row.map((id) => (id === 1 ? 2 : id)));
  const statuses = saying(room(230e6, 290e6), 230e6);
  const rows = moveRows(ring, statuses);
  const { hint } = stalledLoads({ ring: { ...ring, table }, state: null }, statuses, {
    rows,
    stallMs: 60_000,
  });
  expect(hint).toContain('cancel d1 && ring-builder remove cities d1 && ring-builder commit');
});

test('a full disk of the source is named, without commands to cancel', () => {
  const { message, hint } = stall(saying(room(230e6, 290e6), 9e9));
  expect(message).toContain('the disk of d2 (127.0.0.1:6202) has 230.0 MB free');
  expect(hint).toMatch(/^free space on the disk of d2, .*, then ring-builder rollout cities$/);
});

test('in a composite ring the hint lowers the weight in the component', () => {
  const of = { version: 1, id: 'an id', replicas: 1 };
  const components = [
    { ...of, ring: 'east', devices: [0, 2] },
    { ...of, ring: 'west', devices: [3, 1] },
  ];
  const statuses = saying(room(230e6, 290e6), 230e6);
  const state = { components, devices: [] } as unknown as BuilderState;
  const { hint } = stalledLoads({ ring, state }, statuses, {
    rows: moveRows(ring, statuses),
    stallMs: 60_000,
  });
  expect(hint).toContain(
    'or continue without it: ring-builder moves cities cancel d1 && ' +
      'ring-builder set-weight west d1 WEIGHT && ' +
      "ring-builder commit west -m 'a disk is full' && ring-builder rollout cities && " +
      'ring-builder compose cities east west && ring-builder rollout cities',
  );
});

test('without byte counts the hint is the general one, even if the reason names bytes', () => {
  const { message, hint } = stall(saying('9 bytes are free, 10 are needed', 9e9));
  expect(message).toContain('partition 2 failed: 9 bytes are free');
  expect(hint).toMatch(/^check that servers run/);
});

test('another reason of a stall gets the general hint', () => {
  const { message, hint } = stall(saying('too few holders', 9e9));
  expect(message).toContain('partition 2 failed: too few holders');
  expect(hint).toMatch(/^check that servers run/);
});

test('if the source does not answer, the hint names it and the command to force', () => {
  const statuses = new Map([...saying('d2 cannot be reached', 9e9)].slice(0, 1));
  expect(stall(statuses).hint).toMatch(/^moves need complete files of d2: .* cities force all /);
});

test('if a split fills slots on a removed server, the hint is to start it or to cancel', () => {
  // A removed server that does not answer is not in the statuses.
  const statuses = new Map([...saying('', 9e9)].slice(1));
  const rows = moveRows(ring, statuses);
  const state = { devices: [null, { id: 1, state: 'removed' }] } as unknown as BuilderState;
  const { hint } = stalledLoads({ ring, state }, statuses, { rows, stallMs: 60_000 });
  expect(hint).toBe(
    'start d1 and repeat the command: it continues where it stopped; if it will not come back: ' +
      'ring-builder moves cities cancel d1 && ' +
      "ring-builder commit cities -m 'will not come back' && ring-builder rollout cities",
  );
});

test('servers that refuse the token run: the hint is neither to remove nor to force', () => {
  const refusal = new CodedError('TOKEN_REFUSED', 'the token is not granted here');
  const statuses = new Map([1, 2].map((id) => [id, refusal]));
  const { message, hint } = stall(statuses);
  expect(message).toContain('partition 2 failed: the token is not granted here');
  expect(hint).toMatch(/^d1 d2 refuse this command: use a token with that role: [^;]*; [^;]*$/);
});
