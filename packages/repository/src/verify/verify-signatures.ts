// Checks signatures: the chain of roots, and every version against the root under which it was
// signed.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import type { Signing } from '@ringwright/ring/file/ring-manifest';
import { signaturesNeeded } from '@ringwright/ring/trust/authenticate-ring';
import { signersOf } from '@ringwright/ring/trust/dsse';
import { printSigned } from '@ringwright/ring/trust/signed-document';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import { ringPayload } from '../encode-version.ts';
import { type RingsAccess, readAccess } from '../folder/access-file.ts';
import type { LogEntry } from '../folder/log-entry.ts';
import type { StoredVersion } from '../folder/read-version.ts';
import { type RingsTrust, readTrust } from '../folder/trust-file.ts';
import { openWaitingRoot, readWaiting } from '../rotate-trust.ts';
import type { VerifiedLog } from './verify-log.ts';

interface VerifiedTrust {
  readonly findings: readonly Finding[];
  readonly trust: RingsTrust | null;
  /**
   * Signatures that access.json lacks before it is sent to servers; null without a file that can
   * be read. An invalid signature counts like an absent one.
   */
  readonly accessMissing: number | null;
}

/** `pin`: id of a root that the chain must contain, obtained from outside this folder. */
export async function verifyTrust(rings: string, pin: string | null): Promise<VerifiedTrust> {
  const findings: Finding[] = [];
  const trust = await readTrust(rings).catch((error: unknown) => {
    findings.push(findingOf(error));
    return null;
  });
  if (pin !== null && !trust?.roots.some(({ id }) => id === pin)) {
    const message = `trust.json does not contain root ${pin}`;
    findings.push({ code: 'TRUST_FORK', message });
  }
  const waiting = await readWaiting(rings);
  if (waiting !== null) findings.push(...waitingFindings(waiting, trust));
  const access = await readAccessIn(rings, trust).catch((error: unknown) => {
    findings.push(findingOf(error));
    return null;
  });
  const accessMissing = access && Math.max(0, access.needed - access.signers.length);
  return { findings, trust, accessMissing };
}

async function readAccessIn(rings: string, trust: RingsTrust | null): Promise<RingsAccess | null> {
  return trust === null ? null : readAccess(rings, trust.trust);
}

function waitingFindings(bytes: Uint8Array, trust: RingsTrust | null): Finding[] {
  try {
    const { document, own, payload } = openWaitingRoot(bytes);
    const isCanonical = Buffer.from(`${printSigned(document)}\n`).equals(bytes);
    const trustedKeys = trust?.trust.keys.root ?? new Map();
    const signers = signersOf(
      payload,
      document.signatures,
      new Map([...trustedKeys, ...own.keys.root]),
    );
    if (isCanonical && signers.size === document.signatures.length) return [];
    const message =
      'trust-next.json was edited: a signature is invalid or its form is not canonical';
    return [{ code: 'TRUST_INVALID', message }];
  } catch (error) {
    return [findingOf(error)];
  }
}

function findingOf(error: unknown): Finding {
  if (error instanceof CodedError) return { code: error.code, message: error.message };
  throw error;
}

/** Returns a check to call for one version after the other, oldest first. */
export function signatureChecks(
  trust: RingsTrust | null,
  log: VerifiedLog,
): (entry: LogEntry, stored: StoredVersion) => Finding[] {
  let signedSince: number | null = null;
  return (entry, stored) => {
    const { signing, signatures } = stored;
    const { version } = entry;
    const report = (code: string, sentence: string): Finding => {
      return { code, message: `version ${version}: ${sentence}`, details: { version } };
    };
    if (signing === null) {
      const findings: Finding[] = [];
      if (signedSince !== null) {
        findings.push(
          report('VERSION_UNSIGNED', `unsigned, although version ${signedSince} is signed`),
        );
      }
      if (signatures.length > 0) {
        findings.push(report('SIGNATURE_INVALID', 'signed, but its manifest names no root'));
      }
      return findings;
    }
    signedSince ??= version;
    const root = trust?.roots.find(({ id }) => id === signing.root);
    if (trust === null || root === undefined) {
      return [
        report('VERSION_ROOT_UNKNOWN', `signed under root ${signing.root}, not in trust.json`),
      ];
    }
    return [
      ...manifestFaults(entry, { signing, root, log }),
      ...signatureFaults(entry, stored, { signing, root, trust, log }),
    ].map(([code, sentence]) => report(code, sentence));
  };
}

type Fault = readonly [code: string, sentence: string];

interface Signed {
  readonly signing: Signing;
  readonly root: Trust;
  readonly log: VerifiedLog;
}

function manifestFaults(entry: LogEntry, { signing, root, log }: Signed): Fault[] {
  const faults: Fault[] = [];
  if (signing.epoch !== root.root.epoch) {
    faults.push([
      'EPOCH_WRONG',
      `of epoch ${signing.epoch}, but its root is of epoch ${root.root.epoch}`,
    ]);
  }
  // A log that a restore began lacks the line before it.
  const previousHash = log.hashes[log.entries.indexOf(entry) - 1] ?? null;
  if (entry.kind !== 'restore' && signing.logHead !== previousHash) {
    const sentence = `names ${signing.logHead} as the previous log line, which is ${previousHash}`;
    faults.push(['LOG_HEAD_WRONG', sentence]);
  }
  const logged = entry.details['override'] ?? null;
  if (entry.kind !== 'restore' && logged !== signing.override) {
    const sentence = `overrides with ${signing.override}, the log has ${JSON.stringify(logged)}`;
    faults.push(['OVERRIDE_UNLOGGED', sentence]);
  }
  return faults;
}

function signatureFaults(
  entry: LogEntry,
  { bytes, ring, signatures }: StoredVersion,
  { signing, root, trust, log }: Signed & { readonly trust: RingsTrust },
): Fault[] {
  const faults: Fault[] = [];
  if (root.root.cluster !== ring.cluster) {
    faults.push(['CLUSTER_WRONG', `of cluster '${ring.cluster}', but its root is of another one`]);
  }
  const later = trust.roots.slice(trust.roots.indexOf(root));
  const keys = new Map(later.flatMap((one) => [...one.keys.ring]));
  const payload = ringPayload(bytes);
  const signers = signersOf(payload, signatures, keys);
  if (signers.size < signatures.length || signatures.length === 0) {
    const sentence = `${signatures.length} signatures, ${signers.size} of them valid`;
    faults.push(['SIGNATURE_INVALID', sentence]);
  }
  const entriesOfVersion = log.entries.filter(({ id }) => id === entry.id);
  for (const { details } of entriesOfVersion) {
    const { signer } = details;
    if (typeof signer !== 'string' || signers.has(signer)) continue;
    faults.push([
      'SIGNATURE_LOST',
      `the signature of key ${signer}, which the log names, is missing`,
    ]);
  }
  const needed = signaturesNeeded(signing, root);
  const pushed = entriesOfVersion.some(({ kind }) => kind === 'push');
  if (pushed && signers.size < needed) {
    const sentence = `pushed with ${signers.size} of ${needed} signatures`;
    faults.push(['PUSHED_UNAPPROVED', sentence]);
  }
  return faults;
}
