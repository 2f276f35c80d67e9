// Reads a device as operators type it: r1z2-10.0.0.1:6200/sdb, optionally with _meta. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { shortened } from '@ringwright/base/shortened';
import type { Device } from './device.ts';
import { deviceAddressSchema, firstComplaint } from './device-fields.ts';

const deviceForm = 'r<region>z<zone>-<ip>:<port>/<device>[_<meta>]';

const devicePattern =
  /^r(?<region>\d{1,10})z(?<zone>\d{1,10})-(?:\[(?<ipv6>[^\]]*)\]|(?<host>[^:[\]/]*)):(?<port>\d{1,5})\/(?<device>[^_]*)(?:_(?<meta>[^]*))?$/;

/**
 * Fields of a device in Swift's text form; IPv6 addresses stand in brackets, the device name ends
 * at the first underscore. Throws DEVICE_INVALID.
 */
export function parseDevice(text: string): Omit<Device, 'id' | 'weight'> {
  const groups = devicePattern.exec(text)?.groups;
  if (groups === undefined) throw invalid(text, `is not of the form ${deviceForm}`);
  if (groups['ipv6'] !== undefined && !groups['ipv6'].includes(':')) {
    throw invalid(
      text,
      `has ${JSON.stringify(groups['ipv6'])} in brackets, wanted an IPv6 address`,
    );
  }
  const fields = {
    region: Number(groups['region']),
    zone: Number(groups['zone']),
    ip: groups['ipv6']?.replace(/^[^%]*/, (address) => address.toLowerCase()) ?? groups['host'],
    port: Number(groups['port']),
    device: groups['device'],
    meta: groups['meta'] ?? '',
  };
  const parsed = deviceAddressSchema.safeParse(fields, { reportInput: true });
  if (!parsed.success) throw invalid(text, `has a wrong ${firstComplaint(parsed.error)}`);
  return parsed.data;
}

function invalid(text: string, complaint: string): CodedError {
  const given = shortened(text, typedCharactersMax);
  return new CodedError('DEVICE_INVALID', `device ${JSON.stringify(given)} ${complaint}`, {
    hint: `write ${deviceForm}, such as r1z2-10.0.0.1:6200/sdb or r1z2-[fd00::1]:6200/sdb`,
    details: { given, wanted: deviceForm },
  });
}
