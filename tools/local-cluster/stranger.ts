// Sends unauthorized requests, and returns how they are refused.
import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';

const HOST = '127.0.0.1';
const ANSWER_MS_MAX = 10_000;

interface Attempt {
  readonly port: number;
  readonly path: string;
  /** Certificates of the authority, PEM; null: plain text. */
  readonly ca: string | null;
  readonly token?: string;
}

/** Returns the code of the refusal; `closed` without any answer; the status of any other answer. */
export function refusalOf({ port, path, ca, token }: Attempt): Promise<string> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { host: HOST, port, path, headers, agent: false, timeout: ANSWER_MS_MAX };
  return new Promise((resolve) => {
    const onResponse = (response: http.IncomingMessage): void => {
      const refusalCode = text(response).then((body) => /"code":"([A-Z_]+)"/.exec(body)?.[1]);
      refusalCode.then(
        (code) => resolve(code ?? String(response.statusCode)),
        () => resolve('closed'),
      );
    };
    const request =
      ca === null ? http.get(options, onResponse) : https.get({ ...options, ca }, onResponse);
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve('closed'));
  });
}

/** Returns the fingerprint of the certificate that a server shows now. */
export function shownFingerprint(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    // The certificate is only read, not verified: nothing is sent on this connection.
    const socket = tls.connect({ host: HOST, port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy(new Error(`no TLS from port ${port}`)));
    socket.once('error', reject);
  });
}
