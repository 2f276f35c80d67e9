// What the fields of a device may hold: one schema for files, flags and messages. Pure.
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
 * Underscores are allowed because container hosts are often named with them, letters of any script
 * because host names may be international, and the dot of the root at the end.
 */
const hostNamePattern =
  /^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}_])?(?:\.[\p{L}\p{M}\p{N}_-]+)*\.?$/u;
/** RFC 4007: which network card a link-local address is behind. */
const zonePattern = /^(?<address>[^%]*)%[A-Za-z0-9._~-]{1,64}$/;
/** Only digits and dots: meant as IPv4, so it must be one, or `10.0.0.256` would be a host name. */
const digitsPattern = /^[0-9.]+$/;
/** Of a directory under the mount point; what stands inside may be spaces, as in Swift. */
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
 * SPKI bytes of an ed25519 key in base64: 12 bytes that are always the same, then 32 of the key, in
 * the one spelling that base64 has for them.
 */
const keyPattern = /^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

const tierNumber = z.int().min(0).max(tierNumberMax);

/** Of a device on its server: the directory that Swift would mount it at. */
export const deviceNameSchema = z
  .string()
  .max(deviceNameCharactersMax)
  .regex(namePattern, 'is empty, . or .., has a slash or control character, or a space at an end');

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
    .regex(keyPattern, 'is no ed25519 key as its server prints it: MCowBQYDK2VwAyEA…')
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
 * The first complaint of a schema about a value, as `field: what is wrong`; with the value of the
 * field, where it was parsed with reportInput.
 */
export function firstComplaint(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'not of the right form';
  const { input } = issue;
  const field = issue.path.length === 0 ? 'value' : issue.path.join('.');
  const given =
    input === undefined ? '' : ` ${shortened(JSON.stringify(input), typedCharactersMax)}`;
  return `${field}${given}: ${issueSentence(issue)}`;
}
