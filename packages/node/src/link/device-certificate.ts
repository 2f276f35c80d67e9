// The certificate of a device: its public key, signed with that key. A connecting server compares
// the key with the expected one, so name, authority and expiry mean nothing here. Pure.
import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { TlsIdentity } from './prove-server.ts';

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const GENERALIZED_TIME = 0x18;
const EXPLICIT_0 = 0xa0;

/** 1.3.101.112 (RFC 8410), and 2.5.4.3, the common name. */
const ed25519 = element(SEQUENCE, element(OBJECT_ID, Buffer.of(0x2b, 0x65, 0x70)));
const commonName = element(OBJECT_ID, Buffer.of(0x55, 0x04, 0x03));
const version3 = element(EXPLICIT_0, element(INTEGER, Buffer.of(2)));
const serial = element(INTEGER, Buffer.of(1));
/** RFC 5280 uses 9999 for certificates that do not expire. */
const validity = element(
  SEQUENCE,
  ...['19700101000000Z', '99991231235959Z'].map((time) =>
    element(GENERALIZED_TIME, Buffer.from(time)),
  ),
);

/** The identity that a device shows to others: a certificate that contains only its key. */
export function deviceIdentity(key: KeyObject): TlsIdentity {
  const pem = key.export({ format: 'pem', type: 'pkcs8' }).toString();
  return { key: pem, cert: deviceCertificate(key) };
}

/**
 * X.509 version 3 in PEM, for an ed25519 private key. The same key gives the same bytes: they are
 * generated at every start and stored nowhere.
 */
export function deviceCertificate(key: KeyObject): string {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const name = nameOf('ringwright device');
  const signed = element(SEQUENCE, version3, serial, ed25519, name, validity, name, spki);
  const signature = element(BIT_STRING, Buffer.of(0), sign(null, signed, key));
  const der = element(SEQUENCE, signed, ed25519, signature);
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function nameOf(text: string): Buffer {
  const attribute = element(SEQUENCE, commonName, element(UTF8_STRING, Buffer.from(text)));
  return element(SEQUENCE, element(SET, attribute));
}

/** One DER element of less than 64 KiB: tag, length, content. */
function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content]);
}
