// Client certificates: a certificate signed by an accepted authority grants the roles it lists, as
// a token would.
import { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { grantOfUri } from '@ringwright/access/grant';
import { CodedError } from '@ringwright/base/coded-error';
import { tlsBundleBytesMax } from '@ringwright/base/limits-rings';
import { messageOf } from '@ringwright/base/thrown';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import type { Logger } from 'pino';
import type { Certified } from './access/credential.ts';
import { followFile } from './repeat.ts';
import { certificatePattern } from './tls-bundle.ts';

const forClients = '1.3.6.1.5.5.7.3.2'; // RFC 5280, 4.2.1.12: id-kp-clientAuth

/** Reads what client certificates grant that one of the configured authorities has signed. */
export class ClientCertificates {
  #authorities: readonly X509Certificate[] = [];
  #certifiedBySocket = new WeakMap<Socket, Certified | null>();
  #stop: () => Promise<void> = () => Promise.resolve();

  /**
   * `file`: authorities in PEM form, read again when replaced. Without a file, no certificate
   * grants anything. Throws USAGE.
   */
  static async open(file: string | undefined, log: Logger): Promise<ClientCertificates> {
    const certificates = new ClientCertificates();
    if (file === undefined) return certificates;
    await certificates.#read(file, log);
    const failureMessage = 'the previous client authorities stay in use';
    const read = (): Promise<void> => certificates.#read(file, log);
    certificates.#stop = followFile(file, { read, failureMessage, log });
    return certificates;
  }

  /**
   * Returns what the client certificate of a connection grants; null if there is none that counts
   * here. The handshake has already proved that the client holds the certificate's key.
   */
  shownOn(socket: Socket): Certified | null {
    const known = this.#certifiedBySocket.get(socket);
    if (known !== undefined) return known;
    const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    const isOurs = certificate !== undefined && isSigned(certificate, this.#authorities);
    const found = isOurs ? certifiedBy(certificate) : null;
    this.#certifiedBySocket.set(socket, found);
    return found;
  }

  close(): Promise<void> {
    return this.#stop();
  }

  /**
   * Forgets all earlier results if the authorities have changed, so a removed authority grants
   * nothing, even on open connections.
   */
  async #read(file: string, log: Logger): Promise<void> {
    const authorities = await readAuthorities(file);
    const names = authorities.map(({ fingerprint256 }) => fingerprint256);
    const before = this.#authorities.map(({ fingerprint256 }) => fingerprint256);
    if (String(names) === String(before)) return;
    this.#authorities = authorities;
    this.#certifiedBySocket = new WeakMap();
    log.info({ file, authorities: names }, 'client authorities in use');
  }
}

async function readAuthorities(file: string): Promise<X509Certificate[]> {
  try {
    const text = String(await readRegularFile(file, tlsBundleBytesMax));
    const found = (text.match(certificatePattern) ?? []).map((pem) => new X509Certificate(pem));
    if (found.length > 0 && found.every(({ ca }) => ca)) return found;
  } catch (cause) {
    const why = messageOf(cause);
    throw new CodedError('USAGE', `--client-ca ${file} cannot be read: ${why}`, { cause });
  }
  throw new CodedError('USAGE', `--client-ca ${file} is not the certificate of an authority`, {
    hint: 'ring-builder certs init makes one: certs/authority.pem',
  });
}

function isSigned(cert: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  if (!(cert.keyUsage ?? []).includes(forClients)) return false;
  return authorities.some((issuer) => cert.checkIssued(issuer) && cert.verify(issuer.publicKey));
}

function certifiedBy(certificate: X509Certificate): Certified {
  const { subject, subjectAltName, validFromDate, validToDate } = certificate;
  const names = (subjectAltName ?? '').split(', ');
  const uris = names.filter((name) => name.startsWith('URI:')).map((name) => name.slice(4));
  const grants = uris.map(grantOfUri).filter((grant) => grant !== null);
  const [startsMs, endsMs] = [validFromDate.getTime(), validToDate.getTime()];
  return { name: subject.replace(/^CN=/, ''), grants, startsMs, endsMs };
}
