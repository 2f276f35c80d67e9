// A TLS connection on which the server proves its identity before any request is sent.
import type { X509Certificate } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';
import { CodedError } from '@ringwright/base/coded-error';
import { splitAddress } from '@ringwright/base/server-address';
import { sha256 } from '@ringwright/base/sha256';
import { shortened } from '@ringwright/base/shortened';
import { messageOf } from '@ringwright/base/thrown';
import { lookUp } from './look-up.ts';

/**
 * What a server must prove. `device`: one of these keys, with its self-made certificate. `key`: one
 * of these keys, with any certificate. `authority`: a certificate for its address, issued by one of
 * these authorities (PEM). Keys are ids: SHA-256 (hex) of SPKI bytes.
 */
export type ServerProof =
  | { readonly by: 'device' | 'key'; readonly keys: ReadonlySet<string> }
  | { readonly by: 'authority'; readonly ca: string };

/** A private key and its certificates, PEM: whoever shows them proves to be their owner. */
export interface TlsIdentity {
  readonly key: string;
  readonly cert: string;
}

export interface ProvenServer {
  readonly socket: TLSSocket;
  /** The key that the server proved. */
  readonly key: string;
}

/**
 * The TLS server name that selects a device's certificate, on a port that has one for clients too.
 */
export const deviceServerName = 'device.ringwright.invalid';

interface Attempt {
  readonly proof: ServerProof;
  /** Identity shown to the server; null: none. */
  readonly identity: TlsIdentity | null;
  readonly timeoutMs: number;
}

/** Throws PEER_UNREACHABLE, and PEER_UNPROVEN when the server proves another identity. */
export async function proveServer(address: string, attempt: Attempt): Promise<ProvenServer> {
  const socket = await handshake(address, attempt);
  const { proof } = attempt;
  const certificate = socket.getPeerX509Certificate();
  const key = certificate === undefined ? '' : keyIdOf(certificate);
  const isProven = proof.by === 'authority' ? socket.authorized : proof.keys.has(key);
  if (isProven) return { socket, key };
  socket.destroy();
  if (proof.by !== 'authority') throw unproven(address, proof.keys, key);
  // Node's types say Error; it is a code.
  throw notVouchedFor(address, certificate, String(socket.authorizationError));
}

/**
 * Returns the public key of the device at an address, as SPKI bytes in base64. The caller has
 * nothing to compare it with yet. Throws PEER_UNREACHABLE.
 */
export async function askDeviceKey(address: string, timeoutMs: number): Promise<string> {
  const proof: ServerProof = { by: 'device', keys: new Set() };
  const socket = await handshake(address, { proof, identity: null, timeoutMs });
  // A server that refuses this caller says so after the handshake, when its key is known.
  socket.on('error', () => undefined);
  const certificate = socket.getPeerX509Certificate();
  // The end of the handshake must leave first: the server would wait for it.
  socket.end(() => socket.destroy());
  if (certificate === undefined) throw unproven(address, proof.keys, 'none');
  return spkiOf(certificate).toString('base64');
}

/** Parses a key id as people type it, with or without colons. Throws USAGE. */
export function keyFingerprint(text: string): string {
  const plain = text.replaceAll(':', '').toLowerCase();
  if (/^[0-9a-f]{64}$/.test(plain)) return plain;
  const message = `fingerprint ${shortened(text)}: wanted the SHA-256 of a public key, in hex`;
  throw new CodedError('USAGE', message);
}

export function keyIdOf(certificate: X509Certificate): string {
  return sha256(spkiOf(certificate));
}

function spkiOf({ publicKey }: X509Certificate): Buffer {
  return publicKey.export({ format: 'der', type: 'spki' });
}

/** Resolves when the connection is encrypted; the caller checks the proof. */
function handshake(address: string, { proof, identity, timeoutMs }: Attempt): Promise<TLSSocket> {
  const { ip: host, port } = splitAddress(address);
  return new Promise((resolve, reject) => {
    const socket = connect({
      // Otherwise Node would end the connection without telling what certificate it saw.
      ...{ host, port, lookup: lookUp, minVersion: 'TLSv1.3', rejectUnauthorized: false },
      ...(proof.by === 'authority' && { ca: proof.ca }),
      ...(proof.by === 'device' && { servername: deviceServerName }),
      ...identity,
    });
    const timer = setTimeout(() => {
      socket.destroy(new Error(`no TLS within ${timeoutMs} ms`));
    }, timeoutMs);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', (cause) => {
      clearTimeout(timer);
      reject(refusalOf(address, cause));
    });
  });
}

const PLAIN_CODES = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|INVALID_SESSION_ID/;

function refusalOf(address: string, cause: Error & { readonly code?: string }): CodedError {
  const { code = '' } = cause;
  const why = PLAIN_CODES.test(code) ? 'it does not speak TLS' : messageOf(cause);
  const text = `${address} cannot be reached: ${why}`;
  return new CodedError('PEER_UNREACHABLE', text, { details: { address }, cause });
}

/** By Node's code; all other codes concern the authority. */
const whyNot: ReadonlyMap<string, string> = new Map([
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'it is for other addresses'],
  ['CERT_HAS_EXPIRED', 'it has expired'],
  ['CERT_NOT_YET_VALID', 'it is not valid yet'],
]);

function notVouchedFor(
  address: string,
  certificate: X509Certificate | undefined,
  reason: string,
): CodedError {
  const why = whyNot.get(reason) ?? 'it was not issued by a trusted authority';
  const got = certificate === undefined ? 'none' : certificateText(certificate);
  const message = `${address} does not have the expected certificate: ${why}; got ${got}`;
  return new CodedError('PEER_UNPROVEN', message, {
    hint: 'is it the right authority, and is the address among the names of the certificate?',
    details: { address, reason },
  });
}

/** What a person compares: subject, issuer, expiry, and the key. */
function certificateText(certificate: X509Certificate): string {
  const { subjectAltName = 'nothing', issuer, validTo } = certificate;
  const by = issuer.replaceAll('\n', ', ') || 'an unnamed issuer';
  const words = `one for ${shortened(subjectAltName)} by ${shortened(by)}, until ${validTo}`;
  return `${words}, with the key ${keyIdOf(certificate)}`;
}

function unproven(address: string, wanted: ReadonlySet<string>, got: string): CodedError {
  const expected = [...wanted].join(' or ');
  const message = `${address} proves the key ${got}, expected ${expected}`;
  return new CodedError('PEER_UNPROVEN', message, {
    hint: 'another server answers there, or its key was changed: ring-builder set-device RING dN --ask-key records the new one',
    details: { address, expected: [...wanted], got },
  });
}
