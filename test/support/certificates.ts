// Creates, by openssl, an authority and a certificate for both ends of a connection at 127.0.0.1.
// The certificate has no common name, because the gateway of an etcd with users refuses clients
// that have one.
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export const opensslHere = spawnSync('openssl', ['version']).status === 0;
if (!opensslHere) process.stderr.write('openssl is not installed: tests with it are skipped\n');

export async function makeCertificates(folder: string): Promise<Certificates> {
  const at = (name: string): string => join(folder, name);
  const openssl = (args: string): void => {
    const { status, stderr } = spawnSync('openssl', args.split(' '), { cwd: folder });
    if (status !== 0) throw new Error(`openssl ${args}: ${String(stderr)}`);
  };
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  openssl(`req -x509 ${newKey} -days 2 -subj /CN=authority -keyout ca.key -out ca.pem`);
  openssl(`req ${newKey} -subj /O=ring -keyout ring.key -out ring.csr`);
  await writeFile(at('names'), 'subjectAltName=IP:127.0.0.1\n');
  const signing = '-CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names';
  openssl(`x509 -req -in ring.csr ${signing} -out ring.pem`);
  return { ca: at('ca.pem'), cert: at('ring.pem'), key: at('ring.key') };
}
