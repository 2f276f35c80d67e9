// Tests that a joiner that dies after loading and before its receipt does not end the rollout. The
// joiner loads again.

import { freePorts } from '@ringwright/node/free-ports';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import { expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../test/support/served-ring.ts';
import type { Context } from '../cli/command.ts';
import { provenMoves } from './proven-moves.ts';

test('no move is proven if the joiner does not answer, and the reason is reported', async () => {
  const [port = 0] = await freePorts(1);
  const first = servedRing();
  const devices = first.devices.map((one) => (one?.id === 3 ? { ...one, port } : one));
  const moves = [{ partition: 0, replica: 0, from: 0, to: 3 }];
  const [, ring] = moveVersions({ ...first, devices }, moves);
  expect(auditRing(ring)).toEqual([]);
  const told: string[] = [];
  const context = { nowMs: () => 0, tell: (line: string) => told.push(line) };
  const proven = await provenMoves(context as unknown as Context, ring, ring.moves);
  expect([proven.size, told.length]).toEqual([0, 1]);
  expect(told[0]).toContain(
    `1 loaded move is waiting for its receipt: 127.0.0.1:${port} cannot be reached`,
  );
});
