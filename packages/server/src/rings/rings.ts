// The active ring of every keyspace on this server: checked, cached on disk, then swapped in one
// step.
import { CodedError } from '@ringwright/base/coded-error';
import { shortened } from '@ringwright/base/shortened';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import { judgeRing, type RingVerdict } from '@ringwright/ring/audit/judge-ring';
import type { LocalRingState, RingCandidate } from '@ringwright/ring/audit/ring-candidate';
import { splitRingFile } from '@ringwright/ring/file/ring-container';
import { readManifestHead } from '@ringwright/ring/file/ring-file';
import type { AuthenticRing } from '@ringwright/ring/trust/authenticate-ring';
import type { RingHead, RingHeld } from '@ringwright/wire/hello';
import type { DeviceIdentity } from '../device/device-identity.ts';
import type { TrustStore } from '../trust/trust-store.ts';
import { type ActiveRing, activeRing, prepareDuties } from './active-ring.ts';
import type { DecodedRing } from './open-ring.ts';
import { type CachedRing, cacheRing, type HighestHead, type RingCache } from './ring-cache.ts';
import type { RingForks } from './ring-forks.ts';
import { openRingInWorker } from './ring-in-worker.ts';
import { type RingRefusal, RingRefusals } from './ring-refusals.ts';
import { storeLost } from './store-lost.ts';

interface RingsPorts {
  readonly cache: RingCache;
  readonly identity: DeviceIdentity;
  readonly nowMs: () => number;
  readonly trust: Pick<TrustStore, 'demands' | 'authenticate' | 'trusts'>;
  readonly forks: RingForks;
  /** Called for every refused ring, unless nothing says which keyspace it belongs to. */
  readonly onRefuse: (error: CodedError) => void;
  /** Whether everybody may learn which rings are here; default: yes. */
  readonly isOpen?: () => boolean;
  /** Called after a swap, in the same turn. `before`: the ring that was active until then. */
  readonly onActivate: (active: ActiveRing, before: ActiveRing | undefined) => void;
}

/** Maximum length of the list of other rings in a message, for a user who mistyped a name. */
const NAMES_SHOWN = 200;

/** A complete ring file; `authentic` is null where no signatures are required. */
interface OpenedFile extends Required<RingCandidate> {
  readonly bytes: Uint8Array;
  readonly authentic: AuthenticRing | null;
  readonly opened: DecodedRing;
}

/**
 * Holds the rings for the life of the server. A read is a map lookup; changes run one after
 * another.
 */
export class Rings {
  readonly #ports: RingsPorts;
  readonly #active = new Map<string, ActiveRing>();
  readonly #highest = new Map<string, HighestHead>();
  readonly #refusals: RingRefusals;
  readonly #turns = new KeyedMutex();

  constructor(ports: RingsPorts, cached: readonly CachedRing[]) {
    this.#ports = ports;
    this.#refusals = new RingRefusals(ports);
    for (const { file, highest } of cached) {
      this.#highest.set(highest.keyspace, highest);
      if (file === null) continue;
      const { decoded, bytes } = file;
      this.#swap(activeRing({ ...decoded, bytes }, ports.identity, ports.nowMs()));
    }
  }

  find(keyspace: string): ActiveRing | undefined {
    return this.#active.get(keyspace);
  }

  /** Returns the active ring. Throws RING_UNKNOWN. */
  get(keyspace: string): ActiveRing {
    const active = this.#active.get(keyspace);
    if (active !== undefined) return active;
    // A token may be for this keyspace alone.
    const isOpen = this.#ports.isOpen?.() !== false;
    const rings = [...this.#active.keys()];
    const others = rings.length === 0 ? 'none yet' : shortened(rings.join(', '), NAMES_SHOWN);
    const message = `no ring '${keyspace}' is here${isOpen ? `; known rings: ${others}` : ''}`;
    throw new CodedError('RING_UNKNOWN', message, {
      hint: `ring-builder push ${keyspace}`,
      details: { keyspace, ...(isOpen && { rings }) },
    });
  }

  /** The highest version noted on disk. A restart loads this version, or refuses any below it. */
  highestOnDisk(keyspace: string): HighestHead | undefined {
    return this.#highest.get(keyspace);
  }

  /** Rings of which no version on disk can be read. */
  unreadable(): string[] {
    return [...this.#highest.keys()].filter((keyspace) => !this.#active.has(keyspace));
  }

  list(): ActiveRing[] {
    return [...this.#active.values()];
  }

  /** The last refused ring of each keyspace. */
  refusals(): RingRefusal[] {
    return this.#refusals.list();
  }

  /**
   * Throws what judgeRing refuses, before the ring's bytes travel. The bytes of a fork are wanted
   * as proof.
   */
  precheck(head: RingHead): 'wanted' | 'same' {
    const verdict = this.#judge({ head });
    if (verdict.kind === 'refuse') throw this.#noted(head.keyspace, verdict.error);
    return verdict.kind === 'same' ? 'same' : 'wanted';
  }

  /**
   * Verifies a ring file, makes it durable here and activates it. Throws what authenticateRing
   * throws, RING_FILE_INVALID, and what judgeRing refuses. Then the active ring stays, and a fork
   * leaves an alarm. `claimed`: the keyspace under which the file was offered, for the report.
   */
  adopt(bytes: Uint8Array, claimed = ''): Promise<ActiveRing> {
    return this.#turns.run('rings', () => this.#adoptNow(bytes, claimed));
  }

  async #adoptNow(bytes: Uint8Array, claimed: string): Promise<ActiveRing> {
    const file = await this.#open(bytes, claimed);
    const { keyspace } = file.head;
    const verdict = this.#judge(file);
    try {
      if (verdict.kind === 'same') return await this.#takeSignatures(file);
      if (verdict.kind === 'adopt') return await this.#activate(file, verdict);
      throw verdict.error;
    } catch (error) {
      const noted = this.#noted(keyspace, error);
      if (verdict.kind === 'fork') await this.#raiseFork(keyspace, verdict, '');
      throw noted;
    }
  }

  async #activate(
    { head, authentic, opened, bytes }: OpenedFile,
    { beginsEpoch }: { readonly beginsEpoch: boolean },
  ): Promise<ActiveRing> {
    const { keyspace } = head;
    const { identity, nowMs, cache, forks } = this.#ports;
    const epoch = authentic?.signing.epoch ?? this.#highest.get(keyspace)?.epoch;
    const highest = { ...head, ...(epoch === undefined ? {} : { epoch }) };
    const active = activeRing({ ...opened, bytes }, identity, nowMs());
    await cacheRing(cache, highest, bytes);
    await prepareDuties(active);
    this.#highest.set(keyspace, highest);
    if (beginsEpoch) await forks.forget(keyspace); // it was in the old epoch
    this.#refusals.forget(keyspace);
    this.#swap(active);
    // failpoint: ring.activated
    return active;
  }

  /** Keeps a copy of the active ring that has more valid signatures, and relays it from now on. */
  async #takeSignatures({ head, authentic, bytes }: OpenedFile): Promise<ActiveRing> {
    const present = this.get(head.keyspace);
    if (authentic === null || authentic.signers.length <= this.signers(present)) return present;
    const active = { ...present, bytes };
    await cacheRing(this.#ports.cache, this.#highest.get(head.keyspace) ?? head, bytes);
    await prepareDuties(active);
    this.#active.set(head.keyspace, active);
    return active;
  }

  /** Writes active rings again whose files were removed. Resolves to their keyspaces. */
  storeLost(): Promise<string[]> {
    const { cache } = this.#ports;
    return this.#turns.run('rings', () => storeLost(cache, this.#highest, this.#active));
  }

  /**
   * Returns how many trusted keys signed the file of a ring; if no signatures are required, how
   * many it has.
   */
  signers({ bytes }: ActiveRing): number {
    try {
      const authentic = this.#ports.trust.authenticate(bytes);
      return authentic?.signers.length ?? splitRingFile(bytes).signatures.length;
    } catch (error) {
      // Signed by keys that were revoked since, or under a root that expired: it must be signed
      // again.
      if (error instanceof CodedError) return 0;
      throw error;
    }
  }

  /** Whether a copy of the active ring with this many signatures is better than the one here. */
  wantsSignatures({ keyspace, id, signers }: RingHeld): boolean {
    const active = this.#active.get(keyspace);
    if (active?.id !== id || !this.#ports.trust.demands) return false;
    return signers > this.signers(active);
  }

  /** Whether a head belongs to another line than the ring here, and no alarm covers that yet. */
  isNewFork(head: RingHead): boolean {
    const verdict = this.#judge({ head });
    if (verdict.kind !== 'fork') return false;
    return this.#ports.forks.isNews(head.keyspace, verdict.fork.version);
  }

  /**
   * Takes the first bytes of a ring file, manifest included, as the proof of another line. Throws
   * what adopt throws for bytes that no trusted key has signed.
   */
  async judgeFirstBytes(bytes: Uint8Array, from: string): Promise<RingVerdict> {
    const authentic = this.#ports.trust.authenticate(bytes);
    const manifest = readManifestHead(bytes);
    const { keyspace, version, id } = manifest;
    const verdict = this.#judge({ head: { keyspace, version, id }, manifest, authentic });
    if (verdict.kind === 'fork') await this.#raiseFork(keyspace, verdict, from);
    return verdict;
  }

  /**
   * Throws what adopt would throw for all that the first bytes of a file tell, and leaves the same
   * traces.
   */
  async checkFirstBytes(bytes: Uint8Array, claimed: string): Promise<void> {
    try {
      const verdict = await this.judgeFirstBytes(bytes, '');
      if ('error' in verdict) throw verdict.error;
    } catch (error) {
      throw this.#noted(claimed, error);
    }
  }

  #noted(claimed: string, error: unknown): unknown {
    const isKnown = this.#highest.has(claimed);
    if (error instanceof CodedError && claimed !== '') this.#refusals.add(claimed, error, isKnown);
    return error;
  }

  /**
   * Records the operator's decision on a fork. One from an outdated folder is refused. Throws
   * RING_FORK_UNKNOWN, RING_OLDER.
   */
  async settle(head: RingHead, reason: string): Promise<void> {
    const verdict = judgeRing({ ...this.#localState(head.keyspace), chosen: head }, { head });
    if ('error' in verdict) throw this.#noted(head.keyspace, verdict.error);
    return this.#ports.forks.settle(head, reason);
  }

  #raiseFork(
    keyspace: string,
    { fork }: Extract<RingVerdict, { kind: 'fork' }>,
    from: string,
  ): Promise<void> {
    return this.#ports.forks.raise({ keyspace, ...fork, from });
  }

  /**
   * Opens a file. If it cannot be trusted, nothing that it says is used, not even for the report.
   */
  async #open(bytes: Uint8Array, claimed: string): Promise<OpenedFile> {
    try {
      const authentic = this.#ports.trust.authenticate(bytes);
      const isGuarded = authentic !== null && !authentic.signing.large;
      const present = isGuarded ? this.#active.get(readManifestHead(bytes).keyspace) : undefined;
      const opened = await openRingInWorker(bytes, present ?? null);
      const { keyspace, version } = opened.ring;
      const head = { keyspace, version, id: opened.id };
      return { head, manifest: opened.ring, authentic, opened, bytes };
    } catch (error) {
      throw this.#noted(claimed, error);
    }
  }

  #judge(candidate: RingCandidate): RingVerdict {
    return judgeRing(this.#localState(candidate.head.keyspace), candidate);
  }

  #localState(keyspace: string): LocalRingState {
    const { forks, trust } = this.#ports;
    const active = this.#active.get(keyspace);
    const roots = trust.trusts().map(({ root }) => root);
    // Each cluster has its own epochs. Before the first ring, the cluster of this server is
    // unknown.
    const ofCluster = ({ cluster }: (typeof roots)[number]): boolean =>
      active === undefined || cluster === active.ring.cluster;
    return {
      active,
      highest: this.#highest.get(keyspace),
      alarm: forks.alarm(keyspace),
      chosen: forks.find(keyspace)?.settled ?? null,
      epochMax: Math.max(0, ...roots.filter(ofCluster).map(({ epoch }) => epoch)),
    };
  }

  #swap(active: ActiveRing): void {
    const before = this.#active.get(active.ring.keyspace);
    this.#active.set(active.ring.keyspace, active);
    this.#ports.onActivate(active, before);
  }
}
