// The grammar of a server's address, `HOST:PORT`: as people write it, and as rings and servers name
// it. IPv6 is in brackets. Pure.
import { must } from './assert.ts';
import { CodedError } from './coded-error.ts';
import { typedCharactersMax } from './limits-commands.ts';
import { shortened } from './shortened.ts';

/** The port that a server listens on by default. */
export const defaultPort = 6200;
export const portMax = 65_535;

export type Address = {
  /** IPv4, IPv6 without brackets, or a host name. */
  readonly ip: string;
  readonly port: number;
};

/** RFC 4007: after the % comes the network interface of a link-local address. */
const ipv6 = /^[0-9a-f]*(?::[0-9a-f.]*){2,8}(?:%[\w.~-]{1,64})?$/i;
const ipv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
/** Without zeros in front, which mean octal numbers in URLs. */
const plainIpv4 = /^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/;
const hostAndPort =
  /^(?:\[(?<inside>[^\]]*)\]|(?<name>[^\s\p{C}:[\]/@?#%]+))(?::(?<port>\d{1,5}))?$/u;

/**
 * Accepts `localhost`, `10.0.0.1:6201`, `::1` and `[::1]:6201`; null for anything else. Two colons
 * without brackets mean IPv6 without a port.
 */
export function parseAddress(written: string): Address | null {
  const whole = ipv6.test(written) ? `[${written}]` : written;
  const { inside, name, port = String(defaultPort) } = hostAndPort.exec(whole)?.groups ?? {};
  const number = Number(port);
  if (number < 1 || number > portMax) return null;
  if (inside !== undefined) return ipv6.test(inside) ? { ip: inside, port: number } : null;
  return name !== undefined && isHostName(name) ? { ip: name, port: number } : null;
}

/** A name of digits and dots is meant as IPv4 and must be one, or `10.0.0.256` would be a name. */
function isHostName(name: string): boolean {
  if (!/^[\d.]+$/.test(name)) return true;
  return ipv4.test(name) && name.split('.').every((part) => Number(part) <= 255);
}

/** An IPv4 address as URLs write it within IPv6 (RFC 4291, 2.5.5.2), in two hexadecimal groups. */
const mappedIpv4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * Returns one spelling for all spellings of an address: in lower case, IPv6 in its short form, IPv4
 * not within IPv6, names in punycode and without a final dot. For comparisons alone: rings keep
 * what was typed.
 */
export function comparableAddress({ ip, port }: Address): string {
  return `${comparableHost(ip)}:${port}`;
}

function comparableHost(ip: string): string {
  if (plainIpv4.test(ip)) return ip;
  const url = `http://${ip.includes(':') ? `[${ip}]` : ip.replace(/\.$/, '')}`;
  // No URL has the zone of a link-local address.
  if (!URL.canParse(url)) return ip.toLowerCase();
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const groups = mappedIpv4
    .exec(host)
    ?.slice(1)
    .map((group) => Number.parseInt(group, 16));
  return groups?.flatMap((group) => [group >> 8, group & 0xff]).join('.') ?? host;
}

/** Whether only programs of this machine reach the host; IPv4 may be written as in IPv6. */
export function isLoopback(ip: string): boolean {
  const plain = comparableHost(ip);
  return plain === 'localhost' || plain === '::1' || (ipv4.test(plain) && plain.startsWith('127.'));
}

/** For an address that is known to be valid. */
export function splitAddress(address: string): Address {
  return must(parseAddress(address), `${address} is an address`);
}

/** `10.0.0.1:6200`, `[::1]:6200`. */
export function formatAddress({ ip, port }: Address): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/**
 * Whether the text is as formatAddress writes it, with a port: the form in which servers name each
 * other.
 */
export function isWholeAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== null && formatAddress(address) === text;
}

/** Completes what people wrote: adds a missing port, and brackets around IPv6. Throws USAGE. */
export function serverAddress(written: string): string {
  const address = parseAddress(written);
  if (address !== null) return formatAddress(address);
  const typed = shortened(written, typedCharactersMax);
  throw new CodedError('USAGE', `${JSON.stringify(typed)} is not a server address`, {
    hint: `write HOST, HOST:PORT or [IPV6]:PORT; the default port is ${defaultPort}`,
    details: { address: typed },
  });
}
