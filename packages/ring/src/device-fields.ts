// What the fields of a device may hold: one schema for files, flags and messages. Pure.
import {
  deviceCountMax,
  deviceMetaCharactersMax,
  deviceNameCharactersMax,
  deviceWeightMax,
  tierNumberMax,
} from '@ringwright/base/limits';
import { z } from 'zod';
import { deviceExtraSchema } from './device-extra.ts';

/** RFC 1123 length; underscores are allowed because container hosts are often named with them. */
const hostNamePattern =
  /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_-]+)*$/;
/** Only digits and dots: meant as IPv4, so it must be one, or `10.0.0.256` would be a host name. */
const digitsPattern = /^[0-9.]+$/;
const ipv4 = z.ipv4();
const ipv6 = z.ipv6();

export function isHost(text: string): boolean {
  if (text.includes(':')) return ipv6.safeParse(text).success;
  if (digitsPattern.test(text)) return ipv4.safeParse(text).success;
  return hostNamePattern.test(text);
}

const tierNumber = z.int().min(0).max(tierNumberMax);

export const deviceAddressSchema = z.object({
  region: tierNumber,
  zone: tierNumber,
  ip: z.string().refine(isHost, 'is neither an IPv4 or IPv6 address nor a host name'),
  port: z.int().min(1).max(65_535),
  device: z
    .string()
    .max(deviceNameCharactersMax)
    .regex(/^(?!\.{1,2}$)[^\s/\p{C}]+$/u, 'has a space, slash or control character, or is empty'),
  meta: z.string().max(deviceMetaCharactersMax),
});

export const deviceSchema = deviceAddressSchema.extend({
  id: z
    .int()
    .min(0)
    .max(deviceCountMax - 1),
  weight: z.number().min(0).max(deviceWeightMax),
  extra: deviceExtraSchema.exactOptional(),
});

/** The first complaint of a schema about a value, as `field: what is wrong`. */
export function firstComplaint(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'not of the right form';
  return `${issue.path.length === 0 ? 'value' : issue.path.join('.')}: ${issue.message}`;
}
