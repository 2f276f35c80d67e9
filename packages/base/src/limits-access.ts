// Limits of access documents, tokens and audit logs; see limits.ts.
import { assert } from './assert.ts';
import { KIB, ringSignatureCountMax, transferChunkBytesMax } from './limits.ts';

/** Programs and people of one cluster; a token with two grants takes some 300 bytes. */
export const accessTokensMax = 512;
/** One program reads and writes some prefixes of some keyspaces. */
export const tokenGrantsMax = 16;
/** Bytes of a prefix: half of the longest key. */
export const grantPrefixBytesMax = 512;
/** Description of the last change, as the tool words it. */
export const accessChangeCharactersMax = 512;
/** The signed bytes: each server holds two copies, and one message carries them. */
export const accessPayloadBytesMax = 160 * KIB;
/** The document as JSON in JSON, with signatures: escaping doubles every quotation mark. */
export const accessDocumentBytesMax = 240 * KIB;
/** An operator never counts this far. */
export const accessVersionMax = 2 ** 31 - 1;
/** Random bytes of a secret: too many to guess, so a plain hash of them may be stored. */
export const tokenSecretBytes = 32;

assert(accessDocumentBytesMax <= transferChunkBytesMax, 'an access document fits one field');
assert(
  accessPayloadBytesMax * 1.4 + ringSignatureCountMax * 256 <= accessDocumentBytesMax,
  'a payload fits its document',
);

/** One file: some 15,000 lines. */
export const auditFileBytesMax = 4 * KIB * KIB;
/** Files kept, including the current one: months of an ordinary cluster. */
export const auditFilesMax = 8;
/** A line says who did what, and no more. */
export const auditLineBytesMax = 2 * KIB;
/** Lines that wait to be written; lines beyond this are counted and not kept. */
export const auditWaitingMax = 4_096;
/** How long lines are collected before a write: a flood of refusals is one write, not thousands. */
export const auditFlushMs = 200;
/** Lines per answer. */
export const auditAnswerLinesMax = Math.floor(transferChunkBytesMax / auditLineBytesMax);
