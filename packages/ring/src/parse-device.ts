// Parses a device as operators type it: r1z2-10.0.0.1:6200/sdb, optionally with a replication
// address and _meta. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { shortened } from '@ringwright/base/shortened';
import type { Device } from './device.ts';
import { deviceAddressSchema, firstComplaint } from './device-fields.ts';

const deviceForm = 'r<region>z<zone>-<ip>:<port>[R<ip>:<port>]/<device>[_<meta>]';

const devicePattern = new RegExp(
  `^r(?<region>\\d{1,10})z(?<zone>\\d{1,10})-${addressPattern('')}(?:R${addressPattern('R')})?` +
    '/(?<device>[^_]*)(?:_(?<meta>[^]*))?$',
);

/** The names of its groups end with `of`. */
function addressPattern(of: string): string {
  return `(?:\\[(?<ipv6${of}>[^\\]]*)\\]|(?<host${of}>[^:[\\]/]*)):(?<port${of}>\\d{1,5})`;
}

/**
 * Returns the fields of a device in Swift's text form. IPv6 addresses are in brackets; the device
 * name ends at the first underscore. Throws DEVICE_INVALID.
 */
export function parseDevice(text: string): Omit<Device, 'id' | 'weight'> {
  const groups = devicePattern.exec(text)?.groups;
  if (groups === undefined) throw invalid(text, `is not of the form ${deviceForm}`);
  const addressOf = (of: string): { ip: string | undefined; port: number } => {
    const ipv6 = groups[`ipv6${of}`];
    if (ipv6 !== undefined && !ipv6.includes(':')) {
      throw invalid(text, `has ${JSON.stringify(ipv6)} in brackets, expected an IPv6 address`);
    }
    const ip = ipv6?.replace(/^[^%]*/, (address) => address.toLowerCase()) ?? groups[`host${of}`];
    return { ip, port: Number(groups[`port${of}`]) };
  };
  const fields = {
    region: Number(groups['region']),
    zone: Number(groups['zone']),
    ...addressOf(''),
    ...(groups['portR'] !== undefined && { replication: addressOf('R') }),
    device: groups['device'],
    meta: groups['meta'] ?? '',
  };
  const parsed = deviceAddressSchema.safeParse(fields, { reportInput: true });
  if (!parsed.success) throw invalid(text, `has an invalid ${firstComplaint(parsed.error)}`);
  return parsed.data;
}

function invalid(text: string, complaint: string): CodedError {
  const shortText = shortened(text, typedCharactersMax);
  return new CodedError('DEVICE_INVALID', `device ${JSON.stringify(shortText)} ${complaint}`, {
    hint: `write ${deviceForm}, such as r1z2-10.0.0.1:6200/sdb or r1z2-[fd00::1]:6200/sdb`,
    details: { given: shortText, wanted: deviceForm },
  });
}
