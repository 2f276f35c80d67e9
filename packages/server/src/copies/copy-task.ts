// What is asked for when a whole partition file is brought here, and how it may break off.
import { CodedError } from '@ringwright/base/coded-error';
import { isPeerCode } from '@ringwright/base/errors';
import type { Store } from '@ringwright/partition/store';
import { copyClose } from '@ringwright/wire/copies';
import type { DeviceCaller, DeviceTarget } from '../peers/device-caller.ts';
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
  readonly onBytes: (done: number, total: number) => void;
  /** All bytes are here. */
  readonly onReceived: () => void;
  /** It comes another, slower way, and why: an operator should know. */
  readonly onDetour: (reason: string) => void;
}

export interface CopyResult {
  /** Incarnation of the source's file, and the sequence up to which the copy holds it. */
  readonly incarnation: string;
  readonly seq: number;
  readonly digest: string;
  readonly bytes: number;
  readonly rows: number;
  /** Of a packed partition, which has all that the source has: whether that has promises too. */
  readonly hasPromises?: boolean;
}

/** The source releases an idle copy by itself if this does not arrive. */
export async function release(
  devices: DeviceCaller,
  to: DeviceTarget,
  copy: string,
): Promise<void> {
  await Promise.resolve(devices.call(to, copyClose, { copy })).catch(() => undefined);
}

/** What came is good: PEER_FAILED says that the source gave something else than was asked for. */
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
  return new CodedError('COPY_CUT', message, { hint: 'it goes on from there by itself', cause });
}

/**
 * When a device that was busy wants to be asked again, in ms, at least 1; `usualMs` where the
 * refusal says nothing, or nothing that is a time.
 */
export function retryAfterMs(refusal: unknown, usualMs: number): number {
  const ms = refusal instanceof CodedError ? refusal.details.retryAfterMs : null;
  return typeof ms === 'number' && ms >= 1 ? ms : usualMs;
}
