// Counts requests under way by the ring version they were made with. After a ring change this shows
// when the requests on the old version have ended.

/** `coordinated`: of clients, by this server. `answered`: of devices, this one included. */
interface RequestCounts {
  coordinated: number;
  answered: number;
}

export interface VersionRequests extends Readonly<RequestCounts> {
  readonly version: number;
}

export interface RequestedRing {
  readonly keyspace: string;
  readonly ringVersion: number;
}

export class RingRequests {
  readonly #counts = new Map<string, Map<number, RequestCounts>>();

  begin(kind: keyof RequestCounts, { keyspace, ringVersion }: RequestedRing): void {
    let versions = this.#counts.get(keyspace);
    if (versions === undefined) this.#counts.set(keyspace, (versions = new Map()));
    let counts = versions.get(ringVersion);
    if (counts === undefined) {
      // Versions come from the wire. Removing those without requests keeps the map small.
      for (const [version, { coordinated, answered }] of versions) {
        if (coordinated + answered === 0) versions.delete(version);
      }
      versions.set(ringVersion, (counts = { coordinated: 0, answered: 0 }));
    }
    counts[kind] += 1;
  }

  end(kind: keyof RequestCounts, { keyspace, ringVersion }: RequestedRing): void {
    const counts = this.#counts.get(keyspace)?.get(ringVersion);
    if (counts !== undefined) counts[kind] -= 1;
  }

  /** Versions with requests under way, ascending. */
  list(keyspace: string): VersionRequests[] {
    return [...(this.#counts.get(keyspace) ?? [])]
      .map(([version, counts]) => ({ version, ...counts }))
      .filter(({ coordinated, answered }) => coordinated + answered > 0)
      .sort((a, b) => a.version - b.version);
  }
}
