// Whom a server trusts: the roots given at the start, the newer roots that a chain from them leads
// to, and beacons. All of it is on disk.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { trustFileBytesMax } from '@ringwright/base/limits';
import { makeDirectory } from '@ringwright/node/durable-files';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readOwnFile, readRegularFile } from '@ringwright/node/read-regular-file';
import { type AuthenticRing, authenticateRing } from '@ringwright/ring/trust/authenticate-ring';
import { type Beacon, openBeacon } from '@ringwright/ring/trust/beacon';
import type { SignedDocument } from '@ringwright/ring/trust/signed-document';
import {
  newestRoot,
  parseTrustFile,
  printTrustFile,
  rootIdOf,
} from '@ringwright/ring/trust/trust-chain';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import { replaceState } from '../device/state-file.ts';

/** One value of --trust, and the newest root that the chain from it has reached. */
interface Anchor {
  /** Id of the root that was trusted first. Only a chain that leads on from it is accepted. */
  readonly id: string;
  readonly documents: readonly SignedDocument[];
  /** Null while only the id is known. */
  readonly trust: Trust | null;
}

interface HeldBeacon {
  readonly beacon: Beacon;
  readonly bytes: Uint8Array;
}

interface TrustPorts {
  readonly directory: string;
  readonly nowMs: () => number;
  /** Called after the store has advanced to a newer root. */
  readonly onRoot: (trust: Trust) => void;
}

/** Holds the trust for the life of the server. Without anchors it accepts every ring. */
export class TrustStore {
  readonly #ports: TrustPorts;
  readonly #anchors: Anchor[];
  readonly #beacons = new Map<string, HeldBeacon>();
  readonly #turns = new KeyedMutex();

  private constructor(ports: TrustPorts, anchors: Anchor[]) {
    this.#ports = ports;
    this.#anchors = anchors;
  }

  /**
   * `words`: trust files and root ids (64 hex digits). Also loads the newer roots that were stored
   * before, so that a restart cannot take a server back. Throws TRUST_INVALID, TRUST_FORK,
   * DISK_FAILED.
   */
  static async load(ports: TrustPorts, words: readonly string[]): Promise<TrustStore> {
    const anchors: Anchor[] = [];
    for (const word of words) anchors.push(await loadAnchor(ports.directory, word));
    const store = new TrustStore(ports, anchors);
    if (anchors.length > 0) await store.#loadBeacons();
    return store;
  }

  /** Whether rings must be signed here. */
  get demands(): boolean {
    return this.#anchors.length > 0;
  }

  trusts(): Trust[] {
    return this.#anchors.flatMap(({ trust }) => trust ?? []);
  }

  /** Returns null when no signatures are required. Throws what authenticateRing throws. */
  authenticate(bytes: Uint8Array): AuthenticRing | null {
    return this.demands ? authenticateRing(bytes, this.trusts(), this.#ports.nowMs()) : null;
  }

  /** When it resolves, the newest root that these documents lead to is in force and on disk. */
  offerRoots(bytes: Uint8Array): Promise<void> {
    return this.#turns.run('trust', () => this.#walk(bytes));
  }

  /**
   * Refuses a beacon older than the present one, so that a replay cannot make a frozen server look
   * fresh. Throws BEACON_REFUSED, TRUST_EXPIRED.
   */
  offerBeacon(bytes: Uint8Array): Promise<void> {
    return this.#turns.run('trust', () => this.#keepBeacon(bytes));
  }

  beaconOf(keyspace: string): Beacon | null {
    return this.#beacons.get(keyspace)?.beacon ?? null;
  }

  /** The documents for a peer, as they were received, signatures included. */
  documents(): { readonly roots: Uint8Array[]; readonly beacons: Uint8Array[] } {
    const chains = this.#anchors.filter(({ documents }) => documents.length > 0);
    return {
      roots: chains.map(({ documents }) => Buffer.from(printTrustFile(documents))),
      beacons: [...this.#beacons.values()].map(({ bytes }) => bytes),
    };
  }

  async #walk(bytes: Uint8Array): Promise<void> {
    if (!this.demands) return;
    const offered = parseTrustFile(bytes);
    const ids = offered.map(rootIdOf);
    const reached = ({ id, trust }: Anchor): string => trust?.id ?? id;
    const found = this.#anchors.filter((anchor) => ids.includes(reached(anchor)));
    if (found.length === 0) throw this.#unrelated(ids);
    // Several values of --trust may lead to one root: one left behind would trust revoked keys.
    for (const anchor of found) {
      const start = ids.indexOf(reached(anchor));
      if (anchor.trust !== null && start === ids.length - 1) continue; // already in force
      await this.#advance(anchor, offered, start);
    }
  }

  async #advance(anchor: Anchor, offered: readonly SignedDocument[], start: number): Promise<void> {
    const { id } = anchor;
    const trust = newestRoot(offered, anchor.trust?.id ?? id);
    const documents = [...anchor.documents, ...offered.slice(start + (anchor.trust ? 1 : 0))];
    await makeDirectory(this.#ports.directory);
    await replaceState(fileOf(this.#ports.directory, id), Buffer.from(printTrustFile(documents)));
    this.#anchors[this.#anchors.indexOf(anchor)] = { id, documents, trust };
    this.#ports.onRoot(trust);
  }

  #unrelated(ids: readonly string[]): CodedError {
    const known = new Set(this.#anchors.flatMap(({ documents }) => documents.map(rootIdOf)));
    const last = ids.at(-1);
    const older = last !== undefined && known.has(last);
    const trusted = this.#anchors.map(({ id, trust }) => trust?.id ?? id);
    const message = older
      ? `the trust document ends in root ${last.slice(0, 12)}, which was followed by newer ones`
      : 'the trust document does not continue from any root that is trusted here';
    return new CodedError(older ? 'TRUST_OLDER' : 'TRUST_FORK', message, {
      hint: 'ring-builder key trust shows the newest root; start the server with --trust to trust another one',
      details: { given: ids, trusted },
    });
  }

  async #keepBeacon(bytes: Uint8Array): Promise<void> {
    if (!this.demands) return;
    const beacon = openBeacon(bytes, this.trusts(), this.#ports.nowMs());
    const held = this.#beacons.get(beacon.keyspace)?.beacon;
    const { issuedMs } = beacon;
    if (held !== undefined && held.epoch === beacon.epoch && held.issuedMs >= issuedMs) {
      if (held.issuedMs === issuedMs && held.id === beacon.id) return;
      const newest = new Date(held.issuedMs).toISOString();
      // Without the held beacon: this error goes to whoever offers an old one.
      const message = `beacon refused: it was issued before the one held here, of ${newest}`;
      throw new CodedError('BEACON_REFUSED', message, {
        hint: 'correct the clock of the machine that issued it: ring-builder beacon RING follows',
        details: { given: beacon },
      });
    }
    await makeDirectory(this.#ports.directory);
    await replaceState(join(this.#ports.directory, `${beacon.keyspace}.beacon`), bytes);
    this.#beacons.set(beacon.keyspace, { beacon, bytes });
  }

  async #loadBeacons(): Promise<void> {
    const names = await readdir(this.#ports.directory).catch(() => []);
    for (const name of names.filter((one) => one.endsWith('.beacon'))) {
      const bytes = await readOwnFile(join(this.#ports.directory, name));
      // Drops a beacon whose key was revoked since.
      await this.#keepBeacon(bytes).catch((error: unknown) => {
        if (!(error instanceof CodedError)) throw error;
      });
    }
  }
}

function fileOf(directory: string, id: string): string {
  return join(directory, `${id}.json`);
}

async function loadAnchor(directory: string, word: string): Promise<Anchor> {
  const named = /^[0-9a-f]{64}$/.test(word) ? null : parseTrustFile(await readGiven(word));
  const id = named === null ? word : rootIdOf(named[0] as SignedDocument); // one or more roots
  const stored = await readOwnFile(fileOf(directory, id)).catch(nullIfMissing);
  const followed = stored === null ? null : parseTrustFile(stored);
  const [longer, shorter] =
    (followed?.length ?? 0) >= (named?.length ?? 0) ? [followed, named] : [named, followed];
  if (longer === null) return { id, documents: [], trust: null };
  if (shorter?.some((one, at) => rootIdOf(one) !== rootIdOf(longer[at] ?? one))) {
    const message = `${word} differs from the roots that this server has already followed`;
    throw new CodedError('TRUST_FORK', message, {
      hint: `find out who created the other root; to start over on purpose: rm ${fileOf(directory, id)}`,
    });
  }
  return { id, documents: longer, trust: newestRoot(longer, id) };
}

async function readGiven(file: string): Promise<Uint8Array> {
  return await readRegularFile(file, trustFileBytesMax).catch((cause: unknown) => {
    if (cause instanceof CodedError) throw cause;
    throw new CodedError('TRUST_UNKNOWN', `--trust ${file} is neither a file nor a root id`, {
      hint: 'give the trust.json of the rings folder, or the id that ring-builder key trust prints',
      cause,
    });
  });
}
