// All invariants of one ring: `verify` prints them, and servers check a pushed ring with them.
// Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { deviceCountMax } from '@ringwright/base/limits';
import { formatDevice } from '../device.ts';
import { deviceSchema, firstComplaint } from '../device-fields.ts';
import { liveIds } from '../partitioner/live-ids.ts';
import { noDeviceIn, type Ring } from '../ring.ts';
import { moveChecks } from './audit-moves.ts';
import { lengthChecks, settingChecks } from './audit-settings.ts';
import { type Broken, type Check, findingsOf } from './finding-list.ts';

const deviceChecks: readonly Check<Ring>[] = [
  { code: 'DEVICES_TOO_MANY', broken: devicesTooMany },
  { code: 'DEVICE_ID_NOT_INDEX', broken: idNotIndex },
  { code: 'DEVICE_FIELDS_INVALID', broken: fieldsInvalid },
  { code: 'DEVICE_ADDRESS_TWICE', broken: addressTwice },
];

const tableChecks: readonly Check<Ring>[] = [
  { code: 'SLOT_DEVICE_UNKNOWN', broken: deviceUnknown },
  { code: 'PARTITION_DEVICE_TWICE', broken: deviceTwice },
  { code: 'MIN_VERSION_INVALID', broken: minVersionInvalid },
];

/** Each stage relies on the invariants that the stages before it have checked. */
const stages: readonly (readonly Check<Ring>[])[] = [
  settingChecks,
  [...lengthChecks, ...deviceChecks],
  [...tableChecks, ...moveChecks],
];

/** All codes of an audit, in the order of the checks. */
export const auditCodes: readonly string[] = stages.flat().map(({ code }) => code);

/** Returns the findings, empty for a sound ring. Stops after the first stage with findings. */
export function auditRing(ring: Ring): Finding[] {
  for (const checks of stages) {
    const findings = findingsOf(checks, ring);
    if (findings.length > 0) return findings;
  }
  return [];
}

/** Throws RING_AUDIT_FAILED with all findings, and with the caller's `known` details. */
export function requireSound(
  ring: Ring,
  hint: string,
  known: Readonly<Record<string, unknown>> = {},
): void {
  const findings = auditRing(ring);
  const [first] = findings;
  if (first === undefined) return;
  const message = `${counted(findings.length, 'finding')}: ${first.message}`;
  throw new CodedError('RING_AUDIT_FAILED', message, { hint, details: { ...known, findings } });
}

function* devicesTooMany({ devices }: Ring): Generator<Broken> {
  if (devices.length <= deviceCountMax) return;
  yield `${devices.length} devices, holes included, at most ${deviceCountMax}`;
}

function* idNotIndex({ devices }: Ring): Generator<Broken> {
  for (const [index, device] of devices.entries()) {
    if (device === null || device.id === index) continue;
    yield `device ${formatDevice(device)} has id ${device.id} at index ${index}`;
  }
}

function* fieldsInvalid({ devices }: Ring): Generator<Broken> {
  for (const device of devices) {
    if (device === null) continue;
    const parsed = deviceSchema.safeParse(device);
    if (parsed.success) continue;
    const message = `device ${device.id} has an invalid ${firstComplaint(parsed.error)}`;
    yield { message, details: { device } };
  }
}

function* addressTwice({ devices }: Ring): Generator<Broken> {
  const seen = new Map<string, number>();
  for (const device of devices) {
    if (device === null) continue;
    const address = `${device.ip} ${device.port} ${device.device}`;
    const first = seen.get(address);
    if (first === undefined) seen.set(address, device.id);
    else yield `devices ${first} and ${device.id} are both ${formatDevice(device)}`;
  }
}

function* deviceUnknown({ table, devices, partitioner }: Ring): Generator<Broken> {
  const known = Uint8Array.from(devices, (device) => (device === null ? 0 : 1));
  const live = liveIds(partitioner);
  for (const [replica, row] of table.entries()) {
    const noDevice = noDeviceIn(row);
    for (let partition = 0; partition < row.length; partition += 1) {
      const device = row[partition] ?? -1;
      if (live !== null && live[partition] === 0) {
        if (device === noDevice) continue;
        yield `slot (${partition}, ${replica}) names device ${device}, and has no keys`;
        continue;
      }
      if (known[device] === 1) continue;
      const what = device < devices.length ? 'a hole' : `not among ${devices.length} devices`;
      yield `slot (${partition}, ${replica}) names device ${device}, which is ${what}`;
    }
  }
}

/** The checks of moves cover the joiners. */
function* deviceTwice({ table, devices, partitions }: Ring): Generator<Broken> {
  const lastSeen = new Int32Array(devices.length).fill(-1);
  for (let partition = 0; partition < partitions; partition += 1) {
    for (let replica = 0; replica < table.length; replica += 1) {
      const device = table[replica]?.[partition];
      if (device === undefined || device >= lastSeen.length) continue;
      if (lastSeen[device] === partition) {
        yield `partition ${partition} has two slots on device ${device}`;
      }
      lastSeen[device] = partition;
    }
  }
}

function* minVersionInvalid({ minVersions, version }: Ring): Generator<Broken> {
  for (let partition = 0; partition < minVersions.length; partition += 1) {
    const minVersion = minVersions[partition] ?? 0;
    if (minVersion >= 1 && minVersion <= version) continue;
    yield `partition ${partition} has minVersion ${minVersion} in version ${version}`;
  }
}
