// The one grammar of a server's address, `HOST:PORT`: as people write it, and as rings and servers
// name it. IPv6 stands in brackets. Pure.
import { must } from './assert.ts';
import { CodedError } from './coded-error.ts';
import { typedCharactersMax } from './limits-commands.ts';
import { shortened } from './shortened.ts';

/** Where a server listens unless it is told otherwise. */
export const defaultPort = 6200;
export const portMax = 65_535;

export type Address = {
  /** IPv4, IPv6 without brackets, or a host name. */
  readonly ip: string;
  readonly port: number;
};

/** RFC 4007: behind the % stands which network card a link-local address is behind. */
const ipv6 = /^[0-9a-f]*(?::[0-9a-f.]*){2,8}(?:%[\w.~-]{1,64})?$/i;
const ipv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const hostAndPort =
  /^(?:\[(?<inside>[^\]]*)\]|(?<name>[^\s\p{C}:[\]/@?#%]+))(?::(?<port>\d{1,5}))?$/u;

/**
 * `localhost`, `10.0.0.1:6201`, `::1` and `[::1]:6201`; null for what is none. Two colons without
 * brackets are IPv6 without a port.
 */
export function parseAddress(written: string): Address | null {
  const whole = ipv6.test(written) ? `[${written}]` : written;
  const { inside, name, port = String(defaultPort) } = hostAndPort.exec(whole)?.groups ?? {};
  const number = Number(port);
  if (number < 1 || number > portMax) return null;
  if (inside !== undefined) return ipv6.test(inside) ? { ip: inside, port: number } : null;
  return name !== undefined && isHostName(name) ? { ip: name, port: number } : null;
}

/** Only digits and dots: meant as IPv4, so it must be one, or `10.0.0.256` would be a name. */
function isHostName(name: string): boolean {
  if (!/^[\d.]+$/.test(name)) return true;
  return ipv4.test(name) && name.split('.').every((part) => Number(part) <= 255);
}

/** Of an address that is known to be one. */
export function splitAddress(address: string): Address {
  return must(parseAddress(address), `${address} is an address`);
}

/** `10.0.0.1:6200`, `[::1]:6200`. */
export function formatAddress({ ip, port }: Address): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** Whether it is as formatAddress has it, port and all: the form in which servers name each other. */
export function isWholeAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== null && formatAddress(address) === text;
}

/** What people wrote, made whole: a port where none is given, brackets around IPv6. Throws USAGE. */
export function serverAddress(written: string): string {
  const address = parseAddress(written);
  if (address !== null) return formatAddress(address);
  const given = shortened(written, typedCharactersMax);
  throw new CodedError('USAGE', `${JSON.stringify(given)} is no server address`, {
    hint: `write HOST, HOST:PORT or [IPV6]:PORT; without a port it is ${defaultPort}`,
    details: { address: given },
  });
}
