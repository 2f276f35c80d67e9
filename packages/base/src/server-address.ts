// The address of a server as people write it, made whole: a port where none is given, brackets
// around IPv6. Pure.
import { CodedError } from './coded-error.ts';

/** Where a server listens unless it is told otherwise. */
export const defaultPort = 6200;

const portMax = 65_535;
const bareIpv6 = /^[0-9a-f]*(:[0-9a-f.]*){2,8}$/i;
const host = /^(\[[0-9a-f:.]+\]|[^\s:[\]/@?#]+)(?::(\d{1,5}))?$/i;

/**
 * `localhost`, `10.0.0.1:6201`, `::1` and `[::1]:6201` as `host:port`. Two colons without brackets
 * are IPv6 without a port. Throws USAGE.
 */
export function serverAddress(written: string): string {
  const [, name, port = String(defaultPort)] =
    host.exec(bareIpv6.test(written) ? `[${written}]` : written) ?? [];
  if (name !== undefined && Number(port) >= 1 && Number(port) <= portMax) {
    return `${name}:${Number(port)}`;
  }
  throw new CodedError('USAGE', `${JSON.stringify(written.slice(0, 128))} is no server address`, {
    hint: `write HOST, HOST:PORT or [IPV6]:PORT; without a port it is ${defaultPort}`,
    details: { address: written.slice(0, 128) },
  });
}
