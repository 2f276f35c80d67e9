// Verifies a received partition file in a worker thread, so that reading it all delays nobody.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { auditPartitionFile } from './audit-partition-file.ts';
import type { CopyManifest } from './copy-manifest.ts';
import { openUntrusted } from './open-sqlite.ts';

interface VerifyJob {
  readonly verifyCopy: { readonly file: string; readonly manifest: CopyManifest };
}

/**
 * Resolves when the file is whole, of our schema, every row matches its hash, and all figures are
 * those of the manifest. Rejects with COPY_INVALID that lists what differed.
 */
export async function verifyCopy(file: string, manifest: CopyManifest): Promise<void> {
  const job: VerifyJob = { verifyCopy: { file, manifest } };
  const findings = await new Promise<readonly Finding[]>((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: job, execArgv: [] });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the verifying thread ended with ${code}`)));
  });
  const [first] = findings;
  if (first === undefined) return;
  throw new CodedError(
    'COPY_INVALID',
    `copy of ${manifest.keyspace}/${manifest.partition}: ${first.message}`,
    {
      hint: 'the copy was thrown away and nothing changed here: ask again, or another source',
      details: { findings },
    },
  );
}

function findingsOf({ file, manifest }: VerifyJob['verifyCopy']): Finding[] {
  const db = openUntrusted(file);
  try {
    const { findings, meta } = auditPartitionFile(db);
    if (meta === null || findings.length > 0) return [...findings];
    const expected = { ...manifest, incarnation: manifest.sourceIncarnation };
    const names = [
      'keyspace',
      'partition',
      'incarnation',
      'seq',
      'rows',
      'tombstones',
      'digest',
    ] as const;
    return names
      .filter((name) => meta[name] !== expected[name])
      .map((name) => ({
        code: 'MANIFEST_DIFFERS',
        message: `${name} is ${meta[name]} in the file and ${expected[name]} in the manifest`,
      }));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ code: 'FILE_CORRUPT', message }];
  } finally {
    db.close();
  }
}

function isJob(data: unknown): data is VerifyJob {
  return typeof data === 'object' && data !== null && 'verifyCopy' in data;
}

if (!isMainThread && isJob(workerData)) parentPort?.postMessage(findingsOf(workerData.verifyCopy));
