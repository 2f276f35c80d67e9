// Which device is at the other end of a connection: by the key that it proved, and what the active
// rings say about that key. If a ring names the keys of all its devices, only they may send
// messages about it.
import { CodedError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import type { ServerProof } from '@ringwright/node/link/prove-server';
import type { Ring } from '@ringwright/ring/ring';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { Caller } from '@ringwright/wire/call-channel';
import { ringHead } from '../rings/active-ring.ts';
import type { RequestedRing } from '../rings/ring-requests.ts';
import type { Rings } from '../rings/rings.ts';
import { ownCaller } from './device-caller.ts';

interface Accepted {
  readonly key: string;
  readonly end: () => void;
  /** Whether a ring named the key at the last check. */
  isNamed: boolean;
}

export class ProvenPeers {
  readonly #rings: Rings;
  readonly #keys = new WeakMap<Caller, string>();
  readonly #accepted = new Map<Caller, Accepted>();

  constructor(rings: Rings) {
    this.#rings = rings;
  }

  /** To be called when the other end of a connection has proved a key. */
  note(caller: Caller, key: string): void {
    this.#keys.set(caller, key);
  }

  /**
   * Like `note`, for a connection that was accepted; `end` closes it once no ring names the key any
   * more. Call the returned function when the connection is closed.
   */
  accept(caller: Caller, key: string, end: () => void): () => void {
    this.note(caller, key);
    this.#accepted.set(caller, { key, end, isNamed: this.#isNamed(key) });
    return () => void this.#accepted.delete(caller);
  }

  /** Returns what the server at an address must prove; null: no active ring names a key for it. */
  proofOf(address: string): ServerProof | null {
    const keys = this.#keysAt(address);
    return keys.size === 0 ? null : { by: 'device', keys };
  }

  /** Whether a caller proved a key that an active ring names. */
  isMember(caller: Caller): boolean {
    const key = this.#keys.get(caller);
    return key !== undefined && this.#isNamed(key);
  }

  /** Whether a caller may speak in the name of the server at an address. */
  speaksFor(caller: Caller, address: string): boolean {
    const keys = this.#keysAt(address);
    return keys.size === 0 || keys.has(this.#keys.get(caller) ?? '');
  }

  /**
   * Whether only devices of the ring may send messages about it, and others only those they were
   * granted.
   */
  isMembersOnly(ring: Ring): boolean {
    return ringKeys(ring).isWhole;
  }

  /**
   * Throws CALLER_UNPROVEN if only devices of the ring may send this, and the caller has not proved
   * to be one of them, or to be the one it claims, and was not granted this either. Throws
   * RING_STALE if the caller may not know yet that it must prove its key.
   */
  requireMember(
    caller: Caller,
    request: RequestedRing & { readonly device?: number },
    isGranted: (caller: Caller, request: RequestedRing) => boolean,
  ): void {
    if (caller === ownCaller) return;
    const { keyspace, ringVersion, device } = request;
    const active = this.#rings.find(keyspace);
    if (active === undefined) return; // the handler reports that
    const { isWhole, devices } = ringKeys(active.ring);
    if (!isWhole) return;
    const key = this.#keys.get(caller);
    const provenDevice = key === undefined ? undefined : devices.get(key);
    if (provenDevice !== undefined && (device === undefined || device === provenDevice)) return;
    if (isGranted(caller, request)) return;
    const { version } = active.ring;
    const requirement = `${keyspace} ${version} names the key of every device`;
    if (ringVersion < version) {
      const message = `${requirement}; the request has version ${ringVersion}`;
      throw new CodedError('RING_STALE', message, { details: { head: ringHead(active) } });
    }
    throw new CodedError('CALLER_UNPROVEN', `${requirement}: ${whyNot(key, provenDevice)}`, {
      hint:
        'a device must use the key that the ring names (set-device RING dN --key), ' +
        `a server outside the ring needs a token with the roles peer and write of ${keyspace}`,
      details: { keyspace, version, ...(key !== undefined && { key }) },
    });
  }

  /**
   * To be called when a ring was activated: ends the connections of keys that are no longer named.
   */
  endRevoked(): void {
    for (const accepted of this.#accepted.values()) {
      const wasNamed = accepted.isNamed;
      accepted.isNamed = this.#isNamed(accepted.key);
      if (wasNamed && !accepted.isNamed) accepted.end();
    }
  }

  #isNamed(key: string): boolean {
    return this.#rings.list().some(({ ring }) => ringKeys(ring).devices.has(key));
  }

  #keysAt(address: string): ReadonlySet<string> {
    const keySets = this.#rings.list().flatMap(({ ring }) => {
      const keys = ringKeys(ring).byAddress.get(address);
      return keys === undefined ? [] : [keys];
    });
    const [first = new Set<string>(), ...others] = keySets;
    return others.length === 0 ? first : new Set(keySets.flatMap((keys) => [...keys]));
  }
}

function whyNot(key: string | undefined, device: number | undefined): string {
  if (key === undefined) return 'the caller proved no key';
  return device === undefined ? `${key} is not one of them` : `the caller is d${device}`;
}

/** The keys of devices that a ring names. */
interface RingKeys {
  /** Whether every device of the ring has a key: then nobody else may speak as a device. */
  readonly isWhole: boolean;
  /** Ids of keys, each with the device that has it. */
  readonly devices: ReadonlyMap<string, number>;
  readonly byAddress: ReadonlyMap<string, ReadonlySet<string>>;
}

/** By ring, which is immutable: looked up with every call between devices. */
const keysByRing = new WeakMap<Ring, RingKeys>();

function ringKeys(ring: Ring): RingKeys {
  const found = keysByRing.get(ring);
  if (found !== undefined) return found;
  const devices = new Map<string, number>();
  const byAddress = new Map<string, Set<string>>();
  let isWhole = true;
  for (const device of ring.devices) {
    if (device === null) continue;
    if (device.key === undefined) {
      isWhole = false;
      continue;
    }
    const id = keyIdOf(device.key);
    devices.set(id, device.id);
    for (const address of [device, device.replication ?? device].map(formatAddress)) {
      byAddress.set(address, (byAddress.get(address) ?? new Set<string>()).add(id));
    }
  }
  const keys = { isWhole: isWhole && devices.size > 0, devices, byAddress };
  keysByRing.set(ring, keys);
  return keys;
}
