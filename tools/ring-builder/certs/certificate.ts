// Makes X.509 certificates of authorities, servers and clients. All keys are Ed25519.
// x509 needs this import to come before it.
import 'reflect-metadata';
import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  webcrypto,
  X509Certificate,
} from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { authorityLifeDays, certificateEarlyMs } from '@ringwright/base/limits-commands';
import type { TlsIdentity } from '@ringwright/node/link/prove-server';

/** An authority: its certificate (PEM) and its private key. */
export interface Authority {
  readonly cert: string;
  readonly key: KeyObject;
}

/** The subject alternative names; `url`, of a client, says what it may do (grantUri). */
export type Names = readonly { readonly type: 'dns' | 'ip' | 'url'; readonly value: string }[];

const algorithm = { name: 'Ed25519' };
const dayMs = 86_400_000;

/** Returns the self-signed certificate of an authority (PEM). */
export async function makeAuthority(
  key: KeyObject,
  { name, nowMs }: { readonly name: string; readonly nowMs: number },
): Promise<string> {
  const keys = {
    privateKey: await privateOf(key),
    publicKey: await publicOf(createPublicKey(key)),
  };
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: `CN=${name}`,
      keys,
      signingAlgorithm: algorithm,
      notBefore: new Date(nowMs - certificateEarlyMs),
      notAfter: new Date(nowMs + authorityLifeDays * dayMs),
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    },
    webcrypto,
  );
  return `${certificate.toString('pem')}\n`;
}

interface Wanted {
  readonly name: string;
  readonly names: Names;
  readonly days: number;
  readonly nowMs: number;
}

/** Issues a certificate with a new key. It expires no later than the authority's. */
export async function issueCertificate(
  authority: Authority,
  { name, names, days, nowMs }: Wanted,
): Promise<TlsIdentity> {
  const issuer = new x509.X509Certificate(authority.cert);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const endsMs = Math.min(nowMs + days * dayMs, issuer.notAfter.getTime());
  const certificate = await x509.X509CertificateGenerator.create(
    {
      subject: `CN=${name}`,
      issuer: issuer.subject,
      publicKey: await publicOf(publicKey),
      signingKey: await privateOf(authority.key),
      signingAlgorithm: algorithm,
      notBefore: new Date(nowMs - certificateEarlyMs),
      notAfter: new Date(endsMs),
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([usageOf(names)]),
        new x509.SubjectAlternativeNameExtension([...names]),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ],
    },
    webcrypto,
  );
  return {
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    cert: `${certificate.toString('pem')}\n`,
  };
}

function usageOf(names: Names): x509.ExtendedKeyUsage {
  const isClient = names.some(({ type }) => type === 'url');
  return isClient ? x509.ExtendedKeyUsage.clientAuth : x509.ExtendedKeyUsage.serverAuth;
}

/** Returns the names of a certificate, to issue another one for them. */
export function namesOf(cert: string): Names {
  const certificate = new x509.X509Certificate(cert);
  const found = certificate.getExtension(x509.SubjectAlternativeNameExtension);
  return (found?.names.items ?? []).flatMap(({ type, value }) =>
    type === 'dns' || type === 'ip' || type === 'url' ? [{ type, value }] : [],
  );
}

/** Returns the certificate's public key: SPKI bytes in base64, as in files of signing keys. */
export function spkiOfCertificate(cert: string): string {
  const { publicKey } = new X509Certificate(cert);
  return publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
}

function privateOf(key: KeyObject): Promise<webcrypto.CryptoKey> {
  const der = key.export({ format: 'der', type: 'pkcs8' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
}

function publicOf(key: KeyObject): Promise<webcrypto.CryptoKey> {
  const der = key.export({ format: 'der', type: 'spki' });
  return webcrypto.subtle.importKey('spki', der, algorithm, true, ['verify']);
}
