// Tests the text that explains why partitions are not ready, from the status of the servers.
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { wellOf } from '../../../test/support/ring-status.ts';
import { servedRing } from '../../../test/support/served-ring.ts';
import { notReadyText } from './not-ready.ts';
import type { RingStatus } from './server-status.ts';

const ring = servedRing();

function asked(device: number, ringStatus: Partial<RingStatus> | CodedError) {
  const address = `127.0.0.1:620${device}`;
  return {
    address,
    ringStatus:
      ringStatus instanceof Error ? ringStatus : { ...wellOf(ring, device), ...ringStatus },
  };
}

const refill = (partition: number, reason = '') => {
  const load = { partition, assignment: null, stage: 'queued' as const, reason };
  return { ...load, bytes: 0, bytesTotal: 0, rows: 0, copiesVerified: 0 };
};

test('the text is empty if all partitions are ready', () => {
  expect(notReadyText([])).toBe('');
  expect(notReadyText([asked(0, {}), asked(1, {})])).toBe('');
});

test('each reason is shown with its number of partitions, in descending order', () => {
  const full = { notReady: 1, loads: [refill(2, 'DISK_FULL: 9 MB free')] };
  const filling = { notReady: 3, loads: [refill(0), refill(1)] };
  const away = new CodedError('PEER_UNREACHABLE', '127.0.0.1:6203 cannot be reached');
  const all = [asked(0, full), asked(1, filling), asked(2, filling), asked(3, away)];
  expect(notReadyText(all)).toBe(
    '7 partitions are not ready yet (6 on 2 servers: refilling from other holders; ' +
      '1 on 127.0.0.1:6200: partition 2 queued: DISK_FULL: 9 MB free; ' +
      '127.0.0.1:6203 cannot be reached)',
  );
});

test('a failing step is shown if no refill explains the state better', () => {
  const failing = [{ step: 'opening files', reason: 'EACCES' }];
  const text = notReadyText([asked(0, { notReady: 1, failing })]);
  expect(text).toContain('1 on 127.0.0.1:6200: opening files fails: EACCES');
  const new1 = notReadyText([asked(0, { notReady: 1 })]);
  expect(new1).toBe('1 partition is not ready yet (1 on 127.0.0.1:6200: opening files)');
  // The move of another partition is not a reason.
  const load = { ...refill(3, 'paused'), assignment: 7 };
  expect(notReadyText([asked(0, { notReady: 1, loads: [load] })])).toContain('opening files');
});
