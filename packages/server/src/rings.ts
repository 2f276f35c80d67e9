// The active ring of every keyspace on this server: checked, shelved, then swapped in one step.
import { CodedError } from '@ringwright/base/coded-error';
import { auditRing } from '@ringwright/ring/audit-ring';
import { decodeRing } from '@ringwright/ring/ring-file';
import type { RingHead } from '@ringwright/wire/hello';
import { type ActiveRing, activeRing, ringHead } from './active-ring.ts';
import { checkSuccession } from './check-succession.ts';
import type { DeviceIdentity } from './device-identity.ts';
import { type RingShelf, type ShelvedRing, shelveRing } from './ring-shelf.ts';

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
  readonly #highest = new Map<string, RingHead>();
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
   * ring as it was:
   * RING_FILE_INVALID, RING_AUDIT_FAILED and the refusals of checkSuccession.
   */
  adopt(bytes: Uint8Array): Promise<ActiveRing> {
    const turn = this.#turn.then(() => this.#adoptNow(bytes));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #adoptNow(bytes: Uint8Array): Promise<ActiveRing> {
    const decoded = decodeRing(bytes);
    const { keyspace, version } = decoded.ring;
    try {
      const present = this.#active.get(keyspace);
      if (
        this.precheck({ keyspace, version, id: decoded.id }) === 'same' &&
        present !== undefined
      ) {
        return present;
      }
      if (present !== undefined) checkSuccession(present, decoded);
      const findings = auditRing(decoded.ring);
      if (findings[0] !== undefined) {
        const message = `ring '${keyspace}' version ${version}: ${findings[0].message}`;
        throw new CodedError('RING_AUDIT_FAILED', message, { details: { findings } });
      }
      const active = activeRing({ ...decoded, bytes }, this.#ports.identity, this.#ports.nowMs());
      await shelveRing(this.#ports.shelf, ringHead(active), bytes);
      this.#highest.set(keyspace, ringHead(active));
      this.#refusals.delete(keyspace);
      this.#swap(active);
      return active;
    } catch (error) {
      if (error instanceof CodedError) this.#refuse(keyspace, error);
      throw error;
    }
  }

  #refuse(keyspace: string, { code, message }: CodedError): void {
    this.#refusals.set(keyspace, { keyspace, code, message, atMs: this.#ports.nowMs() });
  }

  #swap(active: ActiveRing): void {
    this.#active.set(active.ring.keyspace, active);
    this.#ports.onActivate(active);
  }
}
