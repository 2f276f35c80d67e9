// Fields that a device carries for other systems: a small JSON object of limited depth. Pure.
import { canonicalJson, type Json } from '@ringwright/base/canonical-json';
import { deviceExtraBytesMax, foreignValueDepthMax } from '@ringwright/base/limits';
import { z } from 'zod';
import type { DeviceExtra } from './device.ts';

const ownFields = ['id', 'region', 'zone', 'ip', 'port', 'device', 'weight', 'meta', 'state'];

/** Must be absent rather than empty, so that a device has one canonical form. */
export const deviceExtraSchema = z.custom<DeviceExtra>().superRefine((extra, context) => {
  const complaint = extraComplaint(extra);
  if (complaint !== null) context.addIssue({ code: 'custom', message: complaint });
});

function extraComplaint(extra: unknown): string | null {
  if (typeof extra !== 'object' || extra === null || Array.isArray(extra))
    return 'is not an object';
  const names = Object.keys(extra);
  if (names.length === 0) return 'is empty: omit it';
  const repeated = names.find((name) => ownFields.includes(name));
  if (repeated !== undefined) return `repeats the device's own ${repeated}`;
  const complaint = jsonComplaint(extra, foreignValueDepthMax);
  if (complaint !== null) return complaint;
  // The check above has shown that it is JSON.
  const bytes = Buffer.byteLength(canonicalJson(extra as Json));
  return bytes > deviceExtraBytesMax ? `has ${bytes} bytes, at most ${deviceExtraBytesMax}` : null;
}

/** Returns why a value is not JSON that all programs read alike, or null. Depth is bounded. */
function jsonComplaint(value: unknown, depthLeft: number): string | null {
  if (value === null || typeof value === 'boolean') return null;
  if (typeof value === 'string') {
    return value.isWellFormed() ? null : 'holds half of a surrogate pair';
  }
  if (typeof value === 'number') {
    if (Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)) return null;
    return `holds the number ${value}`;
  }
  if (typeof value !== 'object') return `holds a ${typeof value}`;
  if (depthLeft === 0) return `is nested deeper than ${foreignValueDepthMax}`;
  if (Object.hasOwn(value, '__proto__')) return 'has a member __proto__';
  for (const member of Object.values(value)) {
    const complaint = jsonComplaint(member, depthLeft - 1);
    if (complaint !== null) return complaint;
  }
  return null;
}
