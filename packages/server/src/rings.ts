// The active ring of every keyspace on this server: checked, shelved, then swapped in one step.
import { CodedError } from '@ringwright/base/coded-error';
import { auditRing } from '@ringwright/ring/audit-ring';
import type { AuthenticRing } from '@ringwright/ring/authenticate-ring';
import type { Ring } from '@ringwright/ring/ring';
import { decodeRing, type RingFile } from '@ringwright/ring/ring-file';
import type { RingHead } from '@ringwright/wire/hello';
import { type ActiveRing, activeRing, ringHead } from './active-ring.ts';
import { checkBrake } from './check-brake.ts';
import { checkSuccession } from './check-succession.ts';
import type { DeviceIdentity } from './device-identity.ts';
import { type HighestHead, type RingShelf, type ShelvedRing, shelveRing } from './ring-shelf.ts';
import type { TrustStore } from './trust-store.ts';

export interface RingRefusal {
  readonly keyspace: string;
  readonly code: string;
  readonly message: string;
  readonly atMs: number;
}

interface RingsPorts {
  readonly shelf: RingShelf;
  readonly identity: DeviceIdentity;
  readonly nowMs: () => number;
  /** Absent or without anchors: unsigned rings are let through. */
  readonly trust?: TrustStore;
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
  readonly #refusals = new Map<string, RingRefusal>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ports: RingsPorts, shelved: readonly ShelvedRing[]) {
    this.#ports = ports;
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

  /** The last ring that was refused, by keyspace: `ring-builder servers` shows it. */
  refusals(): RingRefusal[] {
    return [...this.#refusals.values()];
  }

  /** Refuses what cannot follow the active ring, before its bytes travel. */
  precheck(head: RingHead): 'wanted' | 'same' {
    const highest = this.#highest.get(head.keyspace);
    if (highest === undefined || head.version > highest.version) return 'wanted';
    // In a new epoch versions may begin anew; the signatures will tell which epoch it is of.
    if (this.#epochMax() > (highest.epoch ?? Number.MAX_SAFE_INTEGER)) return 'wanted';
    const active = this.#active.get(head.keyspace);
    if (active !== undefined && active.id === head.id) return 'same';
    if (head.id === highest.id) return 'wanted'; // its file was damaged here
    const [code, what] =
      head.version === highest.version
        ? (['RING_FORK', `with id ${highest.id.slice(0, 12)}`] as const)
        : (['RING_OLDER', `is the highest version seen`] as const);
    const given = `version ${head.version} (${head.id.slice(0, 12)})`;
    const message = `${given} refused: ${highest.version} ${what}`;
    const error = new CodedError(code, message, { details: { given: head, highest } });
    this.#refuse(head.keyspace, error);
    throw error;
  }

  /**
   * Verifies a ring file, makes it durable here and activates it. Anything wrong leaves the active
   * ring as it was: what authenticateRing throws, RING_FILE_INVALID, RING_AUDIT_FAILED, BRAKE and
   * the refusals of checkSuccession. `claimed`: the keyspace it was offered as, for the report.
   */
  adopt(bytes: Uint8Array, claimed = ''): Promise<ActiveRing> {
    const turn = this.#turn.then(() => this.#adoptNow(bytes, claimed));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #adoptNow(bytes: Uint8Array, claimed: string): Promise<ActiveRing> {
    const { authentic, decoded } = this.#open(bytes, claimed);
    const { keyspace, version } = decoded.ring;
    try {
      const present = this.#active.get(keyspace);
      const epoch = authentic?.signing.epoch ?? this.#highest.get(keyspace)?.epoch ?? 0;
      if (!this.#beginsEpoch(keyspace, epoch)) {
        const known = this.precheck({ keyspace, version, id: decoded.id });
        if (known === 'same' && present !== undefined) return present;
        if (present !== undefined) checkSuccession(present, decoded);
      } else if (present !== undefined) checkSuccession(present, decoded, { newEpoch: true });
      if (authentic !== null && present !== undefined) checkBrake(present, decoded, authentic);
      requireSound(decoded.ring);
      const active = activeRing({ ...decoded, bytes }, this.#ports.identity, this.#ports.nowMs());
      const head = { ...ringHead(active), ...(epoch > 0 ? { epoch } : {}) };
      await shelveRing(this.#ports.shelf, head, bytes);
      this.#highest.set(keyspace, head);
      this.#refusals.delete(keyspace);
      this.#swap(active);
      return active;
    } catch (error) {
      if (error instanceof CodedError) this.#refuse(keyspace, error);
      throw error;
    }
  }

  /** What a file that cannot be trusted says of itself is not looked at, not even for the report. */
  #open(
    bytes: Uint8Array,
    claimed: string,
  ): { authentic: AuthenticRing | null; decoded: RingFile } {
    try {
      return {
        authentic: this.#ports.trust?.authenticate(bytes) ?? null,
        decoded: decodeRing(bytes),
      };
    } catch (error) {
      if (error instanceof CodedError && this.#highest.has(claimed)) this.#refuse(claimed, error);
      throw error;
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

  #refuse(keyspace: string, { code, message }: CodedError): void {
    this.#refusals.set(keyspace, { keyspace, code, message, atMs: this.#ports.nowMs() });
  }

  #swap(active: ActiveRing): void {
    this.#active.set(active.ring.keyspace, active);
    this.#ports.onActivate(active);
  }
}

function requireSound(ring: Ring): void {
  const findings = auditRing(ring);
  if (findings[0] === undefined) return;
  const message = `ring '${ring.keyspace}' version ${ring.version}: ${findings[0].message}`;
  throw new CodedError('RING_AUDIT_FAILED', message, { details: { findings } });
}
