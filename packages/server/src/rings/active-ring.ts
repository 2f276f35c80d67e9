// A ring as a server uses it: decoded, with the bytes to relay, and what is found in it once: this
// device's id and its duties, and the addresses of all.
import { createHash, type KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { assert } from '@ringwright/base/assert';
import { getOrMake } from '@ringwright/base/get-or-make';
import { deviceCountMax } from '@ringwright/base/limits';
import { ringTurnBytesMax } from '@ringwright/base/limits-rings';
import { comparableAddress, formatAddress } from '@ringwright/base/server-address';
import { dutiesOf, loadsOf, servedBetween } from '@ringwright/ring/duty-of';
import type { Signing } from '@ringwright/ring/file/ring-manifest';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Ring } from '@ringwright/ring/ring';
import { spkiOf } from '@ringwright/ring/trust/public-key';
import type { RingHead } from '@ringwright/wire/hello';
import type { DeviceIdentity } from '../device/device-identity.ts';

export interface ActiveRing {
  readonly ring: Ring;
  readonly id: string;
  readonly bytes: Uint8Array;
  /** What the manifest says about its signing; absent or null for an unsigned ring. */
  readonly signing?: Signing | null;
  /** This device's id in the ring; null when the ring does not name it. */
  readonly self: number | null;
  /** Tie-break of stamps made here, from the device id and the data directory: see tieOf. */
  readonly tieDevice: number;
  readonly partitionOf: (key: Uint8Array) => number;
  readonly activatedMs: number;
}

/** A partition under the ring that is active. */
export interface ActivePartition {
  readonly active: ActiveRing;
  readonly partition: number;
}

/** Stamps of coordinators outside the ring use the upper half of the 24-bit tie-break. */
const UNKNOWN_DEVICE_BASE = 2 ** 23;
/** Devices use the lower half: the low bits are the device id, the bits above mark the disk. */
const ID_SPAN = 2 ** 17;
const MARKS = UNKNOWN_DEVICE_BASE / ID_SPAN;
assert(deviceCountMax <= ID_SPAN, 'ids of devices fit the tie-break');

export function activeRing(
  decoded: Pick<ActiveRing, 'ring' | 'id' | 'bytes' | 'signing'>,
  identity: DeviceIdentity,
  nowMs: number,
): ActiveRing {
  const self = findSelf(decoded.ring.devices, identity);
  const tieDevice = tieOf(self, identity);
  const partitionOf = partitionerOf(decoded.ring.partitioner);
  return { ...decoded, self, tieDevice, partitionOf, activatedMs: nowMs };
}

export function ringHead(active: ActiveRing): RingHead {
  return { keyspace: active.ring.keyspace, version: active.ring.version, id: active.id };
}

/**
 * Returns the address of a device. For a hole, returns the empty text, which is never connected to.
 */
export function addressOf({ ring }: Pick<ActiveRing, 'ring'>, id: number): string {
  const device = ring.devices[id];
  return device === null || device === undefined ? '' : formatAddress(device);
}

/** The exact spelling of the address goes first: a ring may have two that mean the same. */
function findSelf(devices: Ring['devices'], { name, address }: DeviceIdentity): number | null {
  for (const spell of [formatAddress, comparableAddress]) {
    const own = spell(address);
    const found = devices.find(
      (device) =>
        device !== null &&
        device.port === address.port &&
        (name === null || device.device === name) &&
        spell(device) === own,
    );
    if (found) return found.id;
  }
  return null;
}

/**
 * The address of this server as a ring spells it; as it was typed if no ring names the server. So
 * others find it in their rings.
 */
export function ownAddress(
  rings: readonly Pick<ActiveRing, 'ring' | 'self'>[],
  { address }: Pick<DeviceIdentity, 'address'>,
): string {
  for (const active of rings) if (active.self !== null) return addressOf(active, active.self);
  return formatAddress(address);
}

/**
 * Returns a tie-break that no two devices share. A device that was wiped has forgotten which stamps
 * it issued, and some may lie ahead of its clock. In 63 of 64 cases its new disk has another mark,
 * so that it issues none of them again.
 */
function tieOf(self: number | null, { born }: DeviceIdentity): number {
  const mark = createHash('sha256').update(born).digest().readUInt32BE(0);
  if (self === null) return UNKNOWN_DEVICE_BASE + (mark % UNKNOWN_DEVICE_BASE);
  return ID_SPAN * (mark % MARKS) + self;
}
/**
 * Why a ring does not name this device, though it names its key: it listens at another address, or
 * under another name, than the ring says. Null: the ring names it, or knows nothing of it. `key`:
 * the device's own, private.
 */
export function whyUnnamed(
  { ring, self }: Pick<ActiveRing, 'ring' | 'self'>,
  { key, identity }: { readonly key: KeyObject; readonly identity: DeviceIdentity },
): string | null {
  if (self !== null) return null;
  const spki = spkiOf(key);
  const known = ring.devices.find((device) => device !== null && device.key === spki);
  if (known === undefined || known === null) return null;
  const { keyspace, version } = ring;
  const { ip, port } = identity.address;
  const [named, own] = [formatAddress(known), formatAddress(identity.address)];
  const name = identity.name ?? known.device;
  const move = `set-device ${keyspace} d${known.id} --ip ${ip} --port ${port}`;
  return (
    `version ${version} of ring '${keyspace}' names the disk of this server as d${known.id}, ` +
    `${named}/${known.device}, but it was started as ${own}/${name}: start it as the ring says; ` +
    `or, if it moved, ring-builder ${move}, commit and push`
  );
}

/** By ring, which is immutable: looked up with every hello. */
const addresses = new WeakMap<Ring, ReadonlyMap<string, string>>();

/** Maps each address to the server's own address: a replication address to the one for requests. */
export function addressesIn(ring: Ring): ReadonlyMap<string, string> {
  return getOrMake(addresses, ring, () => findAddresses(ring));
}

function findAddresses({ devices: slots }: Ring): ReadonlyMap<string, string> {
  const devices = slots.filter((device) => device !== null);
  const all = new Map<string, string>();
  for (const device of devices) {
    if (device.replication) all.set(formatAddress(device.replication), formatAddress(device));
  }
  for (const device of devices) all.set(formatAddress(device), formatAddress(device));
  return all;
}

type Duties = ReturnType<typeof dutiesOf>;

const noDuties: Duties = { serve: [], load: [] };
/** O(slots) for some 10 ms in a million partitions, asked by every status, hello, pass and round. */
const duties = new WeakMap<ActiveRing, Duties>();

/** Table entries read in one turn of the event loop: some 10 ms. */
const SLOTS_PER_TURN = 2 ** 21;

/**
 * Computes the duties of a large ring before its activation, in several turns: 2^24 partitions take
 * 150 ms. For smaller rings they are computed on demand.
 */
export async function prepareDuties(active: ActiveRing): Promise<void> {
  const { ring, self, bytes } = active;
  if (self === null || bytes.length <= ringTurnBytesMax) return;
  const serve: number[] = [];
  const step = Math.ceil(SLOTS_PER_TURN / ring.table.length);
  for (let from = 0; from < ring.partitions; from += step) {
    const until = Math.min(from + step, ring.partitions);
    for (const partition of servedBetween(ring, self, { from, until })) serve.push(partition);
    await setImmediate();
  }
  duties.set(active, { serve, load: loadsOf(ring, self) });
}

/** Returns no duties for a device that the ring does not name. */
export function activeDuties(active: ActiveRing): Duties {
  const { ring, self } = active;
  return self === null ? noDuties : getOrMake(duties, active, () => dutiesOf(ring, self));
}
