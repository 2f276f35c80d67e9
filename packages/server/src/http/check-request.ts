// What is refused before it is looked at: malformed requests, and those that a web page of somebody
// else makes its reader's browser send.
import type { IncomingMessage } from 'node:http';
import { CodedError } from '@ringwright/base/coded-error';
import { shortened } from '@ringwright/base/shortened';

/** Of a name that is refused, shown. */
const SHOWN_CHARACTERS = 253;

const knownVersions: ReadonlySet<string> = new Set(['1.0', '1.1']);

/**
 * USAGE for another version of HTTP, such as 0.9, and for more than one Host header: where it ends,
 * and for whom it is, others on the way may see differently. Null for a request of the right form.
 */
export function malformationOf({ httpVersion, rawHeaders }: IncomingMessage): CodedError | null {
  if (!knownVersions.has(httpVersion)) {
    const message = `a request in HTTP ${httpVersion}`;
    return new CodedError('USAGE', message, { hint: 'ask in HTTP/1.1 or HTTP/1.0' });
  }
  // Of several Node shows the first alone.
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts < 2) return null;
  return new CodedError('USAGE', `a request with ${hosts} Host headers`, { hint: 'send one' });
}

/** A name that a page may have given to this server. Throws HOST_UNKNOWN. */
export function checkHost(
  { headers: { host } }: IncomingMessage,
  allowsHost: (header: string) => boolean,
): void {
  // Only HTTP/1.0 goes without, and no browser speaks it.
  if (host === undefined || allowsHost(host)) return;
  const name = shortened(host.replace(/:\d+$/, ''), SHOWN_CHARACTERS);
  const hint = `ask by its IP address, or start the server with --allow-host ${name}`;
  const message = `this server is not known by the name '${name}'`;
  throw new CodedError('HOST_UNKNOWN', message, { hint, details: { host: name } });
}

/**
 * Throws ORIGIN_FOREIGN for what a page of another origin makes its browser send. A person may
 * follow a link here: what comes of that is shown to nobody else. Programs send none of these
 * headers.
 */
export function checkOrigin({ method, headers }: IncomingMessage): void {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && !isOwn(origin, headers.host)) throw foreign(`origin '${origin}'`);
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  const isLink =
    headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  if (method !== 'GET' || !isLink) throw foreign(`${site} page`);
}

/** By host and port alone: before a proxy that speaks TLS the scheme is another. */
function isOwn(origin: string, host: string | undefined): boolean {
  const [, theirs] = /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase()) ?? [];
  return theirs !== undefined && theirs === host?.toLowerCase();
}

function foreign(by: string): CodedError {
  const message = `a request of a web page: ${shortened(by, SHOWN_CHARACTERS)}`;
  const hint =
    'pages of other origins get nothing here; ask from a program, or through your own server';
  return new CodedError('ORIGIN_FOREIGN', message, { hint });
}

/** Throws CONTENT_TYPE_UNKNOWN: a page may send anything else without asking first (CORS). */
export function checkJson({ headers: { 'content-type': type } }: IncomingMessage): void {
  if (type !== undefined && /^application\/json\s*(;|$)/i.test(type)) return;
  const given =
    type === undefined ? 'no content type' : `content type '${shortened(type, SHOWN_CHARACTERS)}'`;
  const hint = "say what it is: curl -H 'content-type: application/json' …";
  throw new CodedError('CONTENT_TYPE_UNKNOWN', `a JSON body with ${given}`, { hint });
}
