// Refuses requests before their content is looked at: malformed ones, and those that a foreign web
// page makes its reader's browser send.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { CodedError } from '@ringwright/base/coded-error';
import { shortened } from '@ringwright/base/shortened';

/** Maximum length of a refused name in a message. */
const SHOWN_CHARACTERS = 253;

/** `localhost` and its subdomains are this machine to every browser (RFC 6761). */
const LOCAL = ['localhost', '.localhost'];

const hostHeader = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/;
const ascii = /^\p{ASCII}*$/u;
const knownVersions: ReadonlySet<string> = new Set(['1.0', '1.1']);

/**
 * Returns USAGE for another version of HTTP, such as 0.9, for more than one Host header, and for
 * none in HTTP/1.1: proxies on the way may see differently where the request ends or for whom it
 * is. Also for a transfer coding other than chunked: Node would give the coded bytes as the body.
 * And for a PUT or POST of HTTP/1.0 without its length, which RFC 1945 (8.3) requires: Node would
 * give an empty body. Null for a well-formed request.
 */
export function malformationOf(request: IncomingMessage): CodedError | null {
  const { httpVersion, method, rawHeaders, headers } = request;
  if (!knownVersions.has(httpVersion)) {
    const message = `HTTP ${httpVersion} is not supported`;
    return new CodedError('USAGE', message, { hint: 'use HTTP/1.1 or HTTP/1.0' });
  }
  const coding = headers['transfer-encoding'] ?? 'chunked';
  if (coding.toLowerCase() !== 'chunked') {
    const message = `transfer coding '${shortened(coding, SHOWN_CHARACTERS)}' is not supported`;
    return new CodedError('USAGE', message, { hint: 'use chunked, or send a content-length' });
  }
  const hasBody = method === 'PUT' || method === 'POST';
  if (httpVersion === '1.0' && hasBody && headers['content-length'] === undefined) {
    const hint = 'send a content-length, 0 for an empty value, or use HTTP/1.1';
    return new CodedError('USAGE', `a ${method} of HTTP/1.0 has no content-length`, { hint });
  }
  // Of several Host headers, Node shows only the first.
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return null;
  return new CodedError('USAGE', `the request has ${hosts} Host headers`, { hint: 'send one' });
}

/**
 * Returns a check of Host headers: whether one names an IP address, this machine, or one of
 * `names`. A web page can point a name of its own at this server (DNS rebinding), and the browser
 * then treats the answers as the page's own. A name that begins with a dot stands for the domain
 * and all its subdomains.
 */
export function allowedHosts(names: readonly string[]): (header: string) => boolean {
  const all = [...LOCAL, ...names].map(plainName).filter((name) => name !== '');
  const exact = new Set(all.map((name) => name.replace(/^\./, '')));
  const domains = all.filter((name) => name.startsWith('.'));
  return (header) => {
    // Node makes one character of each byte; names that are not ASCII are sent as UTF-8.
    const decoded = ascii.test(header) ? header : Buffer.from(header, 'latin1').toString();
    const host = plainName(hostHeader.exec(decoded)?.[1] ?? '');
    if (exact.has(host) || isIP(host.replace(/^\[|\]$/g, '')) !== 0) return true;
    return domains.some((domain) => host.endsWith(domain));
  };
}

/**
 * Returns a name as browsers send it: in lower case, letters beyond ASCII in punycode (RFC 3492);
 * empty if it is not a valid name. Removes a final dot, which only marks a name as complete.
 */
function plainName(name: string): string {
  const asciiName = ascii.test(name) ? name : domainToASCII(name);
  return asciiName.toLowerCase().replace(/\.$/, '');
}

/** Throws HOST_UNKNOWN for a name that a web page may have given to this server. */
export function checkHost(host: string | undefined, allowsHost: (header: string) => boolean): void {
  // Only HTTP/1.0 requests have no Host header, and no browser speaks HTTP/1.0.
  if (host === undefined || allowsHost(host)) return;
  const name = shortened(host.replace(/:\d+$/, ''), SHOWN_CHARACTERS);
  const hint = `use its IP address, or start the server with --allow-host ${name}`;
  const message = `this server is not known by the name '${name}'`;
  throw new CodedError('HOST_UNKNOWN', message, { hint, details: { host: name } });
}

/**
 * Throws ORIGIN_FOREIGN for a request that a page of another origin makes its browser send. A
 * person may follow a link to here, since the page does not see the answer. Programs send none of
 * these headers.
 */
export function checkOrigin({ method, headers }: IncomingMessage): void {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && !isOwn(origin, headers.host)) throw foreign(`origin '${origin}'`);
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  const isLink =
    headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  if (method !== 'GET' || !isLink) throw foreign(`${site} page`);
}

/** Compares host and port only: behind a proxy that terminates TLS the scheme differs. */
function isOwn(origin: string, host: string | undefined): boolean {
  const [, originHost] = /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase()) ?? [];
  return originHost !== undefined && originHost === host?.toLowerCase();
}

function foreign(by: string): CodedError {
  const message = `a request from a web page: ${shortened(by, SHOWN_CHARACTERS)}`;
  const hint = 'pages of other origins are refused; use a program, or go through your own server';
  return new CodedError('ORIGIN_FOREIGN', message, { hint });
}

/**
 * Throws CONTENT_TYPE_UNKNOWN unless the body is declared as JSON. Other content types a web page
 * may send without asking first (CORS).
 */
export function checkJson({ headers: { 'content-type': type } }: IncomingMessage): void {
  if (type !== undefined && /^application\/json\s*(;|$)/i.test(type)) return;
  const contentType =
    type === undefined ? 'no content type' : `content type '${shortened(type, SHOWN_CHARACTERS)}'`;
  const hint = "declare it: curl -H 'content-type: application/json' …";
  throw new CodedError('CONTENT_TYPE_UNKNOWN', `the JSON body has ${contentType}`, { hint });
}
