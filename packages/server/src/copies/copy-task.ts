// The request for a copy of a whole partition, its result, and the ways in which it may be cut off.
import { CodedError } from '@ringwright/base/coded-error';
import { isPeerCode } from '@ringwright/base/errors';
import type { CopyDescription } from '@ringwright/partition/copy/copy-manifest';
import type { Store } from '@ringwright/partition/store';
import { copyClose } from '@ringwright/wire/copies';
import type { DeviceCaller, DeviceTarget } from '../peers/device-caller.ts';
import { quorumFloor } from '../peers/quorum-floor.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { CopyThrottle } from './copy-throttle.ts';
import type { PartialCopies } from './partial-copies.ts';

export interface CopyPorts {
  readonly store: Store;
  readonly devices: DeviceCaller;
  readonly throttle: CopyThrottle;
  readonly partial: PartialCopies;
}

export interface CopyTask {
  readonly active: ActiveRing;
  readonly partition: number;
  readonly assignment: number | null;
  readonly source: number;
  /** An operator forced the load: other holders are not asked to confirm it. */
  readonly isForced?: boolean | undefined;
  readonly onBytes: (done: number, total: number) => void;
  /** Called when all bytes are here. */
  readonly onReceived: () => void;
  /** Called with the reason when the copy takes another, slower way: an operator should know. */
  readonly onDetour: (reason: string) => void;
}

export interface CopyResult {
  /** Incarnation of the source's file, and the sequence up to which the copy contains it. */
  readonly incarnation: string;
  readonly seq: number;
  readonly digest: string;
  readonly bytes: number;
  readonly rows: number;
  /**
   * Set for a packed partition, which has all that the source has: whether there are promises too.
   */
  readonly hasPromises?: boolean;
}

/**
 * Returns how to ask for the highest marks that the copy may have. Without this limit, a lying
 * source could have local records dropped, or keep out writes. Undefined for a forced load.
 */
export function marksMaxOf(
  { devices }: CopyPorts,
  { active, partition, isForced }: CopyTask,
): CopyDescription['marksMax'] {
  if (isForced === true) return undefined;
  return async () => {
    const nowMs = Date.now();
    return { floorMs: await quorumFloor(devices, { active, partition }, nowMs), barrierMs: nowMs };
  };
}

/**
 * Releases a copy at the source. If this call is lost, the source releases the idle copy by itself.
 */
export async function release(
  devices: DeviceCaller,
  to: DeviceTarget,
  copy: string,
): Promise<void> {
  await Promise.resolve(devices.call(to, copyClose, { copy })).catch(() => undefined);
}

/**
 * Whether the copy was cut off, so what has come is good. PEER_FAILED is different: the source sent
 * something that was not asked for.
 */
export function isCut(error: unknown): error is CodedError {
  if (!(error instanceof CodedError)) return false;
  return error.code === 'COPY_CUT' || (isPeerCode(error.code) && error.code !== 'PEER_FAILED');
}

export function cutOff(
  { incoming, source }: { readonly incoming: { readonly received: number }; source: number },
  bytes: number,
  cause: CodedError,
): CodedError {
  const done = `${incoming.received} of ${bytes} bytes`;
  const message = `the copy from d${source} was cut off after ${done}: ${cause.message}`;
  return new CodedError('COPY_CUT', message, { hint: 'it resumes from there by itself', cause });
}

/**
 * Returns in how many ms (at least 1) a busy device wants to be asked again; `usualMs` if the
 * refusal names no valid time.
 */
export function retryAfterMs(refusal: unknown, usualMs: number): number {
  const ms = refusal instanceof CodedError ? refusal.details.retryAfterMs : null;
  return typeof ms === 'number' && ms >= 1 ? ms : usualMs;
}
