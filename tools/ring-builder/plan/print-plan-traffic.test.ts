// Tests the lines that a plan prints about the bytes on each device.
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { expect, test } from 'vitest';
import { linesOf } from '../cli/command.ts';
import { printPlanBytes } from './print-plan-traffic.ts';

const state = { ring: 'notes' } as BuilderState; // no other field is printed

test('nothing is printed for an empty ring, else the fullest device and a command', () => {
  const empty = { devices: [{ id: 0, before: 0, after: 0 }], guessed: 0 };
  expect(
    linesOf(printPlanBytes({ ...empty, fullest: { before: null, after: null } }, state)),
  ).toEqual([]);
  const devices = [{ id: 0, before: 3_000, after: 2_000 }];
  const full = { devices, guessed: 0, fullest: { before: 1.5, after: 1 } };
  const [, line, ...table] = linesOf(printPlanBytes(full, state));
  expect(line).toMatch(
    /^fullest device: 1\.50 x .*now, 1\.00 x .*ring-builder set notes --balance /,
  );
  expect(table).toEqual(['ID  BYTES NOW  AFTER', 'd0  3.00 kB    2.00 kB']);
});
