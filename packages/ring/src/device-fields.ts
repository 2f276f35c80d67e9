// The permitted values of a device's fields: one schema for files, flags and messages. Pure.
import {
  deviceCountMax,
  deviceMetaCharactersMax,
  deviceNameCharactersMax,
  deviceWeightMax,
  hostCharactersMax,
  tierNumberMax,
} from '@ringwright/base/limits';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { portMax } from '@ringwright/base/server-address';
import { shortened } from '@ringwright/base/shortened';
import { z } from 'zod';
import { deviceExtraSchema } from './device-extra.ts';
import { issueSentence } from './issue-sentence.ts';

/**
 * Underscores are allowed because container hosts often have them, letters of any script because
 * host names may be international, and a trailing dot because it denotes the DNS root.
 */
const hostNamePattern =
  /^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}_])?(?:\.[\p{L}\p{M}\p{N}_-]+)*\.?$/u;
/** RFC 4007: the zone of a link-local address, which is the network interface. */
const zonePattern = /^(?<address>[^%]*)%[A-Za-z0-9._~-]{1,64}$/;
/** Only digits and dots: must be an IPv4 address, or `10.0.0.256` would pass as a host name. */
const digitsPattern = /^[0-9.]+$/;
/** A directory name under the mount point. As in Swift, spaces are allowed inside it. */
const namePattern = /^(?!\.{1,2}$)(?!\s)[^/\p{C}\p{Zl}\p{Zp}]+(?<!\s)$/u;
const ipv4 = z.ipv4();
const ipv6 = z.ipv6();

export function isHost(text: string): boolean {
  if (text.length > hostCharactersMax) return false;
  if (text.includes(':')) {
    return ipv6.safeParse(zonePattern.exec(text)?.groups?.['address'] ?? text).success;
  }
  if (digitsPattern.test(text)) return ipv4.safeParse(text).success;
  return hostNamePattern.test(text);
}

/**
 * SPKI bytes of an ed25519 key in base64: a constant prefix of 12 bytes, then 32 bytes of the key,
 * in canonical base64.
 */
const keyPattern = /^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

const tierNumber = z.int().min(0).max(tierNumberMax);

/** Name of a device on its server: the directory where Swift would mount it. */
export const deviceNameSchema = z
  .string()
  .max(deviceNameCharactersMax)
  .regex(
    namePattern,
    'is empty, . or .., has a slash or control character, or begins or ends with a space',
  );

const ip = z.string().refine(isHost, 'is neither an IPv4 or IPv6 address nor a host name');
const port = z.int().min(1).max(portMax);

export const deviceAddressSchema = z.object({
  region: tierNumber,
  zone: tierNumber,
  ip,
  port,
  device: deviceNameSchema,
  meta: z.string().max(deviceMetaCharactersMax),
  key: z
    .string()
    .regex(keyPattern, 'is not an ed25519 key as printed by its server: MCowBQYDK2VwAyEA…')
    .exactOptional(),
  replication: z.strictObject({ ip, port }).exactOptional(),
});

export const deviceSchema = deviceAddressSchema.extend({
  id: z
    .int()
    .min(0)
    .max(deviceCountMax - 1),
  weight: z.number().min(0).max(deviceWeightMax),
  extra: deviceExtraSchema.exactOptional(),
});

/**
 * Returns the first complaint of a schema as `field: what is wrong`, with the value of the field if
 * it was parsed with reportInput.
 */
export function firstComplaint(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'has the wrong form';
  const { input } = issue;
  const field = issue.path.length === 0 ? 'value' : issue.path.join('.');
  const inputText =
    input === undefined ? '' : ` ${shortened(JSON.stringify(input), typedCharactersMax)}`;
  return `${field}${inputText}: ${issueSentence(issue)}`;
}
