// What the status shows of a load: why it waits, how far it is, why it ended.
import type { CodedError } from '@ringwright/base/coded-error';
import { loadLimits, type WaitReason } from './choose-loads.ts';
import { type LoadProgress, startedLoad } from './load-progress.ts';
import type { WaitingLoad } from './waiting-load.ts';

/** Where the loads come from is named: several servers may share an address, and a zone. */
function waitText({ source }: WaitingLoad, why: Exclude<WaitReason, 'cooldown'>): string {
  const { device, server, zone } = loadLimits;
  switch (why) {
    case 'paused':
      return 'paused by an operator';
    case 'busy':
      return 'the device it comes from has no place for one more copy';
    case 'device':
      return `${device} loads run here, the most at once`;
    case 'server':
      return `${server} loads from servers at ${source?.server} run here, the most at once`;
    case 'zone':
      return `${zone} loads from zone ${source?.zone} run here, the most at once`;
    case 'throttle':
      return 'requests go first: fewer loads run';
  }
}

/** One in a cooldown shows what its last attempt said. */
export function showWaiting(waiting: WaitingLoad, why: WaitReason): void {
  if (why === 'cooldown') return;
  const stage = why === 'paused' ? 'paused' : 'queued';
  showProgress(waiting, { stage, reason: waitText(waiting, why) });
}

export function showStopped(stopped: WaitingLoad, { message }: CodedError): void {
  showProgress(stopped, { stage: 'queued', reason: message, bytes: 0 });
}

export function showProgress(
  { keyspace, partition, assignment, notes }: WaitingLoad,
  change: Partial<LoadProgress>,
): void {
  const before = notes.progress.get(partition) ?? startedLoad({ keyspace, partition, assignment });
  // Most of the thousands that wait have said so before.
  const { stage, reason } = change;
  if (stage === 'queued' && before.stage === stage && before.reason === reason) return;
  notes.progress.set(partition, { ...before, assignment, ...change });
}
