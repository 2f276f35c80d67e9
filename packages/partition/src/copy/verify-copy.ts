// Verifies a received partition file against its manifest.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import type { PartitionAudit } from '../audit/audit-partition-file.ts';
import type { FileOwner, OwnedFile } from '../audit/own-file.ts';
import type { SideProcess } from '../side/side-process.ts';
import type { CopyDescription } from './copy-manifest.ts';

/**
 * Resolves when the file is intact, has our schema, every row matches its hash, and all figures
 * match the manifest. The value is the file's new identity if it was to get an owner. Rejects with
 * COPY_INVALID, which lists the differences.
 */
export async function verifyCopy(
  audits: SideProcess,
  { file, owner }: { readonly file: string; readonly owner: FileOwner | null },
  manifest: CopyDescription,
): Promise<OwnedFile | null> {
  const audit = await audits.audit(file, owner);
  const findings = compareManifest(audit, manifest);
  const [first] = findings;
  if (first === undefined) return audit.owned;
  throw new CodedError(
    'COPY_INVALID',
    `copy of ${manifest.keyspace}/${manifest.partition}: ${first.message}`,
    {
      hint: 'the copy was thrown away and nothing changed here: ask again, or another source',
      details: { findings },
    },
  );
}

function compareManifest({ findings, meta }: PartitionAudit, manifest: CopyDescription): Finding[] {
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
}
