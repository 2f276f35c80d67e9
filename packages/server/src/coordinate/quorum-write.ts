// Sends one record to every device of its slots, and waits for as many slots as the level needs.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { type Callback, fromCallback } from '@ringwright/base/maybe-promise';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import { joinersOfNewSlots, type Slot } from '@ringwright/ring/slots-of';
import { ringHeadSchema } from '@ringwright/wire/hello';
import type { BatchedWrite } from '@ringwright/wire/packed-writes';
import type { DeviceCaller, WriteCallback, WriteRequest } from '../peers/device-caller.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type SlotAcks, slotDevices, tallySlots } from './slot-acks.ts';

interface QuorumWriteRequest {
  readonly active: ActiveRing;
  readonly slots: readonly Slot[];
  readonly record: BatchedWrite;
  readonly needed: number;
  /** Devices known to hold this very record. They count as acknowledged and are not asked. */
  readonly holders?: readonly number[];
  /** Only this very record counts: a device that holds something newer does not acknowledge. */
  readonly exact?: boolean;
}

/** Promise form of quorumWriteFor. Rejects with its error. */
export function quorumWrite(
  devices: DeviceCaller,
  task: QuorumWriteRequest,
): Promise<Stamp | null> {
  return fromCallback((onResult) => quorumWriteFor(devices, task, onResult));
}

/**
 * Calls `onResult` once, when `needed` slots have the record (or something newer) durably; the
 * other devices go on meanwhile. The result is the newest stamp that was answered 'stale', or null.
 * When `needed` cannot be reached any more, the error is OutdatedRing if a device knows a newer
 * ring, UndecidedKey if a promise kept the record out, else NOT_ENOUGH_REPLICAS with what each
 * device said. Uses no promise: every write passes through here.
 */
export function quorumWriteFor(
  devices: DeviceCaller,
  task: QuorumWriteRequest,
  onResult: Callback<Stamp | null>,
): void {
  const { active, slots, record, holders = noHolders } = task;
  const takers = slotDevices(slots);
  // Joiners in slots that the table does not have yet get the record too, but do not count.
  takers.push(...joinersOfNewSlots(active.ring, record.partition));
  const targets = holders.length === 0 ? takers : takers.filter((id) => !holders.includes(id));
  const { keyspace, version: ringVersion } = active.ring;
  const request: WriteRequest = { keyspace, ringVersion, ...record };
  const [only] = targets;
  if (only !== undefined && targets.length === 1 && slots.length === 1) {
    // Nothing to count unless the write fails: this is every write of a ring with one replica.
    devices.write({ active, device: only }, request, (device, answer, error) => {
      if (answer?.kind === 'stored' && holders.length === 0) onResult(null, null);
      else new QuorumOfWrites(task, targets, onResult).onAnswer(device, answer, error);
    });
    return;
  }
  const writing = new QuorumOfWrites(task, targets, onResult);
  const canWait = joinersCanWait(task);
  for (const device of targets) {
    const mayWait = canWait && slots.every((slot) => slot.device !== device);
    devices.write({ active, device, mayWait }, request, writing.onAnswer);
  }
  if (holders.length > 0 || targets.length === 0) writing.judge();
}

const noHolders: readonly number[] = [];

/**
 * Whether the slots that are not in flight suffice for the level. Then nobody waits for joiners,
 * unless another device fails. Records of rounds do not wait, because each ends a promise.
 */
function joinersCanWait({ slots, needed, exact }: QuorumWriteRequest): boolean {
  let settled = 0;
  for (const { joiner } of slots) if (joiner === null) settled += 1;
  return settled < slots.length && settled >= needed && exact !== true;
}

/** Collects the answers to one write and decides its outcome. */
class QuorumOfWrites {
  readonly #task: QuorumWriteRequest;
  readonly #targets: readonly number[];
  readonly #onResult: Callback<Stamp | null>;
  /** By device: whether it acknowledged. */
  readonly #acknowledged = new Map<number, boolean>();
  /** By device: the kind of its answer, or its error. */
  readonly #outcomes = new Map<number, unknown>();
  #isStored = false;
  #isUndecided = false;
  #isReported = false;
  #newer: Stamp | null = null;

  constructor(
    task: QuorumWriteRequest,
    targets: readonly number[],
    onResult: Callback<Stamp | null>,
  ) {
    this.#task = task;
    this.#targets = targets;
    this.#onResult = onResult;
    for (const holder of task.holders ?? noHolders) this.#acknowledged.set(holder, true);
  }

  readonly onAnswer: WriteCallback = (device, answer, error) => {
    if (this.#isReported) return;
    if (answer === null) {
      this.#acknowledged.set(device, false);
      this.#outcomes.set(device, error);
      this.#isStored ||= mayBeStored(error);
    } else {
      const { kind } = answer;
      const isRefused = kind === 'promised' || (kind === 'stale' && this.#task.exact === true);
      this.#isUndecided ||= isRefused;
      this.#acknowledged.set(device, !isRefused);
      this.#outcomes.set(device, kind);
      this.#isStored ||= kind === 'stored';
      if (kind === 'stale' && (this.#newer === null || compareStamps(answer, this.#newer) > 0)) {
        this.#newer = { ms: answer.ms, tie: answer.tie };
      }
    }
    this.judge();
  };

  judge(): void {
    const { slots, needed } = this.#task;
    const tally = tallySlots(slots, this.#acknowledged);
    if (tally.acked >= needed) this.#report(null);
    else if (tally.possible < needed) this.#fail(tally);
  }

  #report(error: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#onResult(this.#newer, error);
  }

  #fail(tally: SlotAcks): void {
    const { active, slots, needed } = this.#task;
    const isOpen = this.#outcomes.size < this.#targets.length;
    const outcome = isOpen || this.#isStored ? 'unknown' : 'rejected';
    const codes = new Map<number, string>();
    let outdated: OutdatedRing | null = null;
    for (const [device, what] of this.#outcomes) {
      outdated ??= outdatedRing(what, { active, device });
      codes.set(device, typeof what === 'string' ? what : codeOfFailure(what));
    }
    const tooFew = (): CodedError =>
      tooFewSlots(tally, { slots: slots.length, needed, codes, outcome });
    if (outdated !== null) this.#report(new OutdatedRing(outdated, outdated.device, outcome));
    else if (this.#isUndecided) this.#report(new UndecidedKey(tooFew()));
    else if (this.#isStored || !isOpen) this.#report(tooFew());
    // Otherwise every answer so far is a certain refusal. Wait for the open ones, to report that.
  }
}

/** An error without a code is a bug: its message is for the log alone. */
export function codeOfFailure(error: unknown): ErrorCode {
  return error instanceof CodedError ? error.code : 'INTERNAL';
}

/** Whether a failed write may still be read later, once, with its stamp: `unknown` if so. */
export type FailedWriteOutcome = 'rejected' | 'unknown';

/** Whether the record may be stored in spite of the error: a lost answer, or a failure halfway. */
export function mayBeStored(error: unknown): boolean {
  return !(error instanceof CodedError) || error.outcome !== 'not-done';
}

/**
 * Thrown when rounds of other requests are at work on the key, or left one half done. A round has
 * to decide the key.
 */
export class UndecidedKey extends CodedError {
  constructor({ message, hint, details }: CodedError) {
    super('NOT_ENOUGH_REPLICAS', message, { hint, details });
  }
}

/**
 * Thrown when a device refused because it knows a newer ring than that of the request. `outcome`:
 * whether another device may have stored the record in this attempt.
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

/**
 * Returns an OutdatedRing for the refusal of a device with a newer ring than `active`; null for any
 * other error.
 */
export function outdatedRing(
  error: unknown,
  refusing: { readonly active: ActiveRing; readonly device: number },
): OutdatedRing | null {
  if (!(error instanceof CodedError) || error.retry !== 'after-ring') return null;
  const head = ringHeadSchema.safeParse(error.details.head);
  const newer = head.success && head.data.version > refusing.active.ring.version;
  return newer ? new OutdatedRing(error, refusing.device) : null;
}

/**
 * Makes NOT_ENOUGH_REPLICAS with what each device said; `outcome` is set for a write. It is
 * reported as soon as it is certain: slots still open may answer later, and store the record.
 */
export function tooFewSlots(
  { acked, possible }: SlotAcks,
  tried: {
    readonly slots: number;
    readonly needed: number;
    readonly codes: ReadonlyMap<number, string>;
    readonly outcome?: FailedWriteOutcome;
  },
): CodedError {
  const { slots, needed, codes, outcome } = tried;
  const [refused, open] = [slots - possible, possible - acked];
  const devices = Object.fromEntries([...codes].map(([id, code]) => [`d${id}`, code]));
  const details = { needed, slots, acked, open, devices, ...(outcome && { outcome }) };
  const others = `refused or failed: ${refused}, still open: ${open}`;
  const message = `${acked} of ${slots} slots acknowledged, ${needed} are needed (${others})`;
  const codeList = [...codes.values()];
  const isUnnamed = codeList.length > 0 && codeList.every((code) => code === 'CALLER_UNPROVEN');
  const hint = isUnnamed
    ? 'the ring does not name this server, or names another key for it: use one that it names'
    : 'ring-builder health shows what is wrong with the devices listed in details';
  return new CodedError('NOT_ENOUGH_REPLICAS', message, { details, hint });
}
