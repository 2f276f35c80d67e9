// The names in a Host header that a server answers to. A web page can point a name of its own at
// this server (DNS rebinding); its browser then takes the answers for the page's own. Pure.
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** `localhost` and what is below it is this machine to every browser (RFC 6761). */
const LOCAL = ['localhost', '.localhost'];

const hostHeader = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/;
const ascii = /^\p{ASCII}*$/u;

/**
 * Whether a Host header names an address, this machine, or one of `names`. A name that begins with
 * a dot stands for the domain and for all that is below it.
 */
export function allowedHosts(names: readonly string[]): (header: string) => boolean {
  const all = [...LOCAL, ...names].map(plainName).filter((name) => name !== '');
  const exact = new Set(all.map((name) => name.replace(/^\./, '')));
  const domains = all.filter((name) => name.startsWith('.'));
  return (header) => {
    // Node gives a letter for each byte; names that are not ASCII are sent as UTF-8.
    const sent = ascii.test(header) ? header : Buffer.from(header, 'latin1').toString();
    const host = plainName(hostHeader.exec(sent)?.[1] ?? '');
    if (exact.has(host) || isIP(host.replace(/^\[|\]$/g, '')) !== 0) return true;
    return domains.some((domain) => host.endsWith(domain));
  };
}

/**
 * As browsers send it: in lower case, letters beyond ASCII in punycode (RFC 3492); empty for what
 * is no name then. A dot behind a name only says that it is whole.
 */
function plainName(name: string): string {
  const sent = ascii.test(name) ? name : domainToASCII(name);
  return sent.toLowerCase().replace(/\.$/, '');
}
