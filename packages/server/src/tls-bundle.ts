// A bundle: key and certificates of a server in one PEM file, so that one rename replaces both.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { CodedError } from '@ringwright/base/coded-error';
import { tlsBundleBytesMax } from '@ringwright/base/limits-rings';
import { messageOf } from '@ringwright/base/thrown';
import type { TlsIdentity } from '@ringwright/node/link/prove-server';
import { readPrivateFile } from '@ringwright/node/read-regular-file';

export interface TlsBundle {
  readonly identity: TlsIdentity;
  /** Host names and IP addresses by which clients may call the server. */
  readonly names: string;
  readonly startsMs: number;
  readonly endsMs: number;
}

const keyPattern = /-----BEGIN ([A-Z ]*)PRIVATE KEY-----[^-]+-----END \1PRIVATE KEY-----/g;
export const certificatePattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Throws FILE_UNFIT, TLS_BUNDLE_INVALID. */
export async function readTlsBundle(file: string): Promise<TlsBundle> {
  const bytes = await readPrivateFile(file, tlsBundleBytesMax).catch((cause: unknown) => {
    if (cause instanceof CodedError) throw cause;
    throw invalid(file, messageOf(cause));
  });
  const text = bytes.toString('utf8');
  const keys = text.match(keyPattern) ?? [];
  const certificates = text.match(certificatePattern) ?? [];
  const [key] = keys;
  const [first] = certificates;
  if (key === undefined || keys.length > 1) throw invalid(file, `it has ${keys.length} keys`);
  if (first === undefined) throw invalid(file, 'it has no certificate');
  const certificate = parsed(file, () => new X509Certificate(first));
  const fits = parsed(file, () => certificate.checkPrivateKey(createPrivateKey(key)));
  if (!fits) throw invalid(file, 'its first certificate belongs to another key');
  const { validFromDate, validToDate, subjectAltName: names = '' } = certificate;
  const [startsMs, endsMs] = [validFromDate.getTime(), validToDate.getTime()];
  return { identity: { key, cert: certificates.join('\n') }, names, startsMs, endsMs };
}

/** The error for showing a bundle outside the time of its certificate; null within it. */
export function bundleTimeError(
  file: string,
  { startsMs, endsMs }: TlsBundle,
  nowMs: number,
): CodedError | null {
  if (startsMs <= nowMs && nowMs < endsMs) return null;
  const isEarly = nowMs < startsMs;
  const time = new Date(isEarly ? startsMs : endsMs).toISOString();
  const when = `${isEarly ? 'is not valid before' : 'expired on'} ${time}`;
  const rotate = 'ring-builder certs rotate NAME creates the next one: replace this bundle with it';
  return new CodedError('TLS_BUNDLE_INVALID', `the certificate of ${file} ${when}`, {
    hint: isEarly
      ? `correct the clock of this machine, or of the one that issued it; ${rotate}`
      : rotate,
    details: { file },
  });
}

function parsed<Result>(file: string, parse: () => Result): Result {
  try {
    return parse();
  } catch (cause) {
    throw invalid(file, messageOf(cause));
  }
}

function invalid(file: string, why: string): CodedError {
  return new CodedError('TLS_BUNDLE_INVALID', `the bundle ${file} cannot be used: ${why}`, {
    hint: 'a bundle is one PEM file: a private key, its certificate, then those of its issuers',
    details: { file },
  });
}
