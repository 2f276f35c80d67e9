// Where a new device differs from the old one: 10.0.0.9, 10.0.0.9:6200/sdc, /sdc, r1z3-fd00::9.
import { CodedError } from '@ringwright/base/coded-error';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { isWholeAddress, parseAddress } from '@ringwright/base/server-address';
import { shortened } from '@ringwright/base/shortened';
import type { Device } from '@ringwright/ring/device';

export type Place = Partial<Pick<Device, 'region' | 'zone' | 'ip' | 'port' | 'device'>>;

/** Throws DEVICE_INVALID. */
export function placeOf(written: string): Place {
  const form = /^(?:r(\d{1,9})z(\d{1,9})-)?([^/]*)(?:\/([^_]+))?$/s;
  const [all, region, zone, server = '', device] = form.exec(written) ?? [];
  const address = parseAddress(server);
  if (all === undefined || all === '' || (server !== '' && address === null))
    throw invalid(written);
  return {
    ...(region !== undefined && { region: Number(region), zone: Number(zone) }),
    ...(address !== null && { ip: lowerIpv6(address.ip) }),
    ...(address !== null && isWholeAddress(server) && { port: address.port }),
    ...(device !== undefined && { device }),
  };
}

/** As rings have it; what stands behind a % is the name of a network card. */
function lowerIpv6(ip: string): string {
  return ip.replace(/^[^%]*:[^%]*/, (address) => address.toLowerCase());
}

function invalid(written: string): CodedError {
  const given = shortened(written, typedCharactersMax);
  return new CodedError('DEVICE_INVALID', `${JSON.stringify(given)} is no place of a new device`, {
    hint: 'write IP, IP:PORT/DEVICE or /DEVICE, perhaps with r1z2- before it',
    details: { given },
  });
}
