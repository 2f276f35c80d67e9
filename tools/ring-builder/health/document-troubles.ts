// Troubles of the folder's documents: unreadable, or without enough signatures. Pure.
import { counted } from '@ringwright/base/counted';
import { adviceOnCode } from '../servers/advice.ts';
import { signersLine } from '../versions/signing.ts';
import type { JudgedHead } from './judged-head.ts';
import type { Trouble } from './trouble.ts';

export function faultTroubles({ ring: { keyspace }, fault }: JudgedHead): Trouble[] {
  if (fault === null) return [];
  const { file, error } = fault;
  const why = `${file}: ${error.code}: ${error.message}`;
  const [at, where] =
    file === 'trust.json'
      ? [`verify ${keyspace}`, 'what servers are started with (--trust)']
      : ['access list', 'trust/access.json in the data directory of a server'];
  const hint = `unreadable: get ${file} back from git, a copy, or ${where}`;
  return [{ ring: keyspace, address: null, kind: 'unreadable', why, command: at, hint }];
}

/** Puts signing first: while the head lacks signatures, it cannot be pushed to servers. */
export function signedFirst(
  { ring: { keyspace } }: JudgedHead,
  troubles: readonly Trouble[],
  unsigned: Trouble | null,
): readonly Trouble[] {
  if (unsigned === null) return troubles;
  const { command } = unsigned;
  const refused = new Set([`push ${keyspace}`, `rollout ${keyspace}`]);
  const others = troubles.map((one) => (refused.has(one.command) ? { ...one, command } : one));
  return [unsigned, ...others];
}

/** Returns null if the head has the signatures it needs. */
export function unsignedTrouble(head: JudgedHead): Trouble | null {
  const { ring, signatures } = head;
  const { keyspace, version } = ring;
  if (signatures === null || signatures.missing === 0) return null;
  const { signed } = signatures;
  const { command, text } = adviceOnCode(head, signed ? 'BRAKE' : 'SIGNATURES_MISSING');
  const lack = signed ? signersLine(signatures) : 'not signed, as this folder demands';
  return {
    ...{ ring: keyspace, address: null, kind: 'unsigned', command },
    why: `version ${version} is ${lack}`,
    hint: `unsigned: ${signed ? `ring-builder ${command} adds a signature that counts` : text}`,
  };
}

/**
 * Servers keep the document that they have, but one that starts empty would not accept this one.
 */
export function accessTroubles({ ring: { keyspace }, access }: JudgedHead): Trouble[] {
  if (access === null || access.missing === 0) return [];
  const more = counted(access.missing, 'signature');
  const why = `access document ${access.version} lacks ${more} of keys that count`;
  const hint = 'unsigned: ring-builder access sign adds a signature, and sends the document';
  return [{ ring: keyspace, address: null, kind: 'unsigned', why, command: 'access sign', hint }];
}
