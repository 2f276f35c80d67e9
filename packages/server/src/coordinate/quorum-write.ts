// Sends one record to every device of its slots and waits for as many slots as the level needs.
import { CodedError } from '@ringwright/base/coded-error';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import { newcomersOf, type Slot } from '@ringwright/ring/slots-of';
import { ringHeadSchema } from '@ringwright/wire/hello';
import type { RequestOf } from '@ringwright/wire/message';
import { recordWrite } from '@ringwright/wire/records';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { WireContent } from '../replica/wire-record.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { slotDevices, tallySlots } from './slot-acks.ts';

export interface RecordToSpread extends WireContent {
  readonly partition: number;
  readonly key: Uint8Array;
  /** A holder gave it to a read: it may be older than what holders take from writers. */
  readonly repair?: true;
}

interface Spread {
  readonly active: ActiveRing;
  readonly slots: readonly Slot[];
  readonly record: RecordToSpread;
  readonly needed: number;
  /** Devices known to hold this very record: they count as acknowledged and are not asked. */
  readonly holders?: readonly number[];
  /** Only this very record counts: a device that holds something newer has not taken it. */
  readonly exact?: boolean;
}

export interface SpreadResult {
  /** The newest stamp a device answered 'stale' with; null when none did. */
  readonly newer: Stamp | null;
}

/**
 * Resolves when `needed` slots have the record (or something newer) durably; the other devices go
 * on meanwhile. Rejects when `needed` cannot be reached any more: with OutdatedRing when a device
 * knows a newer ring, with UndecidedKey when a promise kept the record out, else with
 * NOT_ENOUGH_REPLICAS and what each device said.
 */
export function quorumWrite(devices: DeviceCaller, spread: Spread): Promise<SpreadResult> {
  const { active, slots, record, needed, holders = [], exact = false } = spread;
  const isKept = (kind: string): boolean => kind === 'promised' || (exact && kind === 'stale');
  const request = requestOf(active, record);
  const takers = slotDevices(slots);
  // Devices of slots that the table does not have yet get the record too, and count for nothing.
  takers.push(...newcomersOf(active.ring, record.partition));
  const asked = takers.filter((device) => !holders.includes(device));
  const answered = new Map<number, boolean>();
  for (const holder of holders) answered.set(holder, true);
  const said = new Map<number, string>();
  let isStored = false;
  let newer: Stamp | null = null;
  let outdated: OutdatedRing | null = null;
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      const tally = tallySlots(slots, answered, needed);
      if (tally.acked >= needed) resolve({ newer });
      else if (tally.possible < needed) fail(tally.acked);
    };
    const fail = (acked: number): void => {
      const isOpen = said.size < asked.length;
      const outcome = isOpen || isStored ? 'unknown' : 'rejected';
      const tooFew = (): CodedError =>
        tooFewSlots(acked, { slots: slots.length, needed, said, outcome });
      if (outdated !== null) reject(new OutdatedRing(outdated, outdated.device, outcome));
      else if ([...said.values()].some(isKept)) reject(new UndecidedKey(tooFew()));
      else if (isStored || !isOpen) reject(tooFew());
      // Else every answer so far is a certain refusal: with those still open that can be said.
    };
    for (const device of asked) {
      Promise.resolve(devices.call({ active, device }, recordWrite, request)).then(
        (answer) => {
          answered.set(device, !isKept(answer.kind));
          said.set(device, answer.kind);
          isStored ||= answer.kind === 'stored';
          if (answer.kind === 'stale' && (newer === null || compareStamps(answer, newer) > 0)) {
            newer = { ms: answer.ms, tie: answer.tie };
          }
          finish();
        },
        (error: unknown) => {
          answered.set(device, false);
          said.set(device, error instanceof CodedError ? error.code : String(error));
          isStored ||= mayBeStored(error);
          outdated ??= outdatedRing(error, { active, device });
          finish();
        },
      );
    }
    finish();
  });
}

/** Most records have neither expiry nor origin: one literal costs a fifth of copies of copies. */
function requestOf({ ring }: ActiveRing, record: RecordToSpread): RequestOf<typeof recordWrite> {
  const { partition, key, value, ms, tie, expiresMs, origin, repair } = record;
  const { keyspace, version: ringVersion } = ring;
  const isLong = expiresMs || origin || repair;
  if (isLong) return { keyspace, ringVersion, ...record };
  return { keyspace, ringVersion, partition, key, value, ms, tie };
}

/** Whether a write that failed may still be read later, once, at its timestamp. */
export type FailedWriteOutcome = 'rejected' | 'unknown';

/** Whether the record may be stored all the same: a lost answer, a failure in the middle. */
export function mayBeStored(error: unknown): boolean {
  return !(error instanceof CodedError) || error.outcome !== 'not-done';
}

/** Thrown when others are at work on the key by rounds, or left one half done: one has to decide. */
export class UndecidedKey extends CodedError {
  constructor({ message, hint, details }: CodedError) {
    super('NOT_ENOUGH_REPLICAS', message, { hint, details });
  }
}

/**
 * Thrown when a device refused because it knows a newer ring than the request was made with.
 * `outcome`: whether another device may have stored the record of this attempt.
 */
export class OutdatedRing extends CodedError {
  readonly device: number;

  constructor(
    { message, hint, details }: CodedError,
    device: number,
    outcome?: FailedWriteOutcome,
  ) {
    super('RING_STALE', message, { hint, details: { ...details, ...(outcome && { outcome }) } });
    this.device = device;
  }
}

/** The refusal of a device that has a newer ring than `active`; null for any other error. */
export function outdatedRing(
  error: unknown,
  asked: { readonly active: ActiveRing; readonly device: number },
): OutdatedRing | null {
  if (!(error instanceof CodedError) || error.retry !== 'after-ring') return null;
  const head = ringHeadSchema.safeParse(error.details.head);
  const newer = head.success && head.data.version > asked.active.ring.version;
  return newer ? new OutdatedRing(error, asked.device) : null;
}

/** NOT_ENOUGH_REPLICAS with what each device said; `outcome` when it was a write. */
export function tooFewSlots(
  acked: number,
  tried: {
    readonly slots: number;
    readonly needed: number;
    readonly said: ReadonlyMap<number, string>;
    readonly outcome?: FailedWriteOutcome;
  },
): CodedError {
  const { slots, needed, said, outcome } = tried;
  const devices = Object.fromEntries([...said].map(([id, what]) => [`d${id}`, what]));
  const details = { needed, slots, acked, devices, ...(outcome && { outcome }) };
  const message = `${acked} of ${slots} slots answered, ${needed} are needed`;
  const hint = 'GET /v1/status of the servers named in details says what is wrong with them';
  return new CodedError('NOT_ENOUGH_REPLICAS', message, { details, hint });
}
