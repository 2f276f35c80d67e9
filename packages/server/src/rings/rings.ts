// The active ring of every keyspace on this server: checked, shelved, then swapped in one step.
import { CodedError } from '@ringwright/base/coded-error';
import { readRingHead, splitRingFile } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';
import type { AuthenticRing } from '@ringwright/ring/trust/authenticate-ring';
import type { RingHead, RingHeld } from '@ringwright/wire/hello';
import type { DeviceIdentity } from '../device/device-identity.ts';
import type { TrustStore } from '../trust/trust-store.ts';
import { prepareDuties } from './active-duties.ts';
import { type ActiveRing, activeRing, ringHead } from './active-ring.ts';
import { checkBrake } from './check-brake.ts';
import { checkSuccession } from './check-succession.ts';
import type { OpenedRing } from './open-ring.ts';
import { openRingAside } from './open-ring-aside.ts';
import { forkOf } from './ring-fork.ts';
import type { RingForks } from './ring-forks.ts';
import { type RingRefusal, RingRefusals } from './ring-refusals.ts';
import { type HighestHead, type RingShelf, type ShelvedRing, shelveRing } from './ring-shelf.ts';

interface RingsPorts {
  readonly shelf: RingShelf;
  readonly identity: DeviceIdentity;
  readonly nowMs: () => number;
  /** Absent or without anchors: unsigned rings are let through. */
  readonly trust?: TrustStore;
  readonly forks: RingForks;
  /** Told of every ring that was refused and is said to be of a keyspace known here. */
  readonly onRefuse?: (error: CodedError) => void;
  /** Called after a swap, in the same turn. */
  readonly onActivate: (active: ActiveRing) => void;
}

/**
 * Holds the rings for the life of the server. Reads are a map look-up; changes go one after
 * another.
 */
export class Rings {
  readonly #ports: RingsPorts;
  readonly #active = new Map<string, ActiveRing>();
  readonly #highest = new Map<string, HighestHead>();
  readonly #refusals: RingRefusals;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ports: RingsPorts, shelved: readonly ShelvedRing[]) {
    this.#ports = ports;
    this.#refusals = new RingRefusals(ports);
    for (const { file, highest } of shelved) {
      this.#highest.set(highest.keyspace, highest);
      if (file === null) continue;
      const { decoded, bytes } = file;
      this.#swap(activeRing({ ...decoded, bytes }, ports.identity, ports.nowMs()));
    }
  }

  find(keyspace: string): ActiveRing | undefined {
    return this.#active.get(keyspace);
  }

  /** The active ring. Throws RING_UNKNOWN. */
  get(keyspace: string): ActiveRing {
    const active = this.#active.get(keyspace);
    if (active !== undefined) return active;
    throw new CodedError('RING_UNKNOWN', `this server has no ring '${keyspace}'`, {
      hint: `ring-builder push ${keyspace}`,
      details: { keyspace, rings: [...this.#active.keys()] },
    });
  }

  /** What the disk names as the highest version: a restart takes that one or refuses to go below. */
  onDisk(keyspace: string): HighestHead | undefined {
    return this.#highest.get(keyspace);
  }

  list(): ActiveRing[] {
    return [...this.#active.values()];
  }

  /** The last ring that was refused, by keyspace. */
  refusals(): RingRefusal[] {
    return this.#refusals.list();
  }

  /** Refuses what cannot follow the active ring, before its bytes travel. */
  precheck(head: RingHead): 'wanted' | 'same' {
    const highest = this.#highest.get(head.keyspace);
    if (highest === undefined || head.version > highest.version) return 'wanted';
    // In a new epoch versions may begin anew; the signatures will tell which epoch it is of.
    if (this.#epochMax() > (highest.epoch ?? Number.MAX_SAFE_INTEGER)) return 'wanted';
    const active = this.#active.get(head.keyspace);
    if (active !== undefined && active.id === head.id) return 'same';
    // Its file was damaged here; or it is a fork, which its bytes have to prove.
    if (head.version === highest.version) return 'wanted';
    const given = `version ${head.version} (${head.id.slice(0, 12)})`;
    const message = `${given} refused: ${highest.version} is the highest version seen`;
    const error = new CodedError('RING_OLDER', message, { details: { given: head, highest } });
    this.#refusals.add(head.keyspace, error);
    throw error;
  }

  /**
   * Verifies a ring file, makes it durable here and activates it. Anything wrong leaves the active
   * ring as it was: what authenticateRing throws, RING_FILE_INVALID, RING_AUDIT_FAILED, BRAKE and
   * the refusals of checkSuccession; RING_FORK leaves an alarm. `claimed`: the keyspace it was
   * offered as, for the report.
   */
  adopt(bytes: Uint8Array, claimed = ''): Promise<ActiveRing> {
    const turn = this.#turn.then(() => this.#adoptNow(bytes, claimed));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #adoptNow(bytes: Uint8Array, claimed: string): Promise<ActiveRing> {
    const { authentic, decoded } = await this.#open(bytes, claimed);
    const { keyspace } = decoded.ring;
    try {
      const present = this.#active.get(keyspace);
      const epoch = authentic?.signing.epoch ?? this.#highest.get(keyspace)?.epoch ?? 0;
      const beginsEpoch = this.#beginsEpoch(keyspace, epoch);
      if (present?.id === decoded.id) return await this.#takeSignatures(present, bytes, authentic);
      this.#checkLine(decoded, beginsEpoch);
      requireSound(decoded);
      if (authentic !== null) checkBrake(decoded, authentic);
      const active = activeRing({ ...decoded, bytes }, this.#ports.identity, this.#ports.nowMs());
      const head = { ...ringHead(active), ...(epoch > 0 ? { epoch } : {}) };
      await shelveRing(this.#ports.shelf, head, bytes);
      await prepareDuties(active);
      this.#highest.set(keyspace, head);
      if (beginsEpoch) await this.#ports.forks.forget(keyspace);
      this.#refusals.forget(keyspace);
      this.#swap(active);
      // failpoint: ring.activated
      return active;
    } catch (error) {
      if (error instanceof CodedError) {
        this.#refusals.add(keyspace, error);
        if (['RING_FORK', 'RING_OLDER'].includes(error.code)) {
          await this.#raiseFork(decoded.ring, decoded.id, '');
        }
      }
      throw error;
    }
  }

  /** Throws RING_FORK for a line that is not the one here, and as checkSuccession does. */
  #checkLine(given: OpenedRing, beginsEpoch: boolean): void {
    const { keyspace, version, parent } = given.ring;
    const head = { keyspace, version, id: given.id };
    const present = this.#active.get(keyspace);
    if (!beginsEpoch) this.precheck(head);
    const newLine = beginsEpoch || this.#ports.forks.isChosen(head);
    if (present !== undefined) checkSuccession(present, given, { newLine });
    const highest = this.#highest.get(keyspace);
    if (newLine || highest === undefined || highest.id === given.id) return;
    if (version === highest.version) {
      const message = `version ${version} was seen with id ${highest.id}, given was ${given.id}`;
      throw new CodedError('RING_FORK', message, { details: { given: head, highest } });
    }
    const alarm = this.#ports.forks.alarm(keyspace);
    if (alarm === null || (present !== undefined && parent === present.id)) return;
    const twice = `version ${alarm.version} of ring '${keyspace}' exists twice`;
    const message = `${twice}, and version ${version} does not say whose line it is of`;
    throw new CodedError('RING_FORK', message, {
      hint: `find out which history is right, then there: ring-builder settle ${keyspace} -m REASON`,
      details: { given: head, alarm },
    });
  }

  /** More valid signatures to the ring that is active: kept and relayed from now on. */
  async #takeSignatures(
    present: ActiveRing,
    bytes: Uint8Array,
    authentic: AuthenticRing | null,
  ): Promise<ActiveRing> {
    const { keyspace } = present.ring;
    if (authentic === null || authentic.signers.length <= this.signers(present)) return present;
    const active = { ...present, bytes };
    const head = this.#highest.get(keyspace) ?? ringHead(active);
    await shelveRing(this.#ports.shelf, head, bytes);
    await prepareDuties(active);
    this.#active.set(keyspace, active);
    return active;
  }

  /** How many trusted keys signed the file of a ring; without trust, how many signatures it has. */
  signers({ bytes }: ActiveRing): number {
    try {
      const authentic = this.#ports.trust?.authenticate(bytes) ?? null;
      return authentic?.signers.length ?? splitRingFile(bytes).signatures.length;
    } catch (error) {
      // By keys that were revoked since, or under a root that expired: it is to be signed again.
      if (error instanceof CodedError) return 0;
      throw error;
    }
  }

  /** Whether a copy of the active ring with so many signatures is better than the one here. */
  wantsSignatures({ keyspace, id, signers }: RingHeld): boolean {
    const active = this.#active.get(keyspace);
    if (active?.id !== id || this.#ports.trust?.demands !== true) return false;
    return signers > this.signers(active);
  }

  /** Whether somebody's head is of another line than the ring here, and nobody has noticed yet. */
  isForkNews(head: RingHead): boolean {
    const fork = this.#forkWith(head);
    return fork !== null && this.#ports.forks.isNews(head.keyspace, fork.version);
  }

  /**
   * Takes the first bytes of a ring file, manifest included, as the proof of another line. Throws
   * as adopt does for bytes that nobody trusted has signed.
   */
  async witness(bytes: Uint8Array, from: string): Promise<void> {
    const authentic = this.#ports.trust?.authenticate(bytes) ?? null;
    const head = readRingHead(bytes);
    const epoch = this.#highest.get(head.keyspace)?.epoch;
    if (authentic !== null && epoch !== undefined && authentic.signing.epoch !== epoch) return;
    await this.#raiseFork(head, head.id, from);
  }

  /** Throws as authenticateRing does, where rings must be signed; the first bytes of a file do. */
  checkTrusted(bytes: Uint8Array, claimed: string): void {
    try {
      this.#ports.trust?.authenticate(bytes);
    } catch (error) {
      throw this.#noted(claimed, error);
    }
  }

  #noted(claimed: string, error: unknown): unknown {
    const isKnown = this.#highest.has(claimed);
    if (error instanceof CodedError && isKnown) this.#refusals.add(claimed, error);
    return error;
  }

  /** The operator's word after a fork; an old folder's ends none. RING_FORK_UNKNOWN, RING_OLDER. */
  async settle(head: RingHead, reason: string): Promise<void> {
    this.precheck(head);
    return this.#ports.forks.settle(head, reason);
  }

  async #raiseFork(
    given: Pick<Ring, 'keyspace' | 'cluster' | 'version' | 'parent'>,
    id: string,
    from: string,
  ): Promise<void> {
    const { keyspace, cluster, version, parent } = given;
    const fork = this.#forkWith({ keyspace, version, id, parent });
    if (fork === null || this.#active.get(keyspace)?.ring.cluster !== cluster) return;
    await this.#ports.forks.raise({ keyspace, ...fork, from });
  }

  #forkWith(head: RingHead & { readonly parent?: string | null }): ReturnType<typeof forkOf> {
    const active = this.#active.get(head.keyspace);
    if (active === undefined) return null;
    const { version, parent } = active.ring;
    return forkOf({ version, parent, id: active.id }, head);
  }

  /** What a file that cannot be trusted says of itself is not looked at, not even for the report. */
  async #open(
    bytes: Uint8Array,
    claimed: string,
  ): Promise<{ authentic: AuthenticRing | null; decoded: OpenedRing }> {
    try {
      const authentic = this.#ports.trust?.authenticate(bytes) ?? null;
      const isBraked = authentic !== null && !authentic.signing.large;
      const present = isBraked ? this.#active.get(readRingHead(bytes).keyspace) : undefined;
      return { authentic, decoded: await openRingAside(bytes, present ?? null) };
    } catch (error) {
      throw this.#noted(claimed, error);
    }
  }

  /** Throws RING_OLDER for an epoch below the highest seen, whatever became of the trust on disk. */
  #beginsEpoch(keyspace: string, epoch: number): boolean {
    const highest = this.#highest.get(keyspace);
    // The first signed ring goes on where the unsigned ones ended.
    if (highest?.epoch === undefined || epoch === highest.epoch) return false;
    if (epoch > highest.epoch) return true;
    const message = `ring '${keyspace}' is of epoch ${epoch}, epoch ${highest.epoch} was seen`;
    throw new CodedError('RING_OLDER', message, { details: { epoch, highest } });
  }

  #epochMax(): number {
    const trusts = this.#ports.trust?.trusts() ?? [];
    return trusts.reduce((max, { root }) => Math.max(max, root.epoch), 0);
  }

  #swap(active: ActiveRing): void {
    this.#active.set(active.ring.keyspace, active);
    this.#ports.onActivate(active);
  }
}

function requireSound({ ring, findings }: OpenedRing): void {
  if (findings[0] === undefined) return;
  const message = `ring '${ring.keyspace}' version ${ring.version}: ${findings[0].message}`;
  throw new CodedError('RING_AUDIT_FAILED', message, { details: { findings } });
}
